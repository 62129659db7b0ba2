import type { JSX } from "preact";
import { duration } from "./format";
import type { Row, Section } from "./types";

const UNIT = "_ps";

/** Where a step goes: one bar a row of the section's means, its parts coloured by their class and named below. */
export function StepBars({ section }: { section: Section }): JSX.Element | null {
  const { chart, table } = section;
  if (!chart || !table) return null;
  const means = table.rows.filter((row) => row[chart.x] === "mean");
  const rows = means.length ? means : table.rows.slice(0, 1);
  return <section aria-label="Where a step goes"><h2>Where a step goes</h2>{rows.map((row) => <Bar row={row} section={section} />)}</section>;
}

function Bar({ row, section }: { row: Row; section: Section }): JSX.Element {
  const titles = new Map(section.table!.columns.map((c) => [c.name, c.title]));
  const parts = section.chart!.y.map((name) => ({ name, ps: Number(row[name] ?? 0) })).filter((p) => p.ps > 0).sort((a, b) => b.ps - a.ps);
  const whole = parts.reduce((sum, p) => sum + p.ps, 0) || 1;
  const classOf = (name: string) => `class-${name.endsWith(UNIT) ? name.slice(0, -UNIT.length) : name}`;
  const place = [row["run_id"], row["host_id"]].filter(Boolean).join(" / ");
  return <figure><figcaption>{place}: {duration(whole)} a step</figcaption>
    <div class="bar" role="img" aria-label={parts.map((p) => `${titles.get(p.name)} ${((100 * p.ps) / whole).toFixed(1)} %`).join(", ")}>
      {parts.map((p) => <i class={classOf(p.name)} style={{ width: `${(100 * p.ps) / whole}%` }} title={`${titles.get(p.name)}: ${duration(p.ps)}`} />)}</div>
    <ul class="legend">{parts.map((p) => <li><i class={`swatch ${classOf(p.name)}`} />{titles.get(p.name)} <b>{((100 * p.ps) / whole).toFixed(1)} %</b> <span class="quiet">{duration(p.ps)}</span></li>)}</ul>
  </figure>;
}
