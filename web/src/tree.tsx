// Trees of a report: stages of a pipeline as a table with branches, stacks as a flame graph.

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { size } from "./axis";
import { counted } from "./format";
import { Legend } from "./legend";
import { plain } from "./plain";
import { pressable } from "./press";
import { inScale, scalesOf, show } from "./scale";
import type { Column, Node, Tree } from "./types";
import "./tree.css";

/** What is drawn before the name of each node: lines from its parent, none for a root. */
export function branches(depths: number[]): string[] {
  // From the end on: a node is the last child when no later one follows at its depth before a smaller one.
  let open = new Set<number>();
  const drawn = depths
    .map((_, i) => depths[depths.length - 1 - i]!)
    .map((depth) => {
      const last = !open.has(depth);
      open = new Set([...open].filter((d) => d < depth).concat(depth));
      const rails = Array.from({ length: Math.max(depth - 1, 0) }, (_, d) =>
        open.has(d + 1) ? "│  " : "   ",
      ).join("");
      return depth ? rails + (last ? "└─ " : "├─ ") : "";
    });
  return drawn.reverse();
}

const place = (node: Node): string => (node.line ? `${node.line.file}:${node.line.line}` : "");

export function TreeTable({ tree }: { tree: Tree }): JSX.Element {
  const before = branches(tree.nodes.map((n) => n.depth));
  const scales = scalesOf(
    tree.columns,
    tree.nodes.map((n) => n.values),
  );
  const value = (node: Node, c: Column, i: number) => {
    const cell = node.values[c.name] ?? null;
    if (cell === null || cell === false) return "";
    return cell === true ? c.title.toLowerCase() : inScale(cell, scales[i]!);
  };
  const numeric = (c: Column) => !["text", "bool"].includes(c.unit);
  const time = tree.columns.find((c) => c.unit === "ps");
  const longest = tree.nodes.reduce((most, node) => Math.max(most, size(node.values[time?.name ?? ""])), 0);
  return (
    <>
      <div class="scroll">
        <table class="tree">
          <thead>
            <tr>
              <th scope="col">Name</th>
              {tree.columns.map((c, i) => (
                <th scope="col" class={numeric(c) ? "number" : ""} title={plain(c.about || c.title, 400)}>
                  {plain(c.title, 80)} <span class="quiet">{scales[i]!.symbol}</span>
                </th>
              ))}
              {longest > 0 && (
                <th scope="col">
                  <span class="unseen">{plain(time!.title, 80)} as a bar</span>
                </th>
              )}
              <th scope="col">Where</th>
            </tr>
          </thead>
          <tbody>
            {tree.nodes.map((node, i) => (
              <tr class={node.mark ? "marked" : ""}>
                <td class="branch">
                  {before[i]}
                  {plain(node.name, 160)}
                  {node.mark && <mark>{plain(node.mark, 40)}</mark>}
                </td>
                {tree.columns.map((c, k) => (
                  <td class={numeric(c) ? "number" : ""}>{value(node, c, k)}</td>
                ))}
                {longest > 0 && (
                  <td class="meter">
                    <svg height="10" aria-hidden="true">
                      <rect height="10" width={`${(100 * size(node.values[time!.name])) / longest}%`} />
                    </svg>
                  </td>
                )}
                <td>
                  {[place(node), node.about]
                    .filter(Boolean)
                    .map((text) => plain(text, 160))
                    .join(" ")}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {tree.note && <p class="quiet">{plain(tree.note)}</p>}
    </>
  );
}

export interface Box {
  node: Node;
  left: number;
  width: number;
}

/** Where each node of a flame graph lies, as parts of the whole; empty when no node has a size. */
export function boxes(tree: Tree): Box[] {
  const sizes = tree.nodes.map((node) => size(node.values[tree.size]));
  const whole = tree.nodes.reduce((sum, node, i) => sum + (node.depth ? 0 : sizes[i]!), 0);
  if (!whole) return [];
  const free = [0]; // by depth: where the next node begins
  return tree.nodes.map((node, i) => {
    const begin = free[node.depth] ?? 0;
    // Of the next one beside it, and of the first within it.
    free.splice(node.depth, free.length, begin + sizes[i]!, begin);
    return { node, left: begin / whole, width: sizes[i]! / whole };
  });
}

const ROW = 19;
const KINDS = new Map([
  ["program", "the program"],
  ["library", "libraries"],
  ["python", "Python's own library"],
  ["native", "native code"],
  ["unknown", "not known"],
  ["folded", "folded"],
]);
const kindOf = (node: Node): string => (KINDS.has(node.kind) ? node.kind : "unknown");
const NARROWEST = 0.0005; // of the graph's width: about half a pixel, below which a box cannot be seen

/** A flame graph: a click on a box zooms in on it, a second one shows all again. `look`: the CSS class of a
 * box. */
export function Flame({ tree, look }: { tree: Tree; look?: (node: Node) => string }): JSX.Element | null {
  const [zoom, setZoom] = useState<Box | null>(null);
  const all = useMemo(() => boxes(tree), [tree]);
  if (!all.length) return null;
  const [from, wide] = zoom ? [zoom.left, zoom.width] : [0, 1];
  const drawn = all.filter(
    (b) => b.width / wide >= NARROWEST && b.left < from + wide && b.left + b.width > from,
  );
  const high = ROW * (1 + all.reduce((most, b) => Math.max(most, b.node.depth), 0));
  const kinds = [...KINDS].filter(([kind]) => all.some((b) => kindOf(b.node) === kind));
  const percent = (part: number) => `${(100 * part).toFixed(4)}%`;
  const turn = (box: Box) => setZoom(zoom?.node === box.node || box.width >= 1 ? null : box);
  return (
    <figure class="chart">
      {!look && <Legend of={kinds.map(([kind, name]) => [`f-${kind}`, name])} />}
      <svg
        class={look ? "flame of-classes" : "flame"}
        height={high}
        role="group"
        aria-label={`flame graph of ${counted(all.length, "box", "boxes")}`}
      >
        {drawn.map((box) => {
          const values = tree.columns
            .filter((c) => (box.node.values[c.name] ?? null) !== null)
            .map((c) => `${c.title} ${show(box.node.values[c.name], c.unit)}`)
            .join("; ");
          const title = [box.node.name, [place(box.node), box.node.about].filter(Boolean).join("; "), values]
            .filter(Boolean)
            .map((line) => plain(line, 400))
            .join("\n");
          return (
            <svg
              class="box"
              x={percent((box.left - from) / wide)}
              y={box.node.depth * ROW}
              width={percent(box.width / wide)}
              height={ROW}
              aria-label={title}
              {...pressable(() => turn(box))}
            >
              <title>{title}</title>
              <rect class={look ? look(box.node) : `f-${kindOf(box.node)}`} width="100%" height={ROW - 1} />
              <foreignObject width="100%" height={ROW}>
                <p>{plain(`${box.node.name} ${place(box.node).split("/").pop() ?? ""}`.trim(), 180)}</p>
              </foreignObject>
            </svg>
          );
        })}
      </svg>
    </figure>
  );
}
