// What a counter is called and how large it became. The unit is the ending of its series (rss_bytes,
// traced_ns); recordings tell no other.
import { show } from "../scale";

const UNITS: [ending: string, unit: string, scale: number][] = [
  ["bytes", "bytes", 1],
  ["ns", "ps", 1e3],
  ["us", "ps", 1e6],
  ["ms", "ps", 1e9],
];

const unitOf = (series: string) =>
  UNITS.find(([ending]) => series === ending || series.endsWith(`_${ending}`));

/** "machine memory · available" for the series available_bytes of the counter machine memory. */
export function titleOfCounter(name: string, series: string): string {
  const ending = unitOf(series)?.[0];
  const detail = (ending ? series.slice(0, -ending.length) : series).replaceAll("_", " ").trim();
  return [name, detail !== name && detail].filter(Boolean).join(" · ");
}

/** The largest value of a counter in the window. */
export function most(points: [number, number | null][], series: string): string {
  const values = points.flatMap(([, value]) => (value === null ? [] : [value]));
  if (!values.length) return "";
  const largest = values.reduce((a, b) => Math.max(a, b)),
    known = unitOf(series);
  if (known) return `at most ${show(largest * known[2], known[1])}`;
  return `at most ${largest.toLocaleString("en", { maximumSignificantDigits: 6 })}`;
}
