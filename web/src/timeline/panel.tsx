import type { ComponentChildren, JSX } from "preact";
import { counted, duration } from "../format";
import { plain } from "../plain";
import { Grid } from "../table";
import type { Cell, Row, Table, Track } from "../types";
import { titleOf } from "./lanes";

export interface Detail {
  slice: Record<string, Cell> & { id: string; name: string; ts_ps: number | string; dur_ps: number | string };
  args: Record<string, Cell> | Cell;
  parent: { id: string; name: string } | null;
  children: { id: string; name: string; ts_ps: number | string; dur_ps: number | string }[];
  children_total: number;
  flows: { other_id: string; name: string; arrow: string; direction: "to" | "from" }[];
  track: Track | null;
}
export interface Ranged {
  rows: {
    name: string;
    op_type: string | null;
    class: string;
    count: number;
    total_ps: number;
    self_ps: number;
  }[];
  names: number;
  slices: number;
  busy_ps: number;
  work_ps: number;
  /** Where the steps of the range go; what is not there yet is still being worked out. */
  parts?: Parts;
}
/** The calls of a sampled stack, the innermost first, and the time of all samples that begin with them. */
export interface Stack {
  id: string;
  frames: { function: string; file: string | null; line: number | null; code: string }[];
  samples: number;
  time_ps: number | string;
  own_ps: number | string;
}
export interface Parts {
  steps: number;
  step_parts: { label: string; dur_ps: number; hidden_ps: number; steps: number }[];
}
export interface Found {
  total: number;
  slices: {
    id: string;
    track: number | null;
    name: string;
    ts_ps: number | string;
    dur_ps: number | string;
  }[];
}

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
  "op_type",
  "op_name",
  "category",
  "parent_id",
  "source_id",
  "depth",
]);

/** What is known of the selected slice, with everything it is connected to a click away. */
export function SlicePanel({
  detail,
  moment,
  go,
}: {
  detail: Detail;
  moment: string;
  go: (id: string) => void;
}): JSX.Element {
  const { slice, args, parent, children, children_total: total, flows, track } = detail;
  const link = (id: string, name: string) => (
    <button type="button" class="link" onClick={() => go(id)}>
      {plain(name, 200)}
    </button>
  );
  const more = Object.entries(slice).filter(([key, value]) => !KNOWN.has(key) && value !== null) as [
    string,
    Cell,
  ][];
  const named = args && typeof args === "object" && !Array.isArray(args) ? Object.entries(args) : [];
  const to = flows.filter((f) => f.direction === "to"),
    from = flows.filter((f) => f.direction === "from");
  return (
    <div class="panel-columns">
      <div>
        <h2>{plain(slice.name, 600)}</h2>
        <Facts
          of={[
            ["Duration", <b>{duration(Number(slice.dur_ps))}</b>],
            ...(slice.self_ps !== null && slice.self_ps !== undefined
              ? [["Self", duration(Number(slice.self_ps))] as [string, string]]
              : []),
            ["Begins at", moment],
            ...(track ? [["Track", `${track.group} / ${titleOf(track)}`] as [string, string]] : []),
            ...["op_type", "op_name", "category"]
              .filter((key) => slice[key])
              .map((key) => [key.replace("_", " "), text(slice[key]!)] as [string, string]),
            ...more.map(
              ([key, value]) =>
                [key.replaceAll("_", " "), key.endsWith("_ps") ? duration(Number(value)) : text(value)] as [
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
      {(parent || total > 0) && (
        <div>
          {parent && (
            <>
              <h3>Inside of</h3>
              {link(parent.id, parent.name)}
            </>
          )}
          {total > 0 && (
            <>
              <h3>{counted(total, "child", "children")}</h3>
              <ul class="plain">
                {children.map((child) => (
                  <li>
                    {link(child.id, child.name)} <span class="quiet">{duration(Number(child.dur_ps))}</span>
                  </li>
                ))}
              </ul>
              {total > children.length && (
                <p class="quiet">
                  The first {children.length} of {total.toLocaleString("en")}.
                </p>
              )}
            </>
          )}
        </div>
      )}
      {flows.length > 0 && (
        <div>
          {from.length > 0 && (
            <>
              <h3>Comes from</h3>
              <ul class="plain">
                {from.map((f) => (
                  <li>
                    {link(f.other_id, f.name)} <span class="quiet">{f.arrow}</span>
                  </li>
                ))}
              </ul>
            </>
          )}
          {to.length > 0 && (
            <>
              <h3>Leads to</h3>
              <ul class="plain">
                {to.map((f) => (
                  <li>
                    {link(f.other_id, f.name)} <span class="quiet">{f.arrow}</span>
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
      )}
    </div>
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
}: {
  ranged: Ranged;
  length: number;
  tracks: number;
}): JSX.Element {
  const { rows, names, slices, busy_ps: busy, work_ps: work, parts } = ranged;
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
            ["At once", busy ? `${(work / busy).toFixed(2)} tracks while any was busy` : "nothing ran"],
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
