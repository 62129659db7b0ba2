import type { JSX } from "preact";
import { colourOf } from "./colours";
import { counted, duration } from "./format";
import { plain } from "./plain";
import { show } from "./scale";
import { SharesBar } from "./shares";
import { type Brushed, nameOf, partsByStep, partsOf, placeOf } from "./stepcolumns";
import type { Report, Row, Section, Step } from "./types";

const HOSTS = 4; // bars that are seen without a click

interface Whole {
  title: string;
  parts: { name: string; ps: number }[];
}

/** Whether the recording has steps. Averages may leave out all of them, as where each compiles. */
export const hasSteps = (report: Pick<Report, "facts">, steps: Step[]): boolean =>
  report.facts?.steps !== 0 || steps.length > 1;

/** What a bar is made of: the mean of a host's steps, as a row of the section tells it. */
function ofRow(row: Row, section: Section, known: boolean): Whole {
  const parts = section.chart!.y.map((name) => ({ name, ps: Number(row[name] ?? 0) }));
  const steps =
    row.what === "mean" && typeof row.steps === "number" ? `, mean of ${counted(row.steps, "step")}` : "";
  const long = duration(total(parts));
  const sentence = known ? `${long} a step${steps}` : `${long} in all; nothing shows where a step begins`;
  return { title: `${plain(placeOf(row), 120)}: ${sentence}`, parts };
}

/** The mean of some steps; null where the section does not tell the parts of all of them. */
export function ofSteps(brushed: Brushed, section: Section): Whole | null {
  const known = partsByStep(section);
  const rows = brushed.steps.map((step) => partsOf(known, step));
  if (!rows.every((row) => row !== undefined)) return null;
  const parts = section.chart!.y.map((name) => ({
    name,
    ps: rows.reduce((sum, row) => sum + Number(row[name] ?? 0), 0) / rows.length,
  }));
  const mean = rows.length > 1 ? `, mean of ${counted(rows.length, "step")}` : "";
  const which = `${nameOf(brushed.steps)}${mean}`;
  return { title: `${plain(brushed.place, 120)}: ${duration(total(parts))} a step, ${which}`, parts };
}

const total = (parts: { ps: number }[]): number => parts.reduce((sum, p) => sum + p.ps, 0);

/** Where a step goes: one bar a host, or that of the brushed steps, its parts coloured by their class and
 * named below. */
export function StepBars({
  section,
  brushed,
  coming,
  known,
}: {
  section: Section;
  brushed: Brushed | null;
  coming: boolean;
  /** Whether the recording has steps. */
  known: boolean;
}): JSX.Element | null {
  const { chart, table } = section;
  if (!chart || !table) return null;
  const means = table.rows.filter((row) => row[chart.x] === "mean");
  const rows = means.length ? means : table.rows.slice(0, 1);
  const selected = brushed && ofSteps(brushed, section);
  const bars = selected ? [selected] : rows.map((row) => ofRow(row, section, known));
  const bar = (whole: Whole) => <Bar whole={whole} section={section} />;
  return (
    <section class="where-a-step-goes" aria-label="Where a step goes">
      <h2>{known ? "Where a step goes" : "Where the time goes"}</h2>
      {bars.slice(0, HOSTS).map(bar)}
      {brushed && !selected && (
        <p class="quiet">
          This is the mean of all steps
          {coming
            ? "; the parts of the selected ones are being read."
            : ": the parts of the selected ones are not in the report. Open them in the timeline."}
        </p>
      )}
      {bars.length > HOSTS && (
        <details>
          <summary>{counted(bars.length - HOSTS, "more host")}</summary>
          {bars.slice(HOSTS).map(bar)}
        </details>
      )}
    </section>
  );
}

function Bar({ whole: { title, parts }, section }: { whole: Whole; section: Section }): JSX.Element {
  const columns = new Map(section.table!.columns.map((c) => [c.name, c]));
  const sum = total(parts) || 1;
  const shares = parts
    .map((p, number) => ({
      title: plain(columns.get(p.name)?.title ?? p.name, 80),
      about: plain(columns.get(p.name)?.about ?? "", 400),
      look: colourOf(p.name, number),
      part: p.ps / sum,
      share: show(p.ps / sum, "ratio"),
      long: duration(p.ps),
    }))
    .filter((share) => share.part > 0)
    .sort((a, b) => b.part - a.part);
  return <SharesBar title={title} shares={shares} />;
}
