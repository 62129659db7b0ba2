import { raw, show } from "./scale";
import type { Cell } from "./types";

/** Picoseconds as people read them. */
export const duration = (ps: number): string => show(ps, "ps");

/** A value of a table, by the unit in its column's header; "" when it is unknown. */
export function shown(value: Cell | undefined, unit: string): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "object") return JSON.stringify(value);
  if (typeof value === "string") return value;
  return unit === "" ? raw(value) : show(value, unit);
}

/** "1 step", "2 steps". */
export const counted = (n: number, one: string, many = `${one}s`): string =>
  `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
