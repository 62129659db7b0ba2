import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { counted, shown } from "./format";
import type { Cell, Column, Row, Table } from "./types";

const FIRST = 200; // rows drawn before "show all": a screen needs no more, and drawing thousands takes time

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

/** A table whose headers sort and whose rows can be filtered; columns without a value are left out and named. */
export function Grid({ table, filter = true }: { table: Table; filter?: boolean }): JSX.Element {
  const [by, setBy] = useState<string | null>(null);
  const [down, setDown] = useState(true);
  const [text, setText] = useState("");
  const [all, setAll] = useState(false);
  const columns = useMemo(() => table.columns.filter((c) => table.rows.some((r) => (r[c.name] ?? null) !== null)), [table]);
  const empty = table.columns.filter((c) => !columns.includes(c));
  const found = useMemo(() => {
    const rows = filtered(table.rows, columns, text);
    return by === null ? rows : sorted(rows, by, down);
  }, [table, columns, text, by, down]);
  const drawn = all ? found : found.slice(0, FIRST);
  const numeric = (c: Column) => table.rows.some((r) => typeof r[c.name] === "number");
  const order = (c: Column) => {
    if (by === c.name) setDown(!down);
    else { setBy(c.name); setDown(numeric(c)); }
  };
  return <div class="grid">
    {filter && table.rows.length > 5 && <label class="filter">Filter <input name="filter" type="search" value={text}
      onInput={(e) => setText(e.currentTarget.value)} /> <span class="quiet">{counted(found.length, "row")}
      {table.total > table.rows.length ? ` of ${table.total.toLocaleString("en")}` : ""}</span></label>}
    <div class="scroll"><table>
      <thead><tr>{columns.map((c) => <th scope="col" title={c.about} class={numeric(c) ? "number" : ""}
        aria-sort={by === c.name ? (down ? "descending" : "ascending") : "none"}>
        <button type="button" onClick={() => order(c)}>{c.title}{by === c.name ? (down ? " ↓" : " ↑") : ""}</button></th>)}</tr></thead>
      <tbody>{drawn.map((row) => <tr>{columns.map((c) => <td class={typeof row[c.name] === "number" ? "number" : ""}>
        {c.name === "class" && <i class={`swatch class-${String(row[c.name])}`} />}{shown(row[c.name], c.unit)}</td>)}</tr>)}</tbody>
    </table></div>
    {drawn.length < found.length && <button type="button" onClick={() => setAll(true)}>Show all {counted(found.length, "row")}</button>}
    {empty.length > 0 && <p class="quiet">No values in: {empty.map((c) => c.title).join(", ")}</p>}
  </div>;
}
