// Charts of a report's tables: bars by name, and curves over steps or time. Bars are one small SVG a row with
// widths in percent, curves are drawn in a stretched box, so that a chart fits any width while its text keeps
// the page's size.

import type { ComponentChildren, JSX } from "preact";
import { ceiling, size } from "./axis";
import { colourOf, ofRow } from "./colours";
import { counted } from "./format";
import { Legend } from "./legend";
import { Marks, type Rise, Rules, riseOf } from "./marks";
import { plain } from "./plain";
import { inScale, scaleOf, scalesOf, show } from "./scale";
import type { Cell, Chart, Column, Row, Table } from "./types";
import "./chart.css";

const BARS = 25; // rows of a bar chart; the table has them all
const POINTS = 1500; // of a curve; where there are more, the largest of neighbours stands for them
const HIGH = 150;
const DOTS = 300; // of a line; more of them would touch

interface Series {
  column: Column;
  number: number;
}

/** The chart; null when there is nothing to draw. One bar has nothing to be compared with. */
export function Drawn({ table, chart }: { table: Table; chart: Chart }): JSX.Element | null {
  const x = table.columns.find((c) => c.name === chart.x);
  const series = chart.y.flatMap((name, number): Series[] => {
    const column = table.columns.find((c) => c.name === name);
    return column && table.rows.some((row) => size(row[name])) ? [{ column, number }] : [];
  });
  const bars = chart.kind === "bar" || chart.kind === "stacked_bar";
  if (!x || !series.length || (chart.kind === "bar" && table.rows.length === 1)) return null;
  return (
    <figure class="chart">
      <figcaption>{plain(chart.title, 200)}</figcaption>
      {series.length > 1 && chart.kind !== "bar" && (
        <Legend of={series.map((s) => [colourOf(s.column.name, s.number), plain(s.column.title, 120)])} />
      )}
      {bars ? (
        <Bars table={table} x={x} series={chart.kind === "bar" ? series.slice(0, 1) : series} />
      ) : (
        <Curves table={table} x={x} series={series} kind={chart.kind} />
      )}
    </figure>
  );
}

const label = (value: Cell | undefined): string =>
  plain(value === null || value === undefined ? "–" : String(value), 120);

function Bars({ table, x, series }: { table: Table; x: Column; series: Series[] }): JSX.Element {
  const rows = table.rows.slice(0, BARS);
  const whole = (row: Row) => series.reduce((sum, s) => sum + size(row[s.column.name]), 0);
  const largest = Math.max(...rows.map(whole)) || 1;
  const scales = new Map(scalesOf(table.columns, rows).map((scale, i) => [table.columns[i]!.name, scale]));
  const text = (row: Row, c: Column) =>
    `${inScale(row[c.name], scales.get(c.name)!)} ${scales.get(c.name)!.symbol}`.trim();
  const describe = (row: Row) =>
    `${label(row[x.name])}: ${series.map((s) => `${s.column.title} ${text(row, s.column)}`).join("; ")}`;
  // Beside a bar stands how long all of it is.
  const sums = scaleOf(series[0]!.column.unit, rows.map(whole));
  const amount = (row: Row) =>
    series.length === 1 ? text(row, series[0]!.column) : `${inScale(whole(row), sums)} ${sums.symbol}`.trim();
  const [below, leftOut] = [table.rows.length - rows.length, table.total - table.rows.length];
  const more = [
    ...(below > 0 ? [`${counted(below, "more row")} in the table`] : []),
    ...(leftOut > 0
      ? [`${counted(leftOut, below > 0 ? "row" : "more row")} left out; the query has them`]
      : []),
  ].join(", ");
  const isAlone = series.length === 1;
  return (
    <>
      <div class="bars">
        {rows.map((row) => {
          let left = 0;
          return (
            <div class="row">
              <span class="label" title={label(row[x.name])}>
                <bdi>{label(row[x.name])}</bdi>
              </span>
              <svg class="track" height="14" role="img" aria-label={describe(row)}>
                <title>{describe(row)}</title>
                {series.map((s) => {
                  const wide = (100 * size(row[s.column.name])) / largest;
                  left += wide;
                  return (
                    <rect
                      class={isAlone && "class" in row ? ofRow(row.class) : colourOf(s.column.name, s.number)}
                      x={`${(left - wide).toFixed(3)}%`}
                      width={`${wide.toFixed(3)}%`}
                      height="14"
                    />
                  );
                })}
              </svg>
              <span class="value">{amount(row)}</span>
            </div>
          );
        })}
      </div>
      {more && <p class="quiet">{more}.</p>}
    </>
  );
}

