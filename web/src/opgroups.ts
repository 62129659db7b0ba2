// Ops grouped as the reader asks: by type, op, scope or device. Sums of rows that the server counted, nothing
// else.

import { groupsOf } from "./groups";
import type { Node, Tree } from "./types";

export interface OpRow {
  run_id: string;
  host_id: string;
  place: string;
  device: string | null;
  op: string | null;
  op_type: string | null;
  /** The op of the program that launched it on a device, where that is asked for. */
  launcher?: string | null;
  class: string | null;
  /** It works for the input pipeline. */
  feeds: boolean;
  slices: number;
  total_ps: number;
  self_ps: number;
  min_ps: number | null;
  max_ps: number | null;
}
export interface Group {
  key: string;
  class: string | null;
  part: Part | "both";
  ops: number;
  slices: number;
  total_ps: number;
  self_ps: number;
  mean_ps: number;
  min_ps: number | null;
  max_ps: number | null;
  share: number;
}
/** What the op is part of. */
export type Part = "model" | "input pipeline";
export const partOf = (row: OpRow): Part => (row.feeds ? "input pipeline" : "model");
export type Dimension = "op_type" | "op" | "launcher" | "scope" | "device";

/** Where an op is in the hierarchy of names: a/b of a/b/MatMul; "" when it is in none. */
export function scopeOf(op: string | null): string {
  const at = (op ?? "").lastIndexOf("/");
  return at > 0 ? op!.slice(0, at) : "";
}

/** What a row is grouped by. */
export function keyOf(row: OpRow, by: Dimension): string {
  if (by === "scope") return scopeOf(row.op) || "(no scope)";
  if (by === "device") return [row.run_id, row.host_id, row.device ?? row.place].filter(Boolean).join(" / ");
  return row[by] ?? (by === "launcher" ? "(nothing known)" : "(unknown)");
}

/** One of the values that are known; null where none is. */
const among = (values: (number | null)[], pick: (a: number, b: number) => number): number | null =>
  values.reduce((a, b) => (a === null ? b : b === null ? a : pick(a, b)), null);

/** Groups with the largest self times first. A group has the class in which most of its self time is. */
export function grouped(rows: OpRow[], by: Dimension): Group[] {
  const whole = rows.reduce((sum, row) => sum + row.self_ps, 0) || 1;
  return [...groupsOf(rows, (row) => keyOf(row, by))]
    .map(([key, members]): Group => {
      const parts = new Set(members.map(partOf));
      const sum = (name: "slices" | "total_ps" | "self_ps") =>
        members.reduce((all, row) => all + row[name], 0);
      const classes = new Map<string | null, number>();
      for (const row of members) classes.set(row.class, (classes.get(row.class) ?? 0) + row.self_ps);
      const [largest] = [...classes].sort((a, b) => b[1] - a[1]);
      const [slices, total_ps, self_ps] = [sum("slices"), sum("total_ps"), sum("self_ps")];
      return {
        key,
        class: largest?.[0] ?? null,
        part: parts.size > 1 ? "both" : partOf(members[0]!),
        ops: new Set(members.map((row) => row.op)).size,
        slices,
        total_ps,
        self_ps,
        mean_ps: slices ? total_ps / slices : 0,
        min_ps: among(
          members.map((row) => row.min_ps),
          Math.min,
        ),
        max_ps: among(
          members.map((row) => row.max_ps),
          Math.max,
        ),
        share: self_ps / whole,
      };
    })
    .sort((a, b) => b.self_ps - a.self_ps || a.key.localeCompare(b.key));
}

interface Branch {
  self: number;
  class: Map<string | null, number>;
  below: Map<string, Branch>;
}

/** The hierarchy of names as a tree with a size: each scope holds the self times of the ops in it. */
export function scopeTree(rows: OpRow[]): Tree {
  const root: Branch = { self: 0, class: new Map(), below: new Map() };
  for (const row of rows) {
    let at = root;
    for (const part of ["", ...(row.op ?? "(unknown)").split("/")].slice(1)) {
      let next = at.below.get(part);
      if (!next) {
        next = { self: 0, class: new Map(), below: new Map() };
        at.below.set(part, next);
      }
      next.self += row.self_ps;
      next.class.set(row.class, (next.class.get(row.class) ?? 0) + row.self_ps);
      at = next;
    }
  }
  const nodes: Node[] = [];
  const walk = (branch: Branch, depth: number) => {
    for (const [name, child] of [...branch.below].sort((a, b) => b[1].self - a[1].self)) {
      const [kind] = [...child.class].sort((a, b) => b[1] - a[1])[0]!;
      nodes.push({
        depth,
        name,
        values: { self_ps: child.self },
        line: null,
        mark: "",
        about: "",
        kind: kind ?? "",
      });
      walk(child, depth + 1);
    }
  };
  walk(root, 0);
  return {
    columns: [{ name: "self_ps", unit: "ps", title: "Self", about: "" }],
    nodes,
    note: "",
    size: "self_ps",
  };
}

export interface Cell<T> {
  item: T;
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Rectangles within a box whose areas are as the sizes, as square as rows allow (Bruls, Huizing, van
 * Wijk). */
export function squarified<T>(
  items: T[],
  sizeOf: (item: T) => number,
  width: number,
  height: number,
): Cell<T>[] {
  const sized = items
    .map((item) => ({ item, size: sizeOf(item) }))
    .filter((box) => box.size > 0)
    .sort((a, b) => b.size - a.size);
  const total = sized.reduce((sum, box) => sum + box.size, 0);
  const scale = (width * height) / (total || 1);
  let [x, y, w, h] = [0, 0, width, height];
  const found: Cell<T>[] = [];
  const worst = (row: { size: number }[], side: number) => {
    const area = row.reduce((sum, box) => sum + box.size, 0) * scale;
    const thick = area / side;
    return Math.max(
      ...row.map((box) => {
        const long = (box.size * scale) / thick;
        return Math.max(long / thick, thick / long);
      }),
    );
  };
  for (let i = 0; i < sized.length; ) {
    const side = Math.min(w, h);
    let row = [sized[i]!];
    while (i + row.length < sized.length && worst([...row, sized[i + row.length]!], side) <= worst(row, side))
      row = [...row, sized[i + row.length]!];
    const thick = side > 0 ? (row.reduce((sum, box) => sum + box.size, 0) * scale) / side : 0;
    let along = 0;
    for (const box of row) {
      const long = thick > 0 ? (box.size * scale) / thick : 0;
      found.push(
        w >= h
          ? { item: box.item, x, y: y + along, w: thick, h: long }
          : { item: box.item, x: x + along, y, w: long, h: thick },
      );
      along += long;
    }
    if (w >= h) {
      x += thick;
      w = Math.max(w - thick, 0);
    } else {
      y += thick;
      h = Math.max(h - thick, 0);
    }
    i += row.length;
  }
  return found;
}
