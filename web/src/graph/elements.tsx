// Boxes and edges as elements: with names, titles and keys.

import type { JSX } from "preact";
import { counted, duration } from "../format";
import { plain } from "../plain";
import { pressable } from "../press";
import { type Box, type Colouring, fillOf, HUE, type Level } from "./level";

/** Whether a path is that of a scope or of something in it. */
export const within = (path: string, scope: string): boolean =>
  path === scope || path.startsWith(`${scope}/`);

/** Edges between boxes, the wider the more there are. */
export function EdgeElements({
  boxes,
  links,
  marked,
}: {
  boxes: readonly Box[];
  links: Level["edges"];
  marked: ReadonlySet<string>;
}): JSX.Element {
  return (
    <g>
      {links.map(([a, b, count]) => {
        const p = boxes[a]!,
          c = boxes[b]!,
          x0 = p.x + p.width / 2,
          y0 = p.y + p.height,
          x1 = c.x + c.width / 2,
          y1 = c.y,
          bend = Math.max(18, Math.abs(y1 - y0) / 2.5);
        return (
          <path
            key={`${a} ${b}`}
            class={marked.has(p.path) && marked.has(c.path) ? "edge on" : "edge"}
            d={`M${x0} ${y0}C${x0} ${y0 + bend} ${x1} ${y1 - bend} ${x1} ${y1}`}
            stroke-width={Math.min(1 + Math.log2(count), 6)}
          >
            <title>
              {plain(p.path, 120)} → {plain(c.path, 120)}: {counted(count, "edge")}
            </title>
          </path>
        );
      })}
    </g>
  );
}

/** A box with its name, and its time, op type or number of nodes. */
export function BoxElement({
  box,
  colouring,
  most,
  marks,
  turn,
}: {
  box: Box;
  colouring: Colouring;
  /** The largest amount among the boxes. */
  most: number;
  /** Classes that hold for it. */
  marks: { opens: boolean; chosen: boolean; on: boolean; inside: boolean };
  turn: () => void;
}): JSX.Element {
  const fill = fillOf(box, colouring, most);
  return (
    <g
      class={["box", ...Object.keys(marks).filter((mark) => marks[mark as keyof typeof marks])].join(" ")}
      transform={`translate(${box.x} ${box.y})`}
      aria-label={`${plain(box.path, 120)}, ${counted(box.nodes, "node")}`}
      {...pressable(turn)}
    >
      {box.copies > 1 && (
        <rect class="behind" x={4} y={4} width={box.width} height={box.height} rx={box.op_type ? 4 : 9} />
      )}
      <rect
        width={box.width}
        height={box.height}
        rx={box.op_type ? 4 : 9}
        class={fill.startsWith(HUE) ? "hued" : ""}
        style={{ fill }}
      />
      <text x={box.width / 2} y={14}>
        {plain(box.name, Math.floor(box.width / 7))}
        {box.copies > 1 && ` ×${box.copies}`}
      </text>
      <text class="small" x={box.width / 2} y={27}>
        {box.time_ps
          ? duration(box.time_ps)
          : box.op_type
            ? plain(box.op_type, Math.floor(box.width / 6))
            : counted(box.nodes, "node")}
      </text>
      <title>
        {plain(box.path, 300)} · {counted(box.nodes, "node")}
        {box.time_ps ? ` · ${duration(box.time_ps)}` : ""}
      </title>
    </g>
  );
}