export interface Piece {
  /** The place of the largest value, or of the first where none is known. */
  at: number;
  /** The largest; null where none is known. */
  value: number | null;
  from: number;
}

/** Ranges of neighbours that one mark stands for, with the place of the largest of each. */
export function pieces(values: (number | null)[], most = POINTS): Piece[] {
  const number = Math.min(values.length, most);
  return Array.from({ length: number }, (_, k) => {
    const from = Math.floor((k * values.length) / number);
    const until = Math.floor(((k + 1) * values.length) / number);
    let at = from;
    for (let i = from; i < until; i++) if ((values[i] ?? -1) > (values[at] ?? -1)) at = i;
    return { at, value: values[at]!, from };
  });
}

/** Neighbours whose values are known: what is not known is drawn nowhere, as a zero would be a value. Where
 * `anew` says so, others begin. */
export function stretches<P extends { value: number | null }>(
  parts: P[],
  anew: (part: P) => boolean,
): (P & { k: number; value: number })[][] {
  const found: (P & { k: number; value: number })[][] = [];
  let open = false;
  parts.forEach((part, k) => {
    if (part.value === null) {
      open = false;
      return;
    }
    if (!open || anew(part)) found.push([]);
    open = true;
    found[found.length - 1]!.push({ ...part, k, value: part.value });
  });
  return found;
}

/** One series over the places of x, in the colour of its column. */
interface Curve {
  parts: Piece[];
  /** Percent of the width for each part. */
  slot: number;
  rise: Rise;
  colour: string;
  /** What the mouse says of a place. */
  describe: (at: number) => string;
}

const Stretched = ({ children }: { children: ComponentChildren }): JSX.Element => (
  <svg viewBox={`0 0 100 ${HIGH}`} width="100%" height={HIGH} preserveAspectRatio="none">
    {children}
  </svg>
);

/** What is higher than the chart is cut, and looks so. */
const lookOf = (value: number, { rise, colour }: Curve): string => (value > rise.room ? "cut" : colour);

/** A bar for each part. */
function Strip({ of }: { of: Curve }): JSX.Element {
  const { parts, slot, rise, describe } = of;
  return (
    <>
      {stretches(parts, () => false)
        .flat()
        .map((p) => (
          <rect
            class={lookOf(p.value, of)}
            x={`${(p.k * slot).toFixed(3)}%`}
            width={`${(slot * 0.85).toFixed(3)}%`}
            y={rise.y(p.value)}
            height={HIGH - rise.y(p.value)}
          >
            <title>{describe(p.at)}</title>
          </rect>
        ))}
    </>
  );
}

/** Each value as a stair, filled down to zero. */
function Area({ of: { parts, slot, rise, colour }, title }: { of: Curve; title: string }): JSX.Element {
  const x = (k: number) => (k * slot).toFixed(3);
  return (
    <>
      {stretches(parts, () => false).map((line) => {
        const corners = line
          .flatMap((p) => [p.k, p.k + 1].map((k) => `${x(k)},${rise.y(p.value).toFixed(1)}`))
          .join(" ");
        const [from, to] = [x(line[0]!.k), x(line[line.length - 1]!.k + 1)];
        return (
          <Stretched>
            <polygon class={`${colour} fill`} points={`${from},${HIGH} ${corners} ${to},${HIGH}`}>
              <title>{plain(title, 200)}</title>
            </polygon>
            <polyline class={`stroke ${colour}`} points={corners} />
          </Stretched>
        );
      })}
    </>
  );
}

