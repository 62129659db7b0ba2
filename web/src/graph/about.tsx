// What is written beside a drawing of a graph: what its colours mean, what was found, what the chosen box is.

import type { JSX } from "preact";
import { hueOf } from "../colours";
import { counted, duration, shown } from "../format";
import { plain } from "../plain";
import { show } from "../scale";
import { amount, type Box, type Colouring, kindOf, type Level } from "./level";

const MOST_KINDS = 8; // in the legend

/** What the colours of the boxes say. */
export function Legend({ boxes, colouring }: { boxes: Box[]; colouring: Colouring }): JSX.Element | null {
  const most = boxes.reduce((top, b) => Math.max(top, amount(b, colouring) ?? 0), 0);
  if (colouring === "time" || colouring === "memory") {
    const unit = colouring === "time" ? "ps" : "bytes";
    const what = colouring === "time" ? "time of all its runs together" : "bytes of outputs";
    return (
      <p class="graph-legend">
        0 <i class="ramp" /> {show(most, unit)} <span class="quiet">{what}</span>
      </p>
    );
  }
  const counts = new Map<string, number>();
  for (const b of boxes) {
    const kind = kindOf(b, colouring);
    if (kind) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const kinds = [...counts].sort((x, y) => y[1] - x[1]);
  return (
    <p class="graph-legend">
      {kinds.slice(0, MOST_KINDS).map(([kind]) => (
        <span>
          <i class="swatch" style={{ background: `oklch(0.78 0.08 ${hueOf(kind)})` }} />
          {plain(kind, 40)}
        </span>
      ))}
      {kinds.length > MOST_KINDS && <span class="quiet">{kinds.length - MOST_KINDS} more</span>}
    </p>
  );
}

/** Nodes whose names have a text in them. */
export interface Found {
  total: number;
  nodes: { path: string; op_type: string | null }[];
}

export const FoundNodes = ({
  found: { total, nodes },
  reach,
}: {
  found: Found;
  reach: (path: string) => void;
}): JSX.Element => (
  <section class="graph-found" aria-label="Nodes found">
    <p class="quiet">
      {counted(total, "node")}
      {total > nodes.length && `, the first ${nodes.length}`}
    </p>
    <ul>
      {nodes.map((node) => (
        <li>
          <button type="button" class="link" onClick={() => reach(node.path)}>
            {plain(node.path, 200)}
          </button>{" "}
          <span class="quiet">{node.op_type}</span>
        </li>
      ))}
    </ul>
  </section>
);

/** The chosen box. lead: takes its node as an end of a path. */
export const ChosenBox = ({ box, lead, to }: { box: Box; lead: () => void; to: boolean }): JSX.Element => (
  <>
    <h2>
      {plain(box.path, 300)}
      {box.copies > 1 && ` and ${counted(box.copies - 1, "block")} like it`}
    </h2>
    <p>
      {[
        box.op_type,
        counted(box.nodes, "node"),
        box.time_ps ? `${duration(box.time_ps)} in all its runs` : null,
        box.output_bytes ? `${shown(box.output_bytes, "bytes")} of outputs` : null,
        plain(box.device, 100),
        plain(box.cluster, 100),
      ]
        .filter(Boolean)
        .join(" · ")}
      {box.op_type && (
        <>
          {" "}
          <button type="button" onClick={lead}>
            {to ? "Path to here" : "Path from here"}
          </button>
        </>
      )}
    </p>
  </>
);

/** How large the level is, and how to move in it. */
export const LevelSize = ({ level }: { level: Level }): JSX.Element => (
  <p class="quiet">
    {counted(level.nodes, "node")},{" "}
    {counted(
      level.edges.reduce((n, [, , c]) => n + c, level.inside),
      "edge",
    )}
    {level.dangling > 0 && `, ${counted(level.dangling, "edge")} to nodes that the graph lacks`}.{" "}
    {level.left_out > 0 &&
      `${counted(level.left_out, "argument or constant", "arguments and constants")} left out. `}
    Click a box to open it; drag to move, wheel to zoom.
  </p>
);
