// Numbers for people, as stepscope/units.py writes them in terminal and Markdown: three digits, one scale for
// a column.

import { plain } from "./plain";
import type { Cell, Column, Row } from "./types";

export const NOTHING = "–";
/** The units of a quantity, each with how many times as large as the one before. */
const unitsOf = (times: number, symbols: string[]): [size: number, symbol: string][] =>
  symbols.map((symbol, i) => [times ** i, symbol]);
export const TIMES = unitsOf(1000, ["ps", "ns", "µs", "ms", "s"]);
const STEPS = new Map([
  ["ps", TIMES],
  ["bytes", unitsOf(1024, ["B", "KiB", "MiB", "GiB", "TiB"])],
]);
const MOST_DECIMALS = 3;
const ALL = 1e-9; // shares that are sums of others miss 1 by less
const FAR = 100; // columns whose largest values lie further apart have scales of their own

export interface Scale {
  unit: string;
  divisor: number;
  symbol: string;
  decimals: number;
  signed?: boolean;
}

const isNumber = (value: Cell | undefined): value is number =>
  typeof value === "number" && Number.isFinite(value);

/** Decimals that show so many significant digits. */
function decimalsFor(size: number, digits: number): number {
  if (!size) return 0;
  return Math.max(0, digits - 1 - Math.floor(Math.log10(Number(size.toPrecision(digits))) + 1e-9));
}

/** The scale on which all values can be read and compared. */
export function scaleOf(unit: string, values: Iterable<Cell | undefined>): Scale {
  const sizes = [...values].filter(isNumber).map(Math.abs);
  const largest = sizes.reduce((a, b) => Math.max(a, b), 0);
  const smallest = sizes.reduce((a, b) => (b ? Math.min(a, b) : a), largest);
  if (unit === "ratio") return { unit, divisor: 0.01, symbol: "%", decimals: 1 };
  const known = STEPS.get(unit);
  if (!known && (unit !== "float" || sizes.every(Number.isInteger)))
    return { unit, divisor: 1, symbol: "", decimals: 0 };
  const steps = known ?? [[1, ""]];
  let at = Math.max(
    steps.findLastIndex(([size]) => largest * 2000 >= size * 1999),
    0,
  );
  const wide = smallest * 1000 < largest && largest < 10 * steps[at]![0];
  if (wide && at > 0) at--; // 1,767 ms and 0.9 ms are both readable, 1.77 s and 0.00 s are not
  const [divisor, symbol] = steps[at]!;
  if (divisor === 1 && known) return { unit, divisor, symbol, decimals: 0 };
  const wished = Math.min(decimalsFor(smallest / divisor, 3), decimalsFor(largest / divisor, 4));
  return {
    unit,
    divisor,
    symbol,
    decimals: Math.min(MOST_DECIMALS, Math.max(decimalsFor(largest / divisor, 3), wished, wide ? 1 : 0)),
  };
}

/** Whether no one scale shows three digits of most values: times and sizes a hundred times apart. */
export function lieApart(unit: string, values: Iterable<Cell | undefined>): boolean {
  const sizes = [...values].filter(isNumber).map(Math.abs).filter(Boolean);
  return STEPS.has(unit) && Math.max(...sizes, 0) > 100 * Math.min(...sizes, Infinity);
}

/** Scales of the columns of a table. Columns of one kind share theirs unless one is far smaller. */
export function scalesOf(columns: Column[], rows: Row[]): Scale[] {
  const values = columns.map((c) => rows.map((row) => row[c.name]));
  const largest = values.map((column) =>
    column.filter(isNumber).reduce((a, b) => Math.max(a, Math.abs(b)), 0),
  );
  return columns.map((c, i) => {
    const like = columns.flatMap((other, k) => (other.unit === c.unit ? [k] : []));
    const top = Math.max(...like.map((k) => largest[k]!));
    const together = like.filter((k) => largest[k]! * FAR >= top || !largest[k]);
    const scale = scaleOf(
      c.unit,
      STEPS.has(c.unit) && together.includes(i) ? together.flatMap((k) => values[k]!) : values[i]!,
    );
    return c.signed ? { ...scale, signed: true } : scale;
  });
}

/** A number without a unit: whole numbers with all their digits, others with six of them. */
export const raw = (value: number): string =>
  Number.isInteger(value) ? value.toLocaleString("en") : String(Number(value.toPrecision(6)));

function moment(ns: number): string {
  const at = new Date(ns / 1e6);
  return Number.isNaN(at.getTime()) ? String(ns) : `${at.toISOString().replace("T", " ").slice(0, 19)} UTC`;
}

/** A value without its symbol, which belongs into the heading. */
export function inScale(value: Cell | undefined, scale: Scale): string {
  if (value === null || value === undefined) return NOTHING;
  if (typeof value === "boolean" || scale.unit === "bool") return value ? "yes" : "no";
  if (typeof value === "object") return plain(JSON.stringify(value));
  if (typeof value === "string") return plain(value);
  if (scale.unit === "text" || scale.unit === "id") return String(value);
  if (scale.unit === "unix_ns") return moment(value);
  if (scale.unit === "") return raw(value);
  const digits = {
    minimumFractionDigits: scale.decimals,
    maximumFractionDigits: scale.decimals,
    roundingMode: "halfEven",
  }; // as Python rounds
  const text = (value / scale.divisor).toLocaleString("en", digits as Intl.NumberFormatOptions);
  // There is a rest, which may be shown beside it, so it is not shown as all.
  if (scale.unit === "ratio" && value < 1 - ALL && Number(text) === 100)
    return `>${(100 - 10 ** -scale.decimals).toFixed(scale.decimals)}`;
  if (!value || /[1-9]/.test(text)) return scale.signed && value > 0 ? `+${text}` : text;
  // It is not zero, so it is not shown as zero.
  return `${value < 0 ? ">-" : "<"}${(10 ** -scale.decimals).toFixed(scale.decimals)}`;
}

/** A value by itself, with its symbol: 12.3 ms, 4.00 GiB, 37.5 %. */
export function show(value: Cell | undefined, unit: string): string {
  const scale = scaleOf(unit, [value]);
  if (isNumber(value) && unit === "float" && value && Math.abs(value) < 10 ** -MOST_DECIMALS)
    return value.toPrecision(3);
  const text = inScale(value, scale);
  return typeof value === "number" && scale.symbol ? `${text} ${scale.symbol}` : text;
}
