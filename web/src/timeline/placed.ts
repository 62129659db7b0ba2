// What says where the recordings lie on the axis, in words. Several of them may not know the time of day.
import { counted, duration } from "../format";
import type { Source } from "../types";

const APART = "Compare times within each, not between them.";

export function placement(sources: Source[]): { text: string; about: string }[] {
  // What holds one moment, as a picture of memory does, has no time to compare.
  const lasting = sources.filter((one) => one.first_ps !== null && one.first_ps !== one.last_ps);
  const those = (by: string) => lasting.filter((one) => one.placed_by === by);
  const aligned = those("collectives"),
    beside = those("begin"),
    after = those("order");
  const facts = [];
  if (aligned.length > 1) {
    const errors = aligned.flatMap(({ residual_ps }) => (residual_ps === null ? [] : [Number(residual_ps)]));
    const known = errors.length === aligned.length;
    const within = known ? ` within ${duration(errors.reduce((a, b) => Math.max(a, b)))}` : "";
    const close = known ? ": nine of ten ends are this close" : "; too few to tell how well";
    facts.push({
      text: `${counted(aligned.length, "recording")} aligned${within}`,
      about: `Their clocks are aligned by collectives, which end on all ranks at the same moment${close}.`,
    });
  }
  if (beside.length > 1) {
    facts.push({
      text: `${counted(beside.length, "rank")} not aligned`,
      about:
        "Their recordings know neither the time of day nor a collective that all end together, so each " +
        `begins where the others do. ${APART}`,
    });
  }
  if (after.length && lasting.length > 1) {
    facts.push({
      text: `${counted(after.length, "recording")} not aligned`,
      about: `They do not know the time of day, so they follow one another. ${APART}`,
    });
  }
  return facts;
}