/** A line, with a dot for each part where there is room. It is broken where x starts anew, too: there another
 * host or source begins. */
function Line({ of, x }: { of: Curve; x: (at: number) => Cell | undefined }): JSX.Element {
  const { parts, slot, rise, colour, describe } = of;
  const middle = (k: number) => ((k + 0.5) * slot).toFixed(3);
  const lines = stretches(parts, (p) => {
    const [before, now] = [x(p.from - 1), x(p.from)];
    return typeof before === "number" && typeof now === "number" && now <= before;
  });
  return (
    <>
      <Stretched>
        {lines.map((line) => (
          <polyline
            class={`stroke ${colour}`}
            points={line.map((p) => `${middle(p.k)},${rise.y(p.value).toFixed(1)}`).join(" ")}
          />
        ))}
      </Stretched>
      {parts.length <= DOTS &&
        lines.flat().map((p) => (
          <circle class={lookOf(p.value, of)} cx={`${middle(p.k)}%`} cy={rise.y(p.value)} r="3">
            <title>{describe(p.at)}</title>
          </circle>
        ))}
    </>
  );
}

function Curves({
  table: { rows },
  x,
  series,
  kind,
}: {
  table: Table;
  x: Column;
  series: Series[];
  kind: string;
}): JSX.Element {
  const unit = series[0]!.column.unit;
  const known = (value: Cell | undefined) => (value === null || value === undefined ? null : size(value));
  const values = series.map((s) => rows.map((row) => known(row[s.column.name])));
  const top = Math.max(...values.map((line) => ceiling(line.filter((v) => v !== null)))) || 1;
  const rise = riseOf(top, unit, HIGH);
  const cut = values.flatMap((line) =>
    line.flatMap((v, i) => (v !== null && v > rise.room ? [{ v, i }] : [])),
  );
  const worst = cut.reduce<{ v: number; i: number } | null>((a, b) => (a && a.v >= b.v ? a : b), null);
  const titles = series.map((s) => s.column.title).join(", ");
  const place = (value: Cell | undefined) => (x.unit === "text" ? label(value) : show(value, x.unit));
  const curve = ({ column, number }: Series, n: number) => {
    const parts = pieces(values[n]!);
    const of: Curve = {
      parts,
      slot: 100 / parts.length,
      rise,
      colour: colourOf(column.name, number),
      describe: (at) => {
        const value = show(rows[at]![column.name], column.unit);
        return plain(`${x.title} ${place(rows[at]![x.name])}: ${column.title} ${value}`, 200);
      },
    };
    if (kind === "strip") return <Strip of={of} />;
    if (kind === "area") return <Area of={of} title={column.title} />;
    return <Line of={of} x={(at) => rows[at]?.[x.name]} />;
  };
  return (
    <div class="plot">
      <Marks of={rise} high={HIGH} />
      <svg
        class="area"
        height={HIGH}
        role="img"
        aria-label={`${titles} by ${x.title}, ${counted(rows.length, "point")}`}
      >
        <Rules of={rise} wide="100%" />
        {series.map(curve)}
      </svg>
      <div class="ends">
        <span>{show(rows[0]![x.name], x.unit)}</span>
        <span>{plain(x.title, 120)}</span>
        <span>{show(rows[rows.length - 1]![x.name], x.unit)}</span>
      </div>
      {worst && (
        <p class="quiet">
          {counted(cut.length, "mark")} higher than the chart, up to {show(worst.v, unit)} (
          {plain(`${x.title} ${label(rows[worst.i]![x.name])}`, 120)})
        </p>
      )}
    </div>
  );
}
