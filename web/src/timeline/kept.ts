// What the browser keeps of a timeline: how its rows are arranged, and the marks.
import { keep, recall } from "../theme";
import type { Colouring } from "./colours";
import { type Arrangement, UNARRANGED } from "./lanes";
import type { Window } from "./scale";

export interface Kept {
  arrangement: Arrangement;
  marks: Window[];
  colouring: Colouring;
}

export function keepOf(key: string, stored: Kept): void {
  keep(key, JSON.stringify(stored));
}

/** What was kept under a key; defaults where it is not ours any more. */
export function recallOf(key: string): Kept {
  let stored: Partial<Kept> = {};
  try {
    stored = JSON.parse(recall(key) ?? "{}") as Partial<Kept>;
  } catch {
    // another program wrote there
  }
  const marks = Array.isArray(stored.marks) ? stored.marks : [];
  return {
    arrangement: { ...UNARRANGED, ...stored.arrangement },
    marks: marks.filter((mark) => mark.from < mark.to),
    colouring: stored.colouring ?? "class",
  };
}
