import type { Cell } from "./types";

const TIMES: [number, string][] = [[1e12, "s"], [1e9, "ms"], [1e6, "µs"], [1e3, "ns"], [1, "ps"]];
const SIZES: [number, string][] = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]];

function scaled(value: number, scales: [number, string][]): string {
  const [factor, name] = scales.find(([factor]) => Math.abs(value) >= factor) ?? scales[scales.length - 1]!;
  return `${digits(value / factor)} ${name}`;
}

/** Three digits, more where they are whole. */
function digits(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return Math.round(value).toLocaleString("en");
  return value.toPrecision(3);
}

/** Picoseconds as people read them. */
export const duration = (ps: number): string => scaled(ps, TIMES);

/** A value of a table, by the unit in its column's header; "" when it is unknown. */
export function shown(value: Cell | undefined, unit: string): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "object") return JSON.stringify(value);
  if (typeof value === "string") return value;
  if (unit === "ps") return duration(value);
  if (unit === "bytes") return scaled(value, SIZES);
  if (unit === "ratio") return `${(100 * value).toFixed(1)} %`;
  return digits(value);
}

/** "1 step", "2 steps". */
export const counted = (n: number, one: string, many = `${one}s`): string => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
