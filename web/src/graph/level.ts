// A level of a graph, as the server gives it, and how its boxes are coloured.

import { hueOf } from "../colours";

export interface Box {
  path: string;
  name: string;
  op_type: string | null;
  device: string;
  nodes: number;
  time_ps: number;
  output_bytes: number;
  cluster: string;
  copies: number;
  can_open: boolean;
  x: number;
  y: number;
  width: number;
  height: number;
}
export interface Level {
  boxes: Box[];
  edges: [number, number, number][];
  inside: number;
  nodes: number;
  dangling: number;
  left_out: number;
  time_ps: number;
}
export const COLOURINGS = ["time", "memory", "device", "cluster", "type"] as const;
export type Colouring = (typeof COLOURINGS)[number];

/** How the fill of a hue begins, which needs dark letters in both themes. */
export const HUE = "oklch(";

/** What a colouring says more of; null where it says which. */
export const amount = (box: Box, colouring: Colouring): number | null =>
  colouring === "time" ? box.time_ps : colouring === "memory" ? box.output_bytes : null;

/** What a box is by a colouring that says which. */
export const kindOf = (box: Box, colouring: Colouring): string =>
  colouring === "device" ? box.device : colouring === "cluster" ? box.cluster : (box.op_type ?? "");

/** The colourings that tell something about these boxes. */
export const telling = (boxes: Box[]): Colouring[] =>
  COLOURINGS.filter((one) => {
    if (one === "type") return true;
    // One hue for all is none.
    if (one === "device") return new Set(boxes.map((box) => box.device).filter(Boolean)).size > 1;
    return boxes.some((box) => (one === "cluster" ? box.cluster !== "" : amount(box, one) !== 0));
  });

const DEEPEST = 32; // scopes around a node; the server keeps deeper ones as part of its name

/** Scopes around a node, the outermost first. */
export const around = (path: string): string[] =>
  path
    .split("/")
    .slice(0, -1)
    .slice(0, DEEPEST)
    .map((_, i, parts) => parts.slice(0, i + 1).join("/"));

/** Colour of a box: more of the time is more of the colour; a device or a type is a hue. */
export function fillOf(box: Box, colouring: Colouring, most: number): string {
  const value = amount(box, colouring);
  if (value !== null)
    return most && value
      ? `color-mix(in oklch, var(--compute) ${Math.round(12 + (38 * value) / most)}%, var(--card))`
      : "var(--card)";
  const kind = kindOf(box, colouring);
  return kind ? `${HUE}0.78 0.08 ${hueOf(kind)})` : "var(--card)";
}
