// The stages of an input pipeline as the report's JSON tells them, in the order of its tree.

import type { Node, Report, Section } from "./types";

interface Place {
  transformation: string;
  file: string | null;
  line: number | null;
  text: string | null;
}
export interface Stage {
  number: number;
  branch_name: string;
  user_stage: string | null;
  consumer: number | null;
  fed_by: number | null;
  works_ahead: boolean;
  calls: number;
  work_ps: number;
  service_ps: number;
  queue_ps: number;
  in_waits_ps: number;
  width: number;
  threads: number;
  parallelism: number | null;
  runs_python: boolean;
  work_from: string;
  elements_per_batch: number | null;
  buffer_fill: number | null;
  code: Place[];
}
export interface Pipeline {
  path: string;
  verdict: string;
  confidence: string;
  wait_ratio: number | null;
  step_ps: number | null;
  traced_step_ps: number | null;
  wait_ps: number | null;
  bottleneck: Stage | null;
  stages: Stage[];
  cores: number;
}
export type PipelineReport = Report & Pipeline & { others: Pipeline[] };

/** What of the report is about one of its pipelines: with several of them each is a section of its own. */
export function partsOf(report: PipelineReport, number: number): Section[] {
  return report.others.length ? (report.sections[number]?.parts ?? []) : report.sections;
}

export const allOf = (report: PipelineReport): Pipeline[] => [report, ...report.others];

export interface Placed {
  stage: Stage;
  depth: number;
}

/** The stages as data flows back from the program: each with what feeds it below it, as the report's tree
 * has them. */
export function ordered(stages: Stage[]): Placed[] {
  const below = new Map<number, Stage[]>();
  for (const stage of stages) {
    const above = stage.consumer ?? stages.find((one) => one.fed_by === stage.number)?.number ?? -1;
    below.set(above, [...(below.get(above) ?? []), stage]);
  }
  const found: Placed[] = [];
  const seen = new Set<number>();
  const todo: Placed[] = (below.get(-1) ?? []).map((stage) => ({ stage, depth: 0 })).reverse();
  for (let next = todo.pop(); next; next = todo.pop()) {
    if (seen.has(next.stage.number)) continue;
    seen.add(next.stage.number);
    found.push(next);
    const { depth } = next;
    todo.push(
      ...(below.get(next.stage.number) ?? []).map((stage) => ({ stage, depth: depth + 1 })).reverse(),
    );
  }
  return found;
}

/** The names of the report's tree for the stages, in their order; long names where the tree has others. */
export function labelsOf(placed: Placed[], nodes: Node[]): string[] {
  const names = nodes.filter((node) => node.name !== "program" || node.depth > 0).map((node) => node.name);
  return placed.map(({ stage }, i) => (names.length === placed.length ? names[i]! : stage.branch_name));
}
