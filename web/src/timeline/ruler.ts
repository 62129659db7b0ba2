// The ruler above the rows: times, and below them the steps.
import { TIMES } from "../scale";
import type { Ink } from "./ink";
import { pixelOf, ticks, type Window } from "./scale";
import type { Drawn } from "./steps";

export const RULER = 40;
const SCALE = 19; // of the ruler, the part above that tells times; below are the steps

/** A moment on the ruler, with as many digits as tell it from its neighbours. */
export function moment(ps: number, step: number): string {
  const [factor, unit] = TIMES.findLast(([size]) => Math.max(Math.abs(ps), step) >= size) ?? TIMES[0]!;
  const digits = Math.max(0, Math.ceil(-Math.log10(step / factor) - 1e-9));
  const number = (ps / factor).toFixed(Math.min(digits, 12));
  return `${digits ? number : Number(number).toLocaleString("en")} ${unit}`;
}

const MOST_LABEL = 11; // characters between two ticks

/** What is written at ticks: where whole moments are too long, the first, and how much later the others
 * are. */
export function labels(at: number[], step: number): string[] {
  const whole = at.map((ps) => moment(ps, step));
  if (whole.every((label) => label.length <= MOST_LABEL)) return whole;
  return at.map((ps, i) => (i ? `+${moment(ps - at[0]!, step)}` : whole[0]!));
}

export function ruler(
  context: CanvasRenderingContext2D,
  { window, width }: { window: Window; width: number },
  { labels: named, lines }: Drawn,
  ink: Ink,
): void {
  context.fillStyle = ink.paper;
  context.fillRect(0, 0, width, RULER);
  lines.forEach((band, i) => {
    const left = pixelOf(window, width, band.from),
      right = pixelOf(window, width, band.to);
    context.globalAlpha = i % 2 ? 0.5 : 1;
    context.fillStyle = ink.card;
    context.fillRect(left, SCALE, right - left, RULER - SCALE);
    context.globalAlpha = 1;
    context.fillStyle = ink.edge;
    context.fillRect(Math.round(left), SCALE, 1, RULER - SCALE);
  });
  context.fillStyle = ink.edge;
  context.fillRect(0, SCALE, width, 1);
  context.fillRect(0, RULER - 1, width, 1);
  const { at, step } = ticks(window, width, 90);
  const written = labels(at, step);
  let until = -1;
  at.forEach((ps, i) => {
    const x = Math.round(pixelOf(window, width, ps));
    context.fillStyle = ink.edge;
    context.fillRect(x, 0, 1, SCALE);
    context.fillStyle = ink.quiet;
    if (x + 4 < until) return;
    context.fillText(written[i]!, x + 4, 10);
    until = x + 10 + context.measureText(written[i]!).width;
  });
  for (const { x, text, averaged } of named) {
    context.fillStyle = ink.edge;
    context.fillRect(Math.round(x - 4), SCALE, 1, RULER - SCALE);
    context.fillStyle = averaged ? ink.text : ink.quiet;
    context.fillText(text, x, 30);
  }
}
