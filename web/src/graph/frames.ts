// Which part of a drawing is shown: frames in units of the drawing, windows in pixels.

import type { Box } from "./level";

export interface Frame {
  x: number;
  y: number;
  wide: number;
  high: number;
}
/** The size of a window, in pixels. */
export interface Size {
  width: number;
  height: number;
}
/** What a window shows: its corner, and units of the drawing for a pixel. */
export interface Window {
  x: number;
  y: number;
  unit: number;
}

const LEAST_UNIT = 0.7; // units per pixel: a few boxes are not blown up
const MOST_UNIT = 1; // to begin with: letters are 11 pixels high then, at least

/** The frame that shows all boxes, with room around them. */
export function frameOf(boxes: readonly Box[]): Frame {
  let right = 1,
    low = 1;
  for (const box of boxes) {
    right = Math.max(right, box.x + box.width);
    low = Math.max(low, box.y + box.height);
  }
  return { x: -20, y: -20, wide: right + 40, high: low + 40 };
}

/** A frame around some boxes in which every label can be read: where they need more room, it shows those
 * around `centre`. */
export function readableFrame(boxes: readonly Box[], size: Size, centre: Box | undefined): Frame {
  const left = boxes.reduce((least, b) => Math.min(least, b.x), Infinity) - 20,
    top = boxes.reduce((least, b) => Math.min(least, b.y), Infinity) - 20,
    right = boxes.reduce((most, b) => Math.max(most, b.x + b.width), -Infinity) + 20,
    low = boxes.reduce((most, b) => Math.max(most, b.y + b.height), -Infinity) + 20;
  const fits = Math.max((right - left) / size.width, (low - top) / size.height);
  const unit = Math.min(Math.max(LEAST_UNIT, fits), MOST_UNIT);
  const wide = size.width * unit,
    high = size.height * unit;
  // All of it in the middle, or what is around the box.
  const along = (begin: number, end: number, room: number, at: number) =>
    end - begin <= room ? (begin + end - room) / 2 : at - room / 2;
  return {
    x: along(left, right, wide, centre ? centre.x + centre.width / 2 : (left + right) / 2),
    y: along(top, low, high, centre ? centre.y + centre.height / 2 : top + high / 2),
    wide,
    high,
  };
}

/** The frame to begin with: all boxes where they can be read then, else those around the one that takes most
 * time; without times the first ones. */
export function firstFrame(boxes: readonly Box[], size: Size): Frame {
  if (!boxes.length) return frameOf(boxes);
  const busiest = boxes.reduce((most, b) => (b.time_ps > most.time_ps ? b : most));
  return readableFrame(boxes, size, busiest.time_ps > 0 ? busiest : undefined);
}

/** The frame `factor` times as large around a point of it. */
export const scaled = (frame: Frame, factor: number, x: number, y: number): Frame => ({
  x: x - (x - frame.x) * factor,
  y: y - (y - frame.y) * factor,
  wide: frame.wide * factor,
  high: frame.high * factor,
});

/** What a window of some pixels shows when all of a frame has to fit in: its corner, and units of the
 * drawing for a pixel. */
export function shownOf(frame: Frame, size: Size): Window {
  const unit = Math.max(frame.wide / size.width, frame.high / size.height);
  return {
    x: frame.x + frame.wide / 2 - (size.width / 2) * unit,
    y: frame.y + frame.high / 2 - (size.height / 2) * unit,
    unit,
  };
}

/** The places of the boxes that a window shows at least partly. */
export function seenBoxes(boxes: readonly Box[], window: Window, size: Size): number[] {
  const right = window.x + size.width * window.unit,
    low = window.y + size.height * window.unit;
  const found: number[] = [];
  boxes.forEach((b, i) => {
    if (b.x < right && b.x + b.width > window.x && b.y < low && b.y + b.height > window.y) found.push(i);
  });
  return found;
}
