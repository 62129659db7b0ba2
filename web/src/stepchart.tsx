import type { JSX } from "preact";
import { counted, duration } from "./format";
import type { Step } from "./types";

const WIDE = 1000;
const HIGH = 120;

/** Steps one by one: a bar each, or the longest of each column where there are more steps than columns. */
export function columnsOf(steps: Step[], most: number): { longest: Step; count: number }[] {
  const columns = Math.min(steps.length, most);
  return Array.from({ length: columns }, (_, i) => {
    const within = steps.slice(Math.floor((i * steps.length) / columns), Math.floor(((i + 1) * steps.length) / columns));
    return { longest: within.reduce((a, b) => (Number(b.dur_ps) > Number(a.dur_ps) ? b : a)), count: within.length };
  });
}

export function StepChart({ steps }: { steps: Step[] }): JSX.Element {
  const hosts = Map.groupBy(steps, (s) => `${s.run_id} / ${s.host_id}`);
  return <section aria-label="Steps, one by one"><h2>Steps, one by one</h2>{[...hosts].map(([place, own]) => {
    const columns = columnsOf(own, 250);
    const most = Math.max(...columns.map((c) => Number(c.longest.dur_ps)), 1);
    const wide = WIDE / columns.length;
    return <figure><figcaption>{place}: {counted(own.length, "step")}, the longest {duration(most)}</figcaption>
      <svg viewBox={`0 0 ${WIDE} ${HIGH}`} preserveAspectRatio="none" class="steps" role="img" aria-label={`${counted(own.length, "step")} by duration`}>
        {columns.map(({ longest, count }, i) => {
          const high = Math.max(1, (HIGH * Number(longest.dur_ps)) / most);
          return <rect x={i * wide} y={HIGH - high} width={Math.max(wide * 0.85, 0.5)} height={high} class={longest.averaged ? "kept" : "left-out"}>
            <title>{`${longest.kind ?? "step"} ${longest.step}: ${duration(Number(longest.dur_ps))}${longest.averaged ? "" : ", not averaged"}${count > 1 ? ` (longest of ${count})` : ""}`}</title></rect>;
        })}</svg></figure>;
  })}</section>;
}
