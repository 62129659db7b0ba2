// The window on the axis of time. Times are picoseconds after the recording's first moment, as doubles: what
// a double cannot tell apart, a screen cannot either.

import { roundStep } from "../axis";

export interface Window {
  from: number;
  to: number;
}

/** The shortest window: at less, pixels are finer than picoseconds. */
export const LEAST_PS = 1000;

export const spanOf = (window: Window): number => window.to - window.from;
export const pixelOf = (window: Window, width: number, ps: number): number =>
  ((ps - window.from) / spanOf(window)) * width;
export const psAt = (window: Window, width: number, pixel: number): number =>
  window.from + (pixel / width) * spanOf(window);

/** A window within the recording, which is `whole` long, with a margin of 2 % on both sides. */
export function within(window: Window, whole: number): Window {
  const margin = 0.02 * whole + LEAST_PS / 2;
  const span = Math.min(Math.max(spanOf(window), LEAST_PS), whole + 2 * margin);
  const from = Math.min(Math.max(window.from, -margin), whole + margin - span);
  return { from, to: from + span };
}

/** The window `factor` times as long, with the moment `around` where it was on the screen. */
export function zoomed(window: Window, around: number, factor: number, whole: number): Window {
  const span = Math.max(spanOf(window) * factor, LEAST_PS);
  const part = (around - window.from) / spanOf(window);
  return within({ from: around - part * span, to: around + (1 - part) * span }, whole);
}

/** The window moved by a part of its length. */
export function moved(window: Window, part: number, whole: number): Window {
  const by = part * spanOf(window);
  return within({ from: window.from + by, to: window.to + by }, whole);
}

/** A window that shows a span with room around it. */
export function showing(from: number, to: number, whole: number): Window {
  const room = Math.max(0.5 * (to - from), LEAST_PS);
  return within({ from: from - room, to: to + room }, whole);
}

/** Moments to label on the ruler: multiples of 1, 2 or 5 times a power of ten, at least `apart` pixels from
 * each other. */
export function ticks(window: Window, width: number, apart: number): { at: number[]; step: number } {
  const step = Math.max(1, roundStep((spanOf(window) * apart) / width));
  const at: number[] = [];
  for (let n = Math.ceil(window.from / step); n * step <= window.to; n++) at.push(n * step);
  return { at, step };
}

/** Something that was recorded in one go: where it lies, and of whom it is. */
export interface Stretch extends Window {
  title: string;
}

/** Recordings by where they lie; those that overlap are one stretch, named after all of them. */
export function stretchesOf(sources: Stretch[]): Stretch[] {
  const found: (Stretch & { titles: Set<string> })[] = [];
  for (const source of [...sources].sort((a, b) => a.from - b.from)) {
    const last = found[found.length - 1];
    if (last && source.from <= last.to) {
      last.to = Math.max(last.to, source.to);
      last.titles.add(source.title);
    } else found.push({ ...source, titles: new Set([source.title]) });
  }
  return found.map(({ from, to, titles }) => ({ from, to, title: [...titles].join(", ") }));
}

/** Which part of the whole is covered by stretches. */
export const covered = (stretches: Stretch[], whole: number): number =>
  stretches.reduce((sum, { from, to }) => sum + to - from, 0) / whole;
