// Steps as columns of a chart, with their parts, names and links.

import type { Row, Section, Step } from "./types";

/** Some steps of one host, one after the other. */
export interface Brushed {
  place: string;
  steps: Step[];
}

export interface StepColumn {
  longest: Step;
  count: number;
  from: number;
  until: number;
}

/** Steps one by one: a bar each, or the longest of each column where there are more steps than columns. */
export function columnsOf(steps: Step[], most: number): StepColumn[] {
  const columns = Math.min(steps.length, most);
  return Array.from({ length: columns }, (_, i) => {
    const from = Math.floor((i * steps.length) / columns);
    const until = Math.floor(((i + 1) * steps.length) / columns);
    const within = steps.slice(from, until);
    return {
      longest: within.reduce((a, b) => (durationOf(b) > durationOf(a) ? b : a)),
      count: within.length,
      from,
      until,
    };
  });
}

export const placeOf = (row: { run_id?: unknown; host_id?: unknown }): string =>
  [row.run_id, row.host_id === "unknown" ? "" : row.host_id].filter(Boolean).join(" / ");
const keyOf = (place: string, step: unknown): string => JSON.stringify([place, String(step)]);

/** The parts of each step, by host and number. A number that occurs twice says nothing of either. */
export function partsByStep(section: Section | undefined): Map<string, Row> {
  const found = new Map<string, Row>();
  const twice = new Set<string>();
  for (const row of section?.table?.rows ?? []) {
    const key = keyOf(placeOf(row), row.what);
    if (found.has(key)) twice.add(key);
    found.set(key, row);
  }
  for (const key of twice) found.delete(key);
  return found;
}

export const partsOf = (parts: Map<string, Row>, step: Step): Row | undefined =>
  parts.get(keyOf(placeOf(step), step.step));

/** The window of some steps, added up, as the timeline takes it: whole picoseconds, without an exponent. */
export function timelineLink(steps: Step[]): string {
  const begin = steps.reduce((least, s) => Math.min(least, Number(s.ts_ps)), Infinity);
  const end = steps.reduce((most, s) => Math.max(most, Number(s.ts_ps) + durationOf(s)), -Infinity);
  return `#timeline?from=${BigInt(Math.floor(begin))}&to=${BigInt(Math.ceil(end))}&sum=1`;
}

/** "step 3", or "steps 3 to 7". */
export const nameOf = (steps: Step[]): string => {
  const [first, last] = [steps[0]!.step, steps[steps.length - 1]!.step];
  return steps.length === 1 ? `step ${first}` : `steps ${first} to ${last}`;
};

export const durationOf = (step: Step): number => Number(step.dur_ps);
