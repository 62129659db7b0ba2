// What a range of time holds.

import type { JSX } from "preact";
import { counted, duration } from "../format";
import { Grid } from "../table";
import type { Row, Table } from "../types";
import type { Long, Ranged } from "./answers";
import { type Fact, Facts, type Go, Slices } from "./facts";

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
  const items = (those: Long[]) =>
    those.map(({ id, name, wait, dur_ps }) => ({
      id,
      name,
      about: `${wait ? `for ${wait}, ` : ""}${duration(dur_ps)}`,
    }));
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
            ...(parts?.steps ? [["Steps", counted(parts.steps, "whole step")] satisfies Fact] : []),
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
          <Slices title="Longest ops" of={items(longest.ops)} go={go} />
          <Slices title="Longest waits" of={items(longest.waits)} go={go} />
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
