// What is known of a slice, or of a sampled stack.

import type { JSX } from "preact";
import { counted, duration } from "../format";
import { plain } from "../plain";
import type { Cell } from "../types";
import type { Detail, Stack } from "./answers";
import { type Fact, Facts, type Go, Link, Slices } from "./facts";

const text = (value: Cell): string => plain(typeof value === "string" ? value : JSON.stringify(value), 4000);

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

/** Where a slice comes from, outermost last: what launched it, the op that did so, the line of the program. */
function Origin({ detail, go }: { detail: Detail; go: Go }): JSX.Element | null {
  const { launched_by: launched, around, flows, line } = detail;
  const from = flows.filter((f) => f.direction === "from");
  const op = launched.length ? null : around.find((one) => one.op_type || one.op_name);
  const others = launched.length ? [] : from;
  if (!launched.length && !others.length && !op && !line) return null;
  const shown = launched.slice(0, WAYS);
  return (
    <p class="tl-origin">
      {launched.length > 0 && (
        <>
          <b>Launched by</b>{" "}
          {shown.map((one, i) => (
            <>
              {i > 0 && <span class="quiet"> in </span>}
              <Link id={one.id} name={one.name} go={go} />
            </>
          ))}
          {launched.length > shown.length && (
            <span class="quiet"> in {launched.length - shown.length} more</span>
          )}{" "}
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

/** The slices on top of one, by name: where there are thousands, a list of them says nothing. */
function Children({ detail, go }: { detail: Detail; go: Go }): JSX.Element {
  const { children_by_name: names, children_total: total } = detail;
  const others = total - names.reduce((sum, child) => sum + child.slices, 0);
  const about = (slices: number, ps: number | string) =>
    `${slices > 1 ? `${slices.toLocaleString("en")}×, ` : ""}${duration(Number(ps))}`;
  return (
    <div>
      <Slices
        title={counted(total, "child", "children")}
        of={names.map(({ longest_id: id, name, slices, dur_ps }) => ({
          id,
          name,
          about: about(slices, dur_ps),
        }))}
        go={go}
      />
      {others > 0 && <p class="quiet">{counted(others, "more child", "more children")} of other names.</p>}
    </div>
  );
}

/** What a slice is, but for what it is connected to. */
function factsOf({ slice, track }: Detail, moment: string, name: string): Fact[] {
  const { self_ps: self = null } = slice;
  const more = Object.entries(slice).filter(
    ([key, value]) => !KNOWN.has(key) && value !== null && value !== "unknown",
  );
  return [
    ["Duration", <b>{duration(Number(slice.dur_ps))}</b>],
    ...(self === null ? [] : [["Self", duration(Number(self))] satisfies Fact]),
    ["Begins at", moment],
    ...(track ? [["Track", plain(`${track.group} / ${name}`, 300)] satisfies Fact] : []),
    ...more.map(
      ([key, value]): Fact => [titled(key), key.endsWith("_ps") ? duration(Number(value)) : text(value)],
    ),
  ];
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
  const { slice, args, flows, around, launched_by: launched } = detail;
  const named = args && typeof args === "object" && !Array.isArray(args) ? Object.entries(args) : [];
  const ends = (direction: "from" | "to") =>
    flows
      .filter((flow) => flow.direction === direction)
      .map((flow) => ({ id: flow.other_id, name: flow.name, about: flow.arrow }));
  return (
    <>
      <h2>{plain(slice.name, 600)}</h2>
      <Origin detail={detail} go={go} />
      <div class="panel-columns">
        <div>
          <Facts of={factsOf(detail, moment, name)} />
        </div>
        {named.length > 0 && (
          <div>
            <h3>Arguments</h3>
            <Facts of={named.map(([key, value]) => [plain(key, 80), text(value as Cell)])} />
          </div>
        )}
        {(around.length > 0 || launched.length > 0) && (
          <div>
            <Slices title="Inside of" of={around.map(nameOnly)} go={go} most={NEAREST} />
            <Slices title="Launched by" of={launched.map(nameOnly)} go={go} most={NEAREST} />
          </div>
        )}
        {detail.children_total > 0 && <Children detail={detail} go={go} />}
        {flows.length > 0 && (
          <div>
            <Slices title="Comes from" of={ends("from")} go={go} />
            <Slices title="Leads to" of={ends("to")} go={go} />
          </div>
        )}
      </div>
    </>
  );
}

const nameOnly = ({ id, name }: { id: string; name: string }) => ({ id, name });

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
            ...(first.file ? [["Line", plain(where(first), 300)] satisfies Fact] : []),
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
