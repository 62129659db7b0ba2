import type { ComponentChildren, JSX } from "preact";
import { counted, duration } from "../format";
import { kernelName } from "../opgroups";
import { plain } from "../plain";
import { Grid } from "../table";
import type { Cell, Row, Table } from "../types";
import type { Around, Detail, Long, Ranged, Stack } from "./answers";

const text = (value: Cell): string => plain(typeof value === "string" ? value : JSON.stringify(value), 4000);

function Facts({ of }: { of: [string, ComponentChildren][] }): JSX.Element {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
    </dl>
  );
}

const KNOWN = new Set([
  "id",
  "name",
  "ts_ps",
  "dur_ps",
  "self_ps",
  "parent_id",
  "source_id",
  "depth",
  "run_id",
]);
const TITLES = new Map([
  ["op_self_ps", "Self as an op"],
  ["host_id", "Host"],
  ["op_name", "Op"],
  ["correlation_id", "Launch number"],
]);
const titled = (key: string): string => {
  const known = TITLES.get(key);
  if (known) return known;
  const words = key.replace(/_ps$/, "").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};
const NEAREST = 4; // of what a slice lies in, seen without a click
const WAYS = 6; // slices of the way from the line to a kernel

type Go = (id: string) => void;

const Link = ({ id, name, go }: { id: string; name: string; go: Go }): JSX.Element => (
  <button type="button" class="link" onClick={() => go(id)}>
    {plain(name, 200)}
  </button>
);

/** Where a slice comes from, outermost last: what launched it, the op that did so, the line of the program. */
function Origin({ detail, go }: { detail: Detail; go: Go }): JSX.Element | null {
  const { launched_by: launched, around, flows, line } = detail;
  const from = flows.filter((f) => f.direction === "from");
  const way = launched.length ? launched : [];
  const op = way.length ? null : around.find((one) => one.op_type || one.op_name);
  const others = way.length ? [] : from;
  if (!way.length && !others.length && !op && !line) return null;
  const shown = way.slice(0, WAYS);
  return (
    <p class="tl-origin">
      {way.length > 0 && (
        <>
          <b>Launched by</b>{" "}
          {shown.map((one, i) => (
            <>
              {i > 0 && <span class="quiet"> in </span>}
              <Link id={one.id} name={one.name} go={go} />
            </>
          ))}
          {way.length > shown.length && <span class="quiet"> in {way.length - shown.length} more</span>}{" "}
        </>
      )}
      {others.length > 0 && (
        <>
          <b>Comes from</b>{" "}
          {others.slice(0, NEAREST).map((one, i) => (
            <>
              {i > 0 && ", "}
              <Link id={one.other_id} name={one.name} go={go} />
            </>
          ))}{" "}
        </>
      )}
      {op && (
        <>
          <b>Part of</b> <Link id={op.id} name={op.name} go={go} />{" "}
        </>
      )}
      {line && (
        <>
          <b>Line</b> <code>{plain(`${line.file}${line.line === null ? "" : `:${line.line}`}`, 300)}</code>
          {line.function && <span class="quiet"> {plain(line.function, 200)}</span>}
        </>
      )}
    </p>
  );
}

/** What a slice lies in, from the inside to the outside. */
function Inside({ around, go, title }: { around: Around[]; go: Go; title: string }): JSX.Element | null {
  if (!around.length) return null;
  const item = (one: Around) => (
    <li>
      <Link id={one.id} name={one.name} go={go} />
    </li>
  );
  return (
    <>
      <h3>{title}</h3>
      <ul class="plain">{around.slice(0, NEAREST).map(item)}</ul>
      {around.length > NEAREST && (
        <details>
          <summary class="quiet">{around.length - NEAREST} more around these</summary>
          <ul class="plain">{around.slice(NEAREST).map(item)}</ul>
        </details>
      )}
    </>
  );
}

/** The slices on top of one, by name: where there are thousands, a list of them says nothing. */
function Children({ detail, go }: { detail: Detail; go: Go }): JSX.Element | null {
  const { children_by_name: names, children_total: total } = detail;
  if (!total) return null;
  const named = names.reduce((sum, child) => sum + child.slices, 0);
  return (
    <>
      <h3>{counted(total, "child", "children")}</h3>
      <ul class="plain">
        {names.map((one) => (
          <li>
            <Link id={one.longest_id} name={one.name} go={go} />{" "}
            <span class="quiet">
              {one.slices > 1 && `${one.slices.toLocaleString("en")}×, `}
              {duration(Number(one.dur_ps))}
            </span>
          </li>
        ))}
      </ul>
      {named < total && (
        <p class="quiet">{counted(total - named, "more child", "more children")} of other names.</p>
      )}
    </>
  );
}

