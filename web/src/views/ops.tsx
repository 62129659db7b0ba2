import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { once } from "../api";
import { Choice, texts } from "../choice";
import { ofRow } from "../colours";
import { Empty } from "../empty";
import { counted, duration } from "../format";
import { Legend } from "../legend";
import { Loaded, Problem, useAnswer } from "../loading";
import {
  type Dimension,
  type Group,
  grouped,
  keyOf,
  type OpRow,
  type Part,
  partOf,
  scopeTree,
} from "../opgroups";
import { plain } from "../plain";
import { Prose, sqlLink } from "../prose";
import { Open } from "../sections";
import { Grid } from "../table";
import { Flame } from "../tree";
import { Treemap } from "../treemap";
import type { Column, Report, Row, Section, Table, View } from "../types";
import { Waiting } from "../waiting";

interface Ops {
  rows: OpRow[];
  /** Names of kernels without arguments. */
  short_names: Record<string, string>;
  total: number;
  left_out_self_ps: number;
}
type By = Dimension | "python";

const TITLES: Record<By, string> = {
  op_type: "Op type",
  op: "Op",
  launcher: "Launched by",
  scope: "Scope",
  device: "Device",
  python: "Python line",
};
const LAUNCHING = "/api/ops/launching";
const ALL = { value: "", text: "all" };
const PLACES = ["device", "host", "launch"]; // in the order in which they answer what took the time
const placesOf = (rows: OpRow[]): string[] =>
  PLACES.filter((place) => rows.some((row) => row.place === place));

const column = (name: string, unit: string, title: string, about = ""): Column => ({
  name,
  unit,
  title,
  about,
});

