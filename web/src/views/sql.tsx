import type { JSX, RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { place } from "../address";
import { post, Refused, save } from "../api";
import { Choice, places } from "../choice";
import { useCommands } from "../commands";
import type { Editor } from "../editor";
import { counted } from "../format";
import { Loaded, Problem } from "../loading";
import { plain } from "../plain";
import { QuickChart } from "../quickchart";
import { Names, type Schema } from "../schema";
import { placeIn } from "../sqlerror";
import { Grid } from "../table";
import { keep, recall } from "../theme";
import type { Cell, Row, Table, View } from "../types";
import "./sql.css";

interface Answer {
  columns: string[];
  types: string[];
  rows: Cell[][];
  total: number | null;
  cut: boolean;
  most_rows: number;
  ms: number;
}
const FIRST = `SELECT name, COUNT(*) AS slices, SUM(dur_ps) AS total_ps
FROM slice
GROUP BY name
ORDER BY total_ps DESC
LIMIT 50`;
const HINT =
  "Run shows the rows of the statement here. Beside it are the tables, and the statements of all other views.";
const FORMS = ["csv", "parquet", "json"];
const KEPT = "stepscope.sql"; // the latest queries, the last one first
const MOST_KEPT = 20;

/** The query that the address brings along: every view's SQL leads here. */
export const queryOf = (hash: string): string | null =>
  new URLSearchParams(hash.slice(1).split("?")[1] ?? "").get("sql");

function latest(): string[] {
  try {
    const found: unknown = JSON.parse(recall(KEPT) ?? "[]");
    return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

/** Columns that name something by a number: nobody counts in them. */
const ID = /(^|_)(id|hash|unix_ns)$/i;

/** Columns by position: SQL may name two alike. Its names and raw values stay as they are. */
function asTable(answer: Answer): Table {
  const columns = answer.columns.map((title, i) => ({
    name: String(i),
    unit: ID.test(title) ? "id" : "",
    title,
    about: answer.types[i] ?? "",
  }));
  const rows = answer.rows.map((row) => Object.fromEntries(row.map((value, i) => [String(i), value])) as Row);
  return { columns, rows, total: answer.total ?? rows.length };
}

/** Rows that name a slice lead to it. */
function sliceLinks(table: Table): { beside?: (row: Row) => JSX.Element | null } {
  const named = (title: string) => table.columns.find((c) => c.title === title);
  // A row of the table slice has its own number; no other table has all of these columns.
  const sliceId = ["track_id", "dur_ps", "depth"].every(named) ? named("id") : undefined;
  const column = named("slice_id") ?? sliceId;
  if (!column) return {};
  return {
    beside: (row) =>
      /^\d+$/.test(String(row[column.name] ?? "")) ? (
        <a href={`#timeline?slice=${String(row[column.name])}`}>timeline</a>
      ) : null,
  };
}

async function download(sql: string, form: string, signal: AbortSignal): Promise<void> {
  await save(await post("/api/sql/download", { sql, form }, signal), `stepscope.${form}`);
}

type Shown = Table & { ms: number; cut: boolean };

/** What runs statements of an editor: their answer or error, and the latest of them. */
function useAnswers(editor: RefObject<Editor>) {
  const [kept, setKept] = useState(latest);
  const [answer, setAnswer] = useState<Shown | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const leave = useRef(new AbortController());
  const attempt = async (work: (sql: string, signal: AbortSignal) => Promise<void>) => {
    const sql = editor.current?.text() ?? "";
    editor.current?.settle();
    editor.current?.mark(null);
    leave.current = new AbortController();
    const { signal } = leave.current;
    setBusy(true);
    setError(null);
    try {
      await work(sql, signal);
    } catch (failure) {
      if (!signal.aborted) {
        setError(failure);
        setAnswer(null); // rows of another statement are no answer to this one
        if (failure instanceof Refused) editor.current?.mark(placeIn(sql, failure.seen));
      }
    } finally {
      setBusy(false);
    }
  };
  const run = () =>
    void attempt(async (sql, signal) => {
      if (!sql.trim()) return;
      const found = (await (await post("/api/sql", { sql }, signal)).json()) as Answer;
      setAnswer({ ...asTable(found), ms: found.ms, cut: found.cut });
      const all = [sql, ...latest().filter((one) => one !== sql)].slice(0, MOST_KEPT);
      keep(KEPT, JSON.stringify(all));
      setKept(all);
    });
  const saveAs = (form: string) => void attempt((sql, signal) => download(sql, form, signal));
  return { kept, answer, error, setError, busy, run, saveAs, stop: () => leave.current.abort() };
}

/** Rows of a statement, as a table or a chart. */
function Answered({
  answer,
  picture,
  onPicture,
}: {
  answer: Shown;
  picture: boolean;
  onPicture: (picture: boolean) => void;
}): JSX.Element {
  return (
    <section class="answer" aria-label="Answer">
      <p class="toolbar">
        <span class="segments" role="group" aria-label="Show as">
          <button type="button" aria-pressed={!picture} onClick={() => onPicture(false)}>
            Table
          </button>
          <button type="button" aria-pressed={picture} onClick={() => onPicture(true)}>
            Chart
          </button>
        </span>
        <span class="quiet" aria-live="polite">
          {counted(answer.rows.length, "row")} in {Math.round(answer.ms)} ms
          {answer.cut ? "; more rows were left out: add a LIMIT or an aggregate, or download them" : ""}
        </span>
      </p>
      {picture ? (
        <QuickChart table={answer} key={answer.columns.map((c) => c.title).join()} />
      ) : (
        <Grid table={answer} all first={100} cell={60} {...sliceLinks(answer)} />
      )}
    </section>
  );
}

function Console({ schema }: { schema: Schema }): JSX.Element {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | null>(null);
  const { kept, answer, error, setError, busy, run, saveAs, stop } = useAnswers(editor);
  const [ready, setReady] = useState(false);
  const [picture, setPicture] = useState(false);
  const running = useRef(run);
  running.current = run;
  const waiting = useRef<string | null>(null); // a query that was chosen before the editor was there
  useEffect(() => {
    let current = true;
    let mounted: Editor | null = null;
    const brought = () => {
      const sql = queryOf(place.peek());
      if (sql !== null && editor.current && sql !== editor.current.text()) {
        editor.current.set(sql);
        running.current();
      }
    };
    const first = queryOf(place.peek());
    void import("../editor").then(
      ({ mount }) => {
        if (!current || !host.current) return;
        const chosen = waiting.current ?? first;
        mounted = editor.current = mount(host.current, chosen ?? latest()[0] ?? FIRST, schema.tables, {
          run: () => running.current(),
          change: () => undefined,
        });
        setReady(true);
        if (chosen !== null) running.current();
      },
      (failure: unknown) => setError(failure),
    );
    const unbring = place.subscribe(brought);
    return () => {
      current = false;
      unbring();
      mounted?.close();
      editor.current = null;
    };
  }, [schema]);
  useCommands(
    useMemo(
      () => [
        { title: "Run the query", key: "", run: () => running.current() },
        { title: "Write SQL", key: "", run: () => editor.current?.focus() },
      ],
      [],
    ),
  );
  const query = (sql: string) => {
    if (!editor.current) {
      waiting.current = sql;
      return;
    }
    editor.current.set(sql);
    running.current();
  };
  return (
    <div class="two">
      <div class="console">
        <div class="editor" ref={host} />
        <p class="toolbar">
          <button type="button" class="main" disabled={busy || !ready} onClick={() => running.current()}>
            Run <kbd>Ctrl Enter</kbd>
          </button>
          {busy && (
            <button type="button" onClick={stop}>
              Stop
            </button>
          )}
          <span>
            Download{" "}
            {FORMS.map((form) => (
              <button type="button" disabled={busy || !ready} onClick={() => saveAs(form)}>
                {form === "csv" || form === "json" ? form.toUpperCase() : "Parquet"}
              </button>
            ))}
          </span>
          {kept.length > 0 && (
            <Choice
              label="Latest"
              name="latest"
              value=""
              options={[{ value: "", text: "choose a query" }, ...places(kept.map((sql) => plain(sql, 80)))]}
              onChoice={(at) => at !== "" && editor.current?.set(kept[Number(at)]!)}
            />
          )}
        </p>
        {error !== null && <Problem error={error} />}
        {answer === null && error === null && (
          <p class="quiet" role={busy ? "status" : undefined}>
            {busy ? "Asking …" : HINT}
          </p>
        )}
        {answer && <Answered answer={answer} picture={picture} onPicture={setPicture} />}
      </div>
      <Names schema={schema} onInsert={(word) => editor.current?.insert(word)} onQuery={query} />
    </div>
  );
}

const Sql = (): JSX.Element => (
  <Loaded<Schema> from="/api/schema">{(schema) => <Console schema={schema} />}</Loaded>
);

export const view: View = { name: "sql", title: "SQL", order: 9, key: "9", Component: Sql };
