import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { post, type Refused } from "../api";
import { Choice, texts } from "../choice";
import { Empty } from "../empty";
import { counted } from "../format";
import { Check } from "../inputs";
import { Loaded, Problem, useAnswer } from "../loading";
import { plain } from "../plain";
import { Paragraphs } from "../prose";
import { inScale, scalesOf } from "../scale";
import type { Node, Report, Tree, View } from "../types";

interface Option {
  name: string;
  default: string;
  meaning: string;
}
interface About {
  views: string[];
  options: Option[];
  columns: Record<string, string>;
  orders: string[];
  coverage: number;
  notes: string[];
}
interface Answer {
  report: Report;
  lines: number;
  text: string;
  text_left_out: number;
}

const QUESTIONS: Record<string, string> = {
  scope: "by name scope",
  graph: "by what ops take from",
  op: "by op type",
  code: "by line of the program",
};
const SHOWN = new Set(["select", "order_by", "max_depth", "step"]);
const FIRST = ["micros", "params", "float_ops", "bytes"];
const OPEN_DEPTH = 2;
const FIRST_ROWS = 400;
const WIDEST = 72; // characters of a name at the root

/** The options that differ from their defaults, as tfprof takes them. */
export function given(chosen: Record<string, string>, options: Option[]): Record<string, string> {
  const standard = new Map(options.map((one) => [one.name, one.default]));
  return Object.fromEntries(
    Object.entries(chosen).filter(([name, value]) => standard.has(name) && value !== standard.get(name)),
  );
}

