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

export function keepOf(key: string, kept: Kept): void {
  keep(key, JSON.stringify(kept));
}

/** What was kept under a key; defaults where it is not ours any more. */
export function recallOf(key: string): Kept {
  let kept: Partial<Kept> = {};
  try {
    kept = JSON.parse(recall(key) ?? "{}") as Partial<Kept>;
  } catch {
    // another program wrote there
  }
  const marks = Array.isArray(kept.marks) ? kept.marks : [];
  return {
    arrangement: { ...UNARRANGED, ...kept.arrangement },
    marks: marks.filter((mark) => mark.from < mark.to),
    colouring: kept.colouring ?? "class",
  };
}
