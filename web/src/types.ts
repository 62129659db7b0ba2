// What the server answers, as far as the page reads it. 64-bit ids arrive as strings: they exceed 2^53.

export type Cell = string | number | boolean | null | Cell[] | { [key: string]: Cell };
export type Row = Record<string, Cell>;
export interface Column {
  name: string;
  unit: string;
  title: string;
  about: string;
  signed?: boolean;
}
export interface Table {
  columns: Column[];
  rows: Row[];
  total: number;
}
export interface Chart {
  kind: string;
  x: string;
  y: string[];
  title: string;
}
export interface Finding {
  slug: string;
  severity: string;
  title: string;
  impact: string;
  action: string;
  reasoning: string;
  formula: string;
  weakened_by: string[];
  evidence: Table | null;
  sql: string | null;
}
interface SourceLine {
  file: string;
  line: number;
}
export interface Node {
  depth: number;
  name: string;
  values: Row;
  line: SourceLine | null;
  mark: string;
  about: string;
  kind: string;
}
/** Things inside of things; `size` names the column that says how wide a node is in a flame graph, or is
 * empty. */
export interface Tree {
  columns: Column[];
  nodes: Node[];
  note: string;
  size: string;
}
export interface Edit {
  at: SourceLine;
  before: string;
  after: string | null;
}
interface Change {
  name: string;
  what: string;
  helps: boolean | null;
  values: Row;
  outcome: string;
  edit: Edit | null;
}
export interface Diff {
  columns: Column[];
  changes: Change[];
}
export interface Section {
  name: string;
  title: string;
  question: string;
  answer: string[];
  table: Table | null;
  chart: Chart | null;
  tree: Tree | null;
  diff: Diff | null;
  sql: string | null;
  kind: string;
  subject: string;
  parts: Section[];
  findings: Finding[];
}
export interface Note {
  slug: string;
  effect: string;
  path: string | null;
  events: number | null;
  detail: string;
  weakens: string[];
}
export interface Report {
  title: string;
  headline: string[];
  findings: Finding[];
  sections: Section[];
  notes: Note[];
  next_commands: string[];
  version?: string;
  facts?: Row;
}
export interface Track {
  track: number;
  source_id?: string;
  run_id: string;
  host_id: string;
  process: string | null;
  name: string | null;
  kind: string;
  device: string | null;
  depths: number;
  slices: number;
  group: string;
}
export interface Step {
  run_id: string;
  host_id: string;
  id: string;
  step: number;
  name: string | null;
  kind: string | null;
  ts_ps: number | string;
  dur_ps: number | string;
  averaged: boolean;
}
export interface Source {
  source_id?: string;
  /** What wrote it. */
  producer?: string;
  run_id: string;
  host_id: string;
  name: string;
  events_lost: number;
  complete: boolean;
  error: string | null;
  first_ps: number | string | null;
  last_ps: number | string | null;
  placed_by: string;
  residual_ps: number | string | null;
}
export interface Catalog {
  title: string;
  version: string;
  tracks: Track[];
  steps: Step[];
  sources: Source[];
  classes: string[];
  /** Pixels of the widest window of a timeline that the server answers. */
  most_px: number;
  start_ps: number | string;
  end_ps: number | string;
}
/** One view of the page; each file of views/ exports one as `view`. */
export interface View {
  name: string;
  title: string;
  order: number;
  key: string;
  /** Whether there is anything to see; a view without this always has. */
  hasAny?: (catalog: Catalog) => boolean;
  /** Whether it is about what runs, and something does; a view with this needs no recording. */
  runs?: () => boolean;
  Component: () => preact.JSX.Element;
}
