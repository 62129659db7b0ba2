import type { ComponentChildren, JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { size } from "./axis";
import { ofRow } from "./colours";
import { counted, shown } from "./format";
import { plain } from "./plain";
import { inScale, lieApart, NOTHING, type Scale, scalesOf, show } from "./scale";
import type { Cell, Column, Row, Table } from "./types";

const FIRST = 200; // rows drawn before "show all": a screen needs no more, and drawing thousands takes time
const CELL = 160; // characters of a text in a cell
const HOVER = 2000;
const PLACES = new Set(["run_id", "host_id", "source_id"]);
const COSTS = new Set(["ps", "bytes"]); // more of it is worse
const MOST_ACROSS = 9; // columns that a page is wide enough for, mostly

function compare(a: Cell | undefined, b: Cell | undefined): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

/** Rows in the order of a column, unknown values last either way. */
export function sorted(rows: Row[], by: string, down: boolean): Row[] {
  return [...rows].sort((a, b) => {
    const [x, y] = [a[by] ?? null, b[by] ?? null];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return down ? compare(y, x) : compare(x, y);
  });
}

/** Rows of which some value, as shown, contains the text. */
export function filtered(rows: Row[], columns: Column[], text: string): Row[] {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return rows;
  return rows.filter((row) => columns.some((c) => shown(row[c.name], c.unit).toLowerCase().includes(wanted)));
}

/** Columns that say something, and a sentence with what is alike in every row. Numbers stay: that they are
 * equal may be the news. Where all rows come from the same place, that is told elsewhere. */
export function telling(table: Table): { columns: Column[]; alike: string } {
  const { columns, rows, total } = table;
  const key = (value: Cell | undefined) => JSON.stringify(value ?? null);
  const constant =
    rows.length > 1
      ? columns.filter((c) => rows.every((row) => key(row[c.name]) === key(rows[0]![c.name])))
      : [];
  const words =
    rows.length < 3
      ? []
      : constant.filter(
          (c) =>
            !PLACES.has(c.name) && (["text", "bool"].includes(c.unit) || (rows[0]![c.name] ?? null) === null),
        );
  const varying = columns.filter((c) => !words.includes(c) && !(PLACES.has(c.name) && constant.includes(c)));
  if (!varying.length) return { columns, alike: "" };
  // A column without any value says nothing, and that it does not say it, neither.
  const sentences = words.flatMap((c) => {
    const value = rows[0]![c.name] ?? null;
    return value === null ? [] : [`${plain(c.title, 80)} = ${plain(shown(value, c.unit), 200)}`];
  });
  const where = total <= rows.length ? "In every row" : "In every row shown";
  return { columns: varying, alike: sentences.length ? `${where}: ${sentences.join("; ")}.` : "" };
}

/** All of a text that its cell cuts. */
function hover(text: string, cell = CELL): string | undefined {
  if (text.length <= cell) return undefined;
  return (
    plain(text, HOVER) + (text.length > HOVER ? ` (${text.length.toLocaleString("en")} characters)` : "")
  );
}

/** A single row that is wider than a page is read downwards. */
const Facts = ({ table }: { table: Table }): JSX.Element => (
  <dl class="facts">
    {table.columns.map((c) => {
      const text = show(table.rows[0]![c.name], c.unit);
      return (
        <div title={plain(c.about || c.title, 400)}>
          <dt>{plain(c.title, 80)}</dt>
          <dd title={hover(text)}>{plain(text, CELL)}</dd>
        </div>
      );
    })}
  </dl>
);

/** How the values of a column are shown. */
interface Look {
  column: Column;
  scale: Scale;
  /** Each value has its own unit. */
  far: boolean;
  numeric: boolean;
  /** Of differences, the largest: a bar behind each says how large it is beside that. */
  largest: number;
}

function looksOf(columns: Column[], rows: Row[], apart: boolean): Look[] {
  const scales = scalesOf(columns, rows);
  return columns.map((column, i) => {
    const values = rows.map((row) => row[column.name]);
    const isText = column.unit === "text" || column.unit === "bool";
    return {
      column,
      scale: scales[i]!,
      far: apart && lieApart(column.unit, values),
      numeric:
        !isText && (!["", "id"].includes(column.unit) || values.some((value) => typeof value === "number")),
      largest: column.signed
        ? values.reduce<number>((most, value) => Math.max(most, size(Math.abs(Number(value ?? 0)))), 0)
        : 0,
    };
  });
}

/** A value in its column. cell: characters of a text that appear. */
function TableCell({ value, look, cell }: { value: Cell; look: Look; cell: number }): JSX.Element {
  const { column, scale, far, numeric, largest } = look;
  const text = far ? show(value, column.unit) : inScale(value, scale);
  const change = largest && typeof value === "number" ? value / largest : 0;
  const kind = () => {
    if (change) return `number ${COSTS.has(column.unit) ? (change > 0 ? "worse" : "better") : "other"}`;
    if (numeric) return "number";
    if (column.name === "class") return "kind";
    return text.length > 16 ? "long" : "";
  };
  return (
    <td
      class={kind()}
      {...(change && { style: { "--part": `${(100 * Math.abs(change)).toFixed(1)}%` } })}
      title={hover(typeof value === "string" ? value : text, cell)}
    >
      {column.name === "class" && <i class={`swatch ${ofRow(value)}`} />}
      {value === null ? <span class="quiet">{NOTHING}</span> : plain(text, cell).replace(/^-(?=\d)/, "−")}
    </td>
  );
}

interface Options {
  table: Table;
  filter?: boolean;
  first?: number;
  /** Characters of a text in a cell; all of it appears when the mouse rests on it. */
  cell?: number;
  /** Whether a column whose values lie far apart gives each value its own unit. */
  apart?: boolean;
  /** Every column, also one that says the same in every row, and a single row as a row. */
  all?: boolean;
  /** What stands at the end of a row, as links to what it is about. */
  beside?: (row: Row) => ComponentChildren;
}

/** A table whose headers sort and whose rows can be filtered. One scale a column, its symbol in the
 * heading. */
export function Grid({
  table,
  filter = true,
  first = FIRST,
  cell = CELL,
  all: whole = false,
  apart = false,
  beside,
}: Options): JSX.Element {
  const [by, setBy] = useState<string | null>(null);
  const [down, setDown] = useState(true);
  const [text, setText] = useState("");
  const [all, setAll] = useState(false);
  const { columns, alike } = useMemo(
    () => (whole ? { columns: table.columns, alike: "" } : telling(table)),
    [table, whole],
  );
  const looks = useMemo(() => looksOf(columns, table.rows, apart), [columns, table, apart]);
  const found = useMemo(() => {
    const rows = filtered(table.rows, columns, text);
    return by === null ? rows : sorted(rows, by, down);
  }, [table, columns, text, by, down]);
  if (table.rows.length === 1 && table.total === 1 && table.columns.length > MOST_ACROSS && !whole)
    return <Facts table={table} />;
  const drawn = all || found.length <= first + 3 ? found : found.slice(0, first);
  const order = ({ column, numeric }: Look) => {
    if (by === column.name) setDown(!down);
    else {
      setBy(column.name);
      setDown(numeric);
    }
  };
  const leftOut = table.total - table.rows.length;
  return (
    <div class="grid">
      {alike && <p class="quiet">{alike}</p>}
      {filter && table.rows.length > 5 && (
        <label class="filter">
          Filter{" "}
          <input name="filter" type="search" value={text} onInput={(e) => setText(e.currentTarget.value)} />{" "}
          <span class="quiet">
            {counted(found.length, "row")}
            {leftOut > 0 ? ` of ${table.total.toLocaleString("en")}` : ""}
          </span>
        </label>
      )}
      <div class="scroll" tabIndex={0} role="group" aria-label="Table">
        <table>
          <thead>
            <tr>
              {looks.map((look) => (
                <th
                  scope="col"
                  title={plain(look.column.about || look.column.title, 400)}
                  class={look.numeric ? "number" : ""}
                  aria-sort={by === look.column.name ? (down ? "descending" : "ascending") : "none"}
                >
                  <button type="button" onClick={() => order(look)}>
                    {plain(look.column.title, 80)}
                    {look.scale.symbol && !look.far && <span class="unit"> {look.scale.symbol}</span>}
                  </button>
                </th>
              ))}
              {beside && (
                <th scope="col">
                  <span class="unseen">Links</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {drawn.map((row) => (
              <tr>
                {looks.map((look) => (
                  <TableCell value={row[look.column.name] ?? null} look={look} cell={cell} />
                ))}
                {beside && <td class="beside">{beside(row)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {drawn.length < found.length && (
        <button type="button" class="more" onClick={() => setAll(true)}>
          Show all {counted(found.length, "row")}
        </button>
      )}
      {leftOut > 0 && <p class="quiet">{counted(leftOut, "row")} left out; the query has them.</p>}
    </div>
  );
}
