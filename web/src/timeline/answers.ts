// What the server answers to the timeline.
import type { Cell, Track } from "../types";

export interface Detail {
  slice: Record<string, Cell> & { id: string; name: string; ts_ps: number | string; dur_ps: number | string };
  args: Record<string, Cell> | Cell;
  parent: { id: string; name: string } | null;
  children: { id: string; name: string; ts_ps: number | string; dur_ps: number | string }[];
  children_total: number;
  children_by_name: { name: string; slices: number; dur_ps: number | string; longest_id: string }[];
  /** What it lies in, the innermost first. */
  around: Around[];
  /** What launched it and what that lies in, the innermost first. */
  launched_by: Around[];
  /** The line of the program that it comes from. */
  line: { file: string; line: number | null; function: string | null } | null;
  flows: { other_id: string; name: string; arrow: string; direction: "to" | "from" }[];
  track: Track | null;
}
export interface Around {
  id: string;
  name: string;
  op_name: string | null;
  op_type: string | null;
}
export interface Ranged {
  rows: {
    name: string;
    op_type: string | null;
    class: string;
    count: number;
    total_ps: number;
    self_ps: number;
  }[];
  names: number;
  slices: number;
  busy_ps: number;
  work_ps: number;
  /** Where the steps of the range go; what is not there yet is still being worked out. */
  parts?: Parts;
  longest?: Longest;
}
export interface Long {
  id: string;
  name: string;
  dur_ps: number;
  /** What is waited for; null for an op. */
  wait: string | null;
}
/** Of a range, the ops and the waits that took longest. */
export interface Longest {
  ops: Long[];
  waits: Long[];
}
/** The calls of a sampled stack, the innermost first, and the time of all samples that begin with them. */
export interface Stack {
  id: string;
  frames: { function: string; file: string | null; line: number | null; code: string }[];
  samples: number;
  time_ps: number | string;
  own_ps: number | string;
}
export interface Parts {
  steps: number;
  step_parts: { label: string; dur_ps: number; hidden_ps: number; steps: number }[];
}
export interface Found {
  total: number;
  slices: {
    id: string;
    track: number | null;
    name: string;
    ts_ps: number | string;
    dur_ps: number | string;
  }[];
}
