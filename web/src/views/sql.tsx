import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { post } from "../api";
import { counted } from "../format";
import { Loaded, Problem } from "../loading";
import { Grid } from "../table";
import type { Cell, Row, Table, View } from "../types";

interface Answer { columns: string[]; types: string[]; rows: Cell[][]; total: number | null; cut: boolean; ms: number }
interface Schema {
  tables: { name: string; comment: string | null; columns: { name: string; type: string; comment: string | null }[] }[];
  analyses: { name: string; title: string; sql: string }[];
}

/** Columns by position: SQL may name two alike. */
function asTable(answer: Answer): Table {
  const columns = answer.columns.map((title, i) => ({ name: String(i), unit: "", title, about: answer.types[i] ?? "" }));
  const rows = answer.rows.map((row) => Object.fromEntries(row.map((value, i) => [String(i), value])) as Row);
  return { columns, rows, total: answer.total ?? rows.length };
}

async function download(sql: string): Promise<void> {
  const url = URL.createObjectURL(await (await post("/api/sql/download", { sql, form: "csv" })).blob());
  const link = Object.assign(document.createElement("a"), { href: url, download: "query.csv" });
  link.click();
  URL.revokeObjectURL(url);
}

function Sql(): JSX.Element {
  const [sql, setSql] = useState("SELECT name, COUNT(*) AS slices, SUM(dur_ps) AS total_ps\nFROM slice\nGROUP BY name\nORDER BY total_ps DESC\nLIMIT 50");
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const attempt = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(null);
    try { await work(); } catch (failure) { setError(failure); } finally { setBusy(false); }
  };
  const run = () => attempt(async () => setAnswer((await (await post("/api/sql", { sql })).json()) as Answer));
  return <div class="two"><div>
    <label class="editor">SQL, read-only <textarea name="sql" spellcheck={false} rows={8} value={sql} onInput={(e) => setSql(e.currentTarget.value)}
      onKeyDown={(e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); void run(); } }} /></label>
    <p><button type="button" class="main" disabled={busy} onClick={() => void run()}>Run (Ctrl-Enter)</button>{" "}
      <button type="button" disabled={busy} onClick={() => void attempt(() => download(sql))}>Download CSV</button></p>
    {error !== null && <Problem error={error} />}
    {answer && <><p class="quiet" role="status">{counted(answer.rows.length, "row")} in {Math.round(answer.ms)} ms{answer.cut ? "; more rows were left out: add a LIMIT or an aggregate" : ""}</p>
      <Grid table={asTable(answer)} /></>}
  </div><aside><Loaded<Schema> from="/api/schema">{(schema) => <>
    <h2>Tables</h2>{schema.tables.map((table) => <details><summary title={table.comment ?? ""}>{table.name}</summary>
      <p class="quiet">{table.comment}</p><dl>{table.columns.map((c) => <><dt><code>{c.name}</code> <span class="quiet">{c.type}</span></dt><dd class="quiet">{c.comment}</dd></>)}</dl></details>)}
    <h2>Analyses</h2>{schema.analyses.map((a) => <button type="button" class="link" onClick={() => setSql(a.sql)}>{a.title || a.name}</button>)}
  </>}</Loaded></aside></div>;
}

export const view: View = { name: "sql", title: "SQL", order: 9, key: "9", Component: Sql };
