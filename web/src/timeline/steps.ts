// Which steps have lines over the tracks, and which their title or number on the ruler. Decided for all steps
// of the window together: steps of uneven length that are judged one by one look as if some were missing.
import { pixelOf, spanOf, type Window } from "./scale";

/** A step. short: what is written where the title has no room. */
export interface Band {
  from: number;
  to: number;
  step: number;
  title: string;
  short: string;
  averaged: boolean;
  /** Of which recording, by its place among all. */
  recording?: number | null;
}
interface Label {
  x: number;
  text: string;
  averaged: boolean;
}
export interface Drawn {
  /** Those with a line and a shade over all tracks: all that are seen, or none. */
  lines: Band[];
  labels: Label[];
}

/** Pixels that at least half of the steps must have for lines that tell them apart. */
export const NARROW = 16;
const MARGIN = 6;
const RHYTHM = [1, 2, 5];

/** measure: pixels of a text. */
export function drawnSteps(
  bands: Band[],
  window: Window,
  width: number,
  measure: (text: string) => number,
): Drawn {
  const seen = bands.filter((band) => band.to > window.from && band.from < window.to);
  if (!seen.length) return { lines: [], labels: [] };
  const scale = width / spanOf(window);
  const half = (pixels: number) =>
    2 * seen.filter((band) => (band.to - band.from) * scale >= pixels).length >= seen.length;
  const room = (text: (band: Band) => string) =>
    measure(seen.reduce((longest, band) => (text(band).length > longest.length ? text(band) : longest), "")) +
    MARGIN;
  const whole = half(room((band) => band.title)),
    least = room((band) => band.short);
  const every = whole ? 1 : rhythm((n) => half(least / n), seen.length);
  const labels: Label[] = [];
  let free = -1;
  for (const band of seen) {
    if (band.step % every) continue;
    const x = Math.max(pixelOf(window, width, band.from), 0) + 4;
    const end = every > 1 ? width : Math.min(pixelOf(window, width, band.to), width);
    // Where all others have titles, a short step still has its number.
    const text = (whole ? [band.title, band.short] : [band.short]).find((one) => x + measure(one) <= end - 2);
    if (text === undefined || x < free) continue;
    labels.push({ x, text, averaged: band.averaged });
    free = x + measure(text) + MARGIN;
  }
  return { lines: half(NARROW) ? seen : [], labels };
}

/** The first of 1, 2, 5, 10, 20... that has room, or the last that is not more than there are. */
function rhythm(fits: (n: number) => boolean, most: number): number {
  for (let power = 1; ; power *= 10) {
    for (const n of RHYTHM) if (fits(n * power) || n * power > most) return n * power;
  }
}