/** What is known of the selected slice, with everything it is connected to a click away. */
export function SlicePanel({
  detail,
  moment,
  name,
  go,
}: {
  detail: Detail;
  moment: string;
  /** What its track is called beside the rows. */
  name: string;
  go: Go;
}): JSX.Element {
  const { slice, args, children_total: total, flows, track, around, launched_by: launched } = detail;
  const more = Object.entries(slice).filter(
    ([key, value]) => !KNOWN.has(key) && value !== null && value !== "unknown",
  ) as [string, Cell][];
  const named = args && typeof args === "object" && !Array.isArray(args) ? Object.entries(args) : [];
  const to = flows.filter((f) => f.direction === "to"),
    from = flows.filter((f) => f.direction === "from");
  const arrows = (title: string, those: Detail["flows"]) =>
    those.length > 0 && (
      <>
        <h3>{title}</h3>
        <ul class="plain">
          {those.map((f) => (
            <li>
              <Link id={f.other_id} name={f.name} go={go} /> <span class="quiet">{f.arrow}</span>
            </li>
          ))}
        </ul>
      </>
    );
  return (
    <>
      <h2>{plain(slice.name, 600)}</h2>
      <Origin detail={detail} go={go} />
      <div class="panel-columns">
        <div>
          <Facts
            of={[
              ["Duration", <b>{duration(Number(slice.dur_ps))}</b>],
              ...(slice.self_ps !== null && slice.self_ps !== undefined
                ? [["Self", duration(Number(slice.self_ps))] as [string, string]]
                : []),
              ["Begins at", moment],
              ...(track ? [["Track", plain(`${track.group} / ${name}`, 300)] as [string, string]] : []),
              ...more.map(
                ([key, value]) =>
                  [titled(key), key.endsWith("_ps") ? duration(Number(value)) : text(value)] as [
                    string,
                    string,
                  ],
              ),
            ]}
          />
        </div>
        {named.length > 0 && (
          <div>
            <h3>Arguments</h3>
            <Facts of={named.map(([key, value]) => [plain(key, 80), text(value as Cell)])} />
          </div>
        )}
        {(around.length > 0 || launched.length > 0) && (
          <div>
            <Inside around={around} go={go} title="Inside of" />
            <Inside around={launched} go={go} title="Launched by" />
          </div>
        )}
        {total > 0 && (
          <div>
            <Children detail={detail} go={go} />
          </div>
        )}
        {flows.length > 0 && (
          <div>
            {arrows("Comes from", from)}
            {arrows("Leads to", to)}
          </div>
        )}
      </div>
    </>
  );
}

/** A stack that was sampled: what was called from where, and how much time that took in all of the
 * recording. */
export function StackPanel({ stack }: { stack: Stack }): JSX.Element {
  const where = (frame: Stack["frames"][number]) =>
    frame.file ? `${frame.file}${frame.line === null ? "" : `:${frame.line}`}` : "";
  const first = stack.frames[0]!;
  return (
    <div class="panel-columns">
      <div>
        <h2>{plain(first.function, 300)}</h2>
        <Facts
          of={[
            ["Time", <b>{duration(Number(stack.time_ps))}</b>],
            ["Itself", duration(Number(stack.own_ps))],
            ["Samples", `${stack.samples.toLocaleString("en")} on all threads`],
            ...(first.file ? [["Line", plain(where(first), 300)] as [string, string]] : []),
            ["Code", first.code],
          ]}
        />
      </div>
      <div class="wide">
        <h3>Called from</h3>
        {stack.frames.length > 1 ? (
          <ol class="plain">
            {stack.frames.slice(1).map((frame) => (
              <li>
                {plain(frame.function, 200)} <span class="quiet">{plain(where(frame), 200)}</span>
              </li>
            ))}
          </ol>
        ) : (
          <p class="quiet">Nothing is around it.</p>
        )}
      </div>
    </div>
  );
}

const COLUMNS: Table["columns"] = [
  { name: "name", unit: "", title: "Name", about: "name of the slices" },
  { name: "op_type", unit: "", title: "Op type", about: "type of the op" },
  { name: "class", unit: "", title: "Class", about: "class of work" },
  { name: "count", unit: "", title: "Slices", about: "slices that begin or run in the range" },
  { name: "total_ps", unit: "ps", title: "Total", about: "time within the range" },
  { name: "self_ps", unit: "ps", title: "Self", about: "time within the range without that of children" },
];

/** What the selected range holds: totals by name, parts of the steps in it, how much ran at once. */
export function RangePanel({
  ranged,
  length,
  tracks,
  go,
}: {
  ranged: Ranged;
  length: number;
  tracks: number;
  go: Go;
}): JSX.Element {
  const { rows, names, slices, busy_ps: busy, work_ps: work, parts, longest } = ranged;
  const listed = (title: string, those: Long[] | undefined) =>
    those?.length ? (
      <>
        <h3>{title}</h3>
        <ul class="plain">
          {those.map((one) => (
            <li>
              <Link id={one.id} name={kernelName(one.name)} go={go} />{" "}
              <span class="quiet">
                {one.wait && `for ${one.wait}, `}
                {duration(one.dur_ps)}
              </span>
            </li>
          ))}
        </ul>
      </>
    ) : null;
  return (
    <div class="panel-columns">
      <div>
        <h2>
          {duration(length)} on {counted(tracks, "track")}
        </h2>
        <Facts
          of={[
            ["Slices", slices.toLocaleString("en")],
            ["Busy", `${duration(busy)} (${((100 * busy) / length).toFixed(1)} %)`],
            ["In parallel", busy ? `${(work / busy).toFixed(2)} tracks while any was busy` : "nothing ran"],
            ...(parts?.steps ? [["Steps", counted(parts.steps, "whole step")] as [string, string]] : []),
          ]}
        />
        {!parts && (
          <p class="quiet" role="status">
            Working out where the steps go…
          </p>
        )}
        {parts && parts.steps > 0 && (
          <ul class="legend">
            {parts.step_parts.map((p) => (
              <li>
                <i class={`swatch class-${p.label}`} />
                {p.label} <b>{duration(p.dur_ps)}</b>
              </li>
            ))}
          </ul>
        )}
      </div>
      {(longest?.ops.length || longest?.waits.length) && (
        <div class="tl-longest">
          {listed("Longest ops", longest.ops)}
          {listed("Longest waits", longest.waits)}
        </div>
      )}
      <div class="wide">
        <Grid table={{ columns: COLUMNS, rows: rows as unknown as Row[], total: names }} />
        {names > rows.length && (
          <p class="quiet">
            {rows.length} of {names.toLocaleString("en")} names: those with most time.
          </p>
        )}
      </div>
    </div>
  );
}