/** The same on the command line. */
export function command(view: string, words: Record<string, string>): string {
  const quoted = (value: string) =>
    /^[\w.,:/=*-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
  return [
    "stepscope tfprof",
    view,
    "PATH",
    ...Object.entries(words).map(([name, value]) => `-${name} ${quoted(value)}`),
  ].join(" ");
}

/** The nodes that are seen when some are closed: below a closed one, nothing is. */
export function unfolded(nodes: Node[], closed: ReadonlySet<number>): number[] {
  const seen: number[] = [];
  let hidden = Infinity; // depth below which nothing is seen
  nodes.forEach((node, i) => {
    if (node.depth > hidden) return;
    seen.push(i);
    hidden = closed.has(i) ? node.depth : Infinity;
  });
  return seen;
}

/** Nodes that have others below them, and those of them that are closed at first. */
export function foldable(nodes: Node[]): Set<number> {
  return new Set(nodes.flatMap((node, i) => (nodes[i + 1] && nodes[i + 1]!.depth > node.depth ? [i] : [])));
}

const nothing = (error: Refused): JSX.Element =>
  error.status === 404 ? (
    <Empty title="No model" commands={["stepscope serve LOGDIR", "stepscope train.py"]}>
      <p>
        There is {error.seen}: {error.toDo}.
      </p>
    </Empty>
  ) : (
    <Problem error={error} />
  );

const Model = (): JSX.Element => (
  <Loaded<About> from="/api/model" refused={nothing}>
    {(about) => <Views about={about} />}
  </Loaded>
);

function Views({ about }: { about: About }): JSX.Element {
  const defaults = useMemo(
    () => Object.fromEntries(about.options.map((one) => [one.name, one.default])),
    [about],
  );
  const [view, setView] = useState(about.views[0]!);
  const [chosen, setChosen] = useState<Record<string, string>>({
    ...defaults,
    select: FIRST.join(","),
    order_by: "micros",
  });
  const words = given(chosen, about.options);
  const { value: answer, error } = useAnswer(
    async () => (await post("/api/model", { view, options: words })).json() as Promise<Answer>,
    [view, JSON.stringify(words)],
  );
  const set = (name: string, value: string) => setChosen({ ...chosen, [name]: value });
  const columns = chosen.select!.split(",").filter(Boolean);
  const turn = (column: string) =>
    set(
      "select",
      columns.includes(column)
        ? columns.filter((one) => one !== column).join(",")
        : [...columns, column].join(","),
    );
  const field = (one: Option) => (
    <label class="option" title={one.meaning}>
      <span>{one.name}</span>
      <input
        name={one.name}
        value={chosen[one.name] ?? ""}
        placeholder={one.default}
        onChange={(e) => set(one.name, e.currentTarget.value || one.default)}
      />
    </label>
  );
  const rest = about.options.filter((one) => !SHOWN.has(one.name));
  return (
    <>
      <h1>Model</h1>
      <Paragraphs of={about.notes} look="quiet" />
      <section aria-label="Options">
        <div class="options" role="radiogroup" aria-label="View">
          {about.views.map((one) => (
            <label>
              <input type="radio" name="view" checked={view === one} onChange={() => setView(one)} /> {one}{" "}
              <span class="quiet">{QUESTIONS[one]}</span>
            </label>
          ))}
        </div>
        <div class="options" role="group" aria-label="Columns">
          {Object.entries(about.columns).map(([name, meaning]) => (
            <Check
              name={`column ${name}`}
              checked={columns.includes(name)}
              title={meaning}
              onCheck={() => turn(name)}
            >
              {name}
            </Check>
          ))}
        </div>
        <div class="options">
          <Choice
            label="order_by"
            name="order_by"
            value={chosen.order_by ?? ""}
            options={texts(about.orders)}
            onChoice={(one) => set("order_by", one)}
            above
          />
          {about.options.filter((one) => one.name === "max_depth" || one.name === "step").map(field)}
        </div>
        <details>
          <summary>{counted(rest.length, "more option")}</summary>
          <div class="options">{rest.map(field)}</div>
        </details>
        <p>
          <code>{command(view, words)}</code>
        </p>
      </section>
      {error !== null ? (
        <Problem error={error} />
      ) : answer === null ? (
        <p class="quiet" role="status">
          Reading …
        </p>
      ) : (
        <Shown answer={answer} chosen={columns} />
      )}
    </>
  );
}

/** A name that leaves room for the numbers beside it; the whole one is its title. */
const named = (node: Node): string =>
  node.name === "_TFProfRoot" ? "(all)" : plain(node.name, Math.max(32, WIDEST - 2 * node.depth));

/** A tree without the columns that hold nothing; with all of them when none holds anything. */
export function filled(tree: Tree): Tree {
  const columns = tree.columns.filter((c) => tree.nodes.some((node) => node.values[c.name]));
  return columns.length ? { ...tree, columns } : tree;
}

function Shown({ answer, chosen }: { answer: Answer; chosen: string[] }): JSX.Element {
  const section = answer.report.sections[0]!,
    tree = filled(section.tree!);
  const notes = section.answer.filter((sentence) =>
    chosen.some((column) => sentence.startsWith(`${column} counts nothing`)),
  );
  const others = section.answer.filter((sentence) => !sentence.includes(" counts nothing here"));
  return (
    <section aria-label={section.title}>
      <h2>
        {section.title} <span class="quiet">{counted(answer.lines, "line")}</span>
      </h2>
      {notes.length > 0 && (
        <details class="more">
          <summary>
            {notes.length === 1 ? "One column counts" : `${notes.length} columns count`} nothing here and{" "}
            {notes.length === 1 ? "is" : "are"} left out
          </summary>
          <Paragraphs of={notes} look="quiet" />
        </details>
      )}
      <Paragraphs of={others} look="quiet" />
      <Folding tree={tree} key={answer.text} />
      {answer.lines > tree.nodes.length && (
        <p class="quiet">
          The first {tree.nodes.length.toLocaleString("en")} lines: raise a minimum or lower max_depth to see
          the others.
        </p>
      )}
      <details>
        <summary>As tfprof prints it</summary>
        <pre>{answer.text}</pre>
        {answer.text_left_out > 0 && (
          <p class="quiet">
            {answer.text_left_out.toLocaleString("en")} characters more: use the command above.
          </p>
        )}
      </details>
    </section>
  );
}

function Folding({ tree }: { tree: Tree }): JSX.Element {
  const parents = useMemo(() => foldable(tree.nodes), [tree]);
  const [closed, setClosed] = useState<ReadonlySet<number>>(
    () => new Set([...parents].filter((i) => tree.nodes[i]!.depth >= OPEN_DEPTH)),
  );
  const [most, setMost] = useState(FIRST_ROWS);
  const scales = useMemo(
    () =>
      scalesOf(
        tree.columns,
        tree.nodes.map((node) => node.values),
      ),
    [tree],
  );
  const seen = unfolded(tree.nodes, closed),
    typed = tree.nodes.some((node) => node.about);
  const turn = (i: number) => {
    const next = new Set(closed);
    if (!next.delete(i)) next.add(i);
    setClosed(next);
  };
  return (
    <>
      <div class="options">
        <button type="button" onClick={() => setClosed(new Set())}>
          Expand all
        </button>
        <button
          type="button"
          onClick={() => setClosed(new Set([...parents].filter((i) => tree.nodes[i]!.depth >= 1)))}
        >
          Collapse all
        </button>
      </div>
      <div class="scroll">
        <table class="tree">
          <thead>
            <tr>
              <th scope="col">Name</th>
              {tree.columns.map((c, i) => (
                <th scope="col" class="number" title={plain(c.about || c.title, 400)}>
                  {plain(c.unit === "ps" ? c.title.replace("micros", "time") : c.title, 80)}{" "}
                  <span class="quiet">{scales[i]!.symbol}</span>
                </th>
              ))}
              {typed && <th scope="col">Types</th>}
            </tr>
          </thead>
          <tbody>
            {seen.slice(0, most).map((i) => {
              const node = tree.nodes[i]!;
              return (
                <tr key={i}>
                  <td class="branch" title={plain(node.name, 400)}>
                    {"  ".repeat(node.depth)}
                    {parents.has(i) ? (
                      <button
                        type="button"
                        class="tl-fold plain"
                        aria-expanded={!closed.has(i)}
                        onClick={() => turn(i)}
                      >
                        {closed.has(i) ? "▸" : "▾"} {named(node)}
                      </button>
                    ) : (
                      <> {named(node)}</>
                    )}
                  </td>
                  {tree.columns.map((c, k) => (
                    <td class="number">
                      {node.values[c.name] ? inScale(node.values[c.name]!, scales[k]!) : "–"}
                    </td>
                  ))}
                  {typed && <td>{plain(node.about, 160)}</td>}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {seen.length > most && (
        <button type="button" class="more" onClick={() => setMost(Infinity)}>
          Show all {seen.length.toLocaleString("en")} lines
        </button>
      )}
    </>
  );
}

/** tfprof's views say nothing of what PyTorch's profiler records, alone or beside the recorder's own files. */
const OTHERS = new Set(["kineto", "stepscope"]);

export const view: View = {
  name: "model",
  title: "Model",
  order: 6,
  key: "6",
  hasAny: ({ sources }) =>
    !sources.some((source) => source.producer === "kineto") ||
    sources.some((source) => !OTHERS.has(source.producer ?? "")),
  Component: Model,
};