function tableOf(groups: Group[], by: Dimension, apart: boolean): Table {
  const columns = [
    column("key", "text", TITLES[by]),
    column("class", "text", "Class", "class of most of its self time"),
    column("self_ps", "ps", "Self", "self times, added up"),
    column("share", "ratio", "Share", "part of all self time that is shown"),
    column("total_ps", "ps", "Total", "durations with children, added up"),
    column("slices", "int", "Count", "how many slices"),
    column("mean_ps", "ps", "Mean", "mean duration"),
    column("min_ps", "ps", "Shortest", "shortest duration"),
    column("max_ps", "ps", "Longest", "longest duration"),
    ...(by === "op" ? [] : [column("ops", "int", "Ops", "different ops")]),
    ...(apart ? [column("part", "text", "Part of", "the model, the input pipeline, or both")] : []),
  ];
  return { columns, rows: groups as unknown as Row[], total: groups.length };
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** SQL for the slices of a group, the longest first. */
export function slicesOf(key: string, by: Exclude<Dimension, "launcher">, place: string): string {
  const where = {
    op_type: `o.op_type = ${quoted(key)}`,
    op: `o.op = ${quoted(key)}`,
    scope: `starts_with(o.op, ${quoted(`${key}/`)})`,
    device: `o.device = ${quoted(key.split(" / ").pop()!)}`,
  }[by];
  return [
    "SELECT o.step, o.op, o.op_type, o.device, o.ts_ps, o.dur_ps, o.self_ps, o.slice_id",
    "FROM op_slice AS o",
    `WHERE o.place = ${quoted(place)} AND ${where}`,
    "ORDER BY o.dur_ps DESC",
    "LIMIT 500",
  ].join("\n");
}

/** The sections of a report that hold a flame graph, wherever they are. */
const flames = (sections: Section[]): Section[] =>
  sections.flatMap((s) => [...(s.tree?.size ? [s] : []), ...flames(s.parts)]);

const Python = (): JSX.Element => (
  <Loaded<Report> from="/api/report/summary">
    {(report) => {
      const found = flames(report.sections);
      return (
        <>
          {found.map((section) => (
            <Open section={section} />
          ))}
          <Lines alone={!found.length} />
        </>
      );
    }}
  </Loaded>
);

/** Time by line of the program. alone: nothing else is known of its Python. */
const Lines = ({ alone }: { alone: boolean }): JSX.Element => (
  <Loaded<Section> from="/api/analysis/python_lines">
    {(section) => {
      if (section.table?.rows.length)
        return (
          <section aria-label={section.title}>
            <h2>{section.title}</h2>
            <p class="quiet">{section.question}</p>
            <Grid table={section.table} first={50} />
            {section.sql && (
              <p>
                <a href={sqlLink(section.sql)}>Open in the SQL view</a>
              </p>
            )}
          </section>
        );
      return (
        <section class="empty" hidden={!alone}>
          <h2>No stacks of Python</h2>
          <p class="quiet">
            <Prose text="The recording holds none: `stepscope record` samples them, and PyTorch's profiler has them with `with_stack=True`." />
          </p>
        </section>
      );
    }}
  </Loaded>
);

/** Where the slices of a group are to be seen. */
const Links = ({ to, by, place }: { to: string; by: Dimension; place: string }): JSX.Element => (
  <>
    {by !== "launcher" && <a href={sqlLink(slicesOf(to, by, place))}>slices</a>}{" "}
    {(by === "op" || by === "op_type" || by === "launcher") && (
      <a href={`#timeline?search=${encodeURIComponent(to)}`}>timeline</a>
    )}
  </>
);

/** Which rows are shown, and how they are grouped. */
interface Filters {
  by: By;
  place: string;
  device: string;
  kind: string;
  part: Part | "";
  /** A group that was gone into. */
  within: { by: Dimension; key: string } | null;
}

/** Whether both the model and the input pipeline are among rows. */
const areApart = (rows: OpRow[]): boolean => rows.some((row) => row.feeds) && !rows.every((row) => row.feeds);

const valuesOf = (rows: OpRow[], key: "device" | "class"): string[] =>
  [...new Set(rows.map((row) => row[key] ?? ""))].filter(Boolean).sort();

/** The toolbar. Ops of hosts have no launcher, and each place has its own classes. */
function Toolbar({
  rows,
  filters,
  change,
  about,
}: {
  rows: OpRow[];
  filters: Filters;
  change: (some: Partial<Filters>) => void;
  about: string;
}): JSX.Element {
  const { by, place, device, kind, part, within } = filters;
  const places = placesOf(rows);
  const devices = valuesOf(rows, "device");
  const here = rows.filter((row) => row.place === place);
  const classes = valuesOf(here, "class");
  // Kernels that name no op, and ops beside them that may have launched them.
  const launches =
    rows.some((row) => row.place === "device" && row.op === row.op_type) &&
    rows.some((row) => row.place === "host");
  const choosePlace = (chosen: string) =>
    change({
      place: chosen,
      by: by === "launcher" ? "op_type" : by,
      within: within?.by === "launcher" ? null : within,
      kind: "",
      part: "",
    });
  return (
    <div class="toolbar" role="toolbar" aria-label="Grouping and filters">
      <span class="segments" role="group" aria-label="Group by">
        {(Object.keys(TITLES) as By[])
          .filter((name) => name !== "launcher" || (place === "device" && launches))
          .map((name) => (
            <button type="button" aria-pressed={by === name} onClick={() => change({ by: name })}>
              {TITLES[name]}
            </button>
          ))}
      </span>
      {by !== "python" && (
        <>
          {places.length > 1 && (
            <Choice label="Where" name="place" value={place} options={texts(places)} onChoice={choosePlace} />
          )}
          {devices.length > 1 && (
            <Choice
              label="Device"
              name="device"
              value={device}
              options={[ALL, ...devices.map((one) => ({ value: one, text: plain(one, 80) }))]}
              onChoice={(chosen) => change({ device: chosen })}
            />
          )}
          {classes.length > 1 && (
            <Choice
              label="Class"
              name="class"
              value={kind}
              options={[ALL, ...texts(classes)]}
              onChoice={(chosen) => change({ kind: chosen })}
            />
          )}
          {areApart(here) && (
            <Choice
              label="Part of"
              name="part"
              value={part}
              options={[ALL, ...texts(["model", "input pipeline"])]}
              onChoice={(chosen) => change({ part: chosen as Part | "" })}
            />
          )}
          {within && (
            <button type="button" onClick={() => change({ within: null })}>
              {TITLES[within.by]}: {plain(within.key, 60)} ×
            </button>
          )}
          <span class="quiet" role="note">
            {about}
          </span>
        </>
      )}
    </div>
  );
}

function Shown({ ops }: { ops: Ops }): JSX.Element {
  const [filters, setFilters] = useState<Filters>({
    by: "op_type",
    place: placesOf(ops.rows)[0] ?? "device",
    device: "",
    kind: "",
    part: "",
    within: null,
  });
  const change = (some: Partial<Filters>) => setFilters((before) => ({ ...before, ...some }));
  const { by, place, device, kind, part, within } = filters;
  const dimension = by === "python" ? "op_type" : by;
  const byLauncher = by === "launcher" || within?.by === "launcher";
  const { value: launched, error } = useAnswer(
    () => (byLauncher ? once<{ rows: OpRow[] }>(LAUNCHING) : null),
    [byLauncher],
  );
  const known = byLauncher ? (launched?.rows ?? []) : ops.rows;
  const rows = useMemo(
    () =>
      known.filter(
        (row) =>
          row.place === place &&
          (!device || row.device === device) &&
          (!kind || row.class === kind) &&
          (!part || partOf(row) === part) &&
          (!within || keyOf(row, within.by) === within.key),
      ),
    [known, place, device, kind, part, within],
  );
  const groups = useMemo(() => grouped(rows, dimension), [rows, dimension]);
  const tree = useMemo(() => (by === "scope" ? scopeTree(rows) : null), [rows, by]);
  const here = ops.rows.filter((row) => row.place === place);
  const apart = areApart(here);
  const pick = (key: string) => {
    if (dimension !== "op" && dimension !== "device") change({ within: { by: dimension, key }, by: "op" });
  };
  const whole = rows.reduce((sum, row) => sum + row.self_ps, 0);
  const colours = [
    ...valuesOf(here, "class")
      .filter((name) => rows.some((row) => row.class === name))
      .map((name) => [ofRow(name), name] as const),
    ...(apart && !tree && rows.some((row) => row.feeds) ? [["feeds", "input pipeline"] as const] : []),
  ];
  return (
    <>
      <Toolbar
        rows={ops.rows}
        filters={filters}
        change={change}
        about={`${duration(whole)} of self time in ${counted(groups.length, "group")}`}
      />
      {error !== null && <Problem error={error} />}
      {by === "python" ? (
        <Python />
      ) : byLauncher && launched === null ? (
        error === null && <Waiting of={LAUNCHING} />
      ) : (
        <>
          {whole > 0 && (
            <section class="picture" aria-label="Picture">
              <Legend of={colours}>
                {!tree && <li class="quiet">shades of one colour: scopes, or types of op</li>}
              </Legend>
              {tree ? (
                <Flame tree={tree} look={(node) => ofRow(node.kind)} />
              ) : (
                <Treemap groups={groups} shortNames={ops.short_names} onPick={pick} />
              )}
            </section>
          )}
          <section class="ops-table" aria-label="Table">
            <Grid
              key={`${by}${place}${part}`}
              table={tableOf(groups, dimension, apart)}
              all
              apart
              first={50}
              cell={72}
              beside={(row) => <Links to={String(row.key)} by={dimension} place={place} />}
            />
          </section>
          {ops.left_out_self_ps > 0 && (
            <p class="quiet">
              {counted(ops.total - ops.rows.length, "op")} with {duration(ops.left_out_self_ps)} of self time
              together are left out.
            </p>
          )}
        </>
      )}
    </>
  );
}

const Nothing = (): JSX.Element => (
  <Empty title="No ops" commands={["stepscope train.py", "stepscope xla cost DUMP"]}>
    <p>
      The recording holds no slices of ops: profilers record them, and a dump of XLA tells what each
      instruction costs, not how long it takes.
    </p>
  </Empty>
);

const OpsView = (): JSX.Element => (
  <Loaded<Ops> from="/api/ops">{(ops) => (ops.rows.length ? <Shown ops={ops} /> : <Nothing />)}</Loaded>
);

export const view: View = { name: "ops", title: "Ops", order: 3, key: "3", Component: OpsView };
