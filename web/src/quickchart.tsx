import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Drawn } from "./chart";
import { Choice } from "./choice";
import { plain } from "./plain";
import type { Column, Row, Table } from "./types";

const MOST_POINTS = 20_000;

const numeric = (rows: Row[], c: Column): boolean =>
  rows.some((row) => typeof row[c.name] === "number") &&
  rows.every((row) => ["number", "undefined"].includes(typeof (row[c.name] ?? undefined)));

/** Whether a chart over a column shows something: a number of a row, or the same in every row, does not. */
const tells = (c: Column, rows: Row[]): boolean =>
  c.unit !== "id" && new Set(rows.slice(0, 200).map((row) => row[c.name])).size > 1;

/** The unit that the name of a column tells, as all names of the schema do. */
const unitOf = (c: Column): string =>
  c.unit ||
  (c.title.endsWith("_ps")
    ? "ps"
    : c.title.endsWith("bytes")
      ? "bytes"
      : /share$|ratio$/.test(c.title)
        ? "ratio"
        : "");

/** What can be a curve over x, in the order of x; rows without an x are left out. */
function curvesOf(rows: Row[], x: string, ys: string[]): { x: number[]; ys: (number | null)[][] } {
  const drawn = rows
    .filter((row) => typeof row[x] === "number")
    .sort((a, b) => Number(a[x]) - Number(b[x]))
    .slice(0, MOST_POINTS);
  return {
    x: drawn.map((row) => Number(row[x])),
    ys: ys.map((y) => drawn.map((row) => (typeof row[y] === "number" ? row[y] : null))),
  };
}

function Curves({ table, x, ys }: { table: Table; x: Column; ys: Column[] }): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let close: (() => void) | null = null;
    let current = true;
    const found = curvesOf(
      table.rows,
      x.name,
      ys.map((y) => y.name),
    );
    void import("./plot").then(({ plot }) => {
      if (current && host.current)
        close = plot(
          host.current,
          { title: plain(x.title, 80), unit: x.unit, values: found.x },
          ys.map((y, i) => ({ title: plain(y.title, 80), unit: y.unit, values: found.ys[i]! })),
        );
    });
    return () => {
      current = false;
      close?.();
    };
  }, [table, x, ys]);
  return (
    <div
      class="curves"
      ref={host}
      role="img"
      aria-label={`${ys.map((y) => y.title).join(", ")} over ${x.title}`}
    />
  );
}

/** Rows of a query as curves over a column of numbers, or as bars by a column of names. */
export function QuickChart({ table: answer }: { table: Table }): JSX.Element {
  const table = useMemo(
    () => ({ ...answer, columns: answer.columns.map((c) => ({ ...c, unit: unitOf(c) })) }),
    [answer],
  );
  const numbers = useMemo(
    () => table.columns.filter((c) => c.unit !== "id" && numeric(table.rows, c)),
    [table],
  );
  const [by, setBy] = useState(
    () =>
      (
        table.columns.find((c) => !numbers.includes(c) && tells(c, table.rows)) ??
        table.columns.find((c) => tells(c, table.rows)) ??
        table.columns[0]
      )?.name ?? "",
  );
  const [of, setOf] = useState<string | null>(null);
  const x = table.columns.find((c) => c.name === by);
  const ys = useMemo(
    () =>
      numbers
        .filter((c) => c.name !== by && (of === null ? true : c.name === of))
        .slice(0, of === null ? 1 : 6),
    [numbers, by, of],
  );
  if (!x || !ys.length)
    return <p class="quiet">A chart needs a column of numbers besides the one that it is drawn over.</p>;
  const choose = (name: string, value: string, all: Column[], onPick: (name: string) => void) => (
    <Choice
      label={name}
      name={name.toLowerCase()}
      value={value}
      options={all.map((c) => ({ value: c.name, text: plain(c.title, 80) }))}
      onChoice={onPick}
    />
  );
  return (
    <div class="quickchart">
      <p class="toolbar">
        {choose("Over", by, table.columns, setBy)}{" "}
        {choose(
          "Of",
          ys[0]!.name,
          numbers.filter((c) => c.name !== by),
          setOf,
        )}
      </p>
      {numbers.includes(x) ? (
        <Curves table={table} x={x} ys={ys} />
      ) : (
        (Drawn({
          table,
          chart: { kind: "bar", x: x.name, y: ys.map((y) => y.name), title: `${ys[0]!.title} by ${x.title}` },
        }) ?? <p class="quiet">Nothing to draw: one row, or no value above zero.</p>)
      )}
    </div>
  );
}
