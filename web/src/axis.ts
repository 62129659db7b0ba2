// How high a chart reaches and where its marks are.

import { scaleOf } from "./scale";
import type { Cell } from "./types";

const FAR_OUT = 4; // a value this many times the median would press all others flat

/** The length of what is drawn: what is unknown, no number or negative has none. */
export const size = (value: Cell | undefined): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;

/** The top of the axis: the largest value, or, when a few are far out, the largest of the others. Those are
 * cut and say so. */
export function ceiling(values: number[]): number {
  const present = values.filter((v) => v > 0).sort((a, b) => a - b);
  if (!present.length) return 0;
  const middle = present.length >> 1;
  const median = present.length % 2 ? present[middle]! : (present[middle - 1]! + present[middle]!) / 2;
  const near = present.filter((v) => v <= FAR_OUT * median);
  const few = present.length - near.length <= Math.max(1, Math.floor(present.length / 10));
  return few && near.length >= 3 ? near[near.length - 1]! : present[present.length - 1]!;
}

/** The least of 1, 2 or 5 times a power of ten that reaches `least`. */
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= least * (1 - 1e-9))!;
}

/** Round marks from 0 up to `top`, about that many: places in the unit of the values, and labels. */
export function ticks(top: number, unit: string, about = 4): { place: number; label: string }[] {
  if (top <= 0) return [{ place: 0, label: "0" }];
  const { divisor, symbol } = scaleOf(unit, [top]);
  const reach = top / divisor;
  const round = roundStep(reach / (about + 0.5));
  const step = unit === "int" ? Math.max(1, round) : round;
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const label = (mark: number) => `${mark.toLocaleString("en", digits)} ${symbol}`.trim();
  return Array.from({ length: Math.floor(reach / step + 1e-9) + 1 }, (_, i) => ({
    place: i * step * divisor,
    label: label(i * step),
  }));
}
