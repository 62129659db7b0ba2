// The axis of a chart that goes up from zero: marks beside it, and rules across.

import type { JSX } from "preact";
import { ticks } from "./axis";

const ROOM = 1.04; // above the highest mark or value, whichever is higher

export interface Rise {
  marks: { place: number; label: string }[];
  /** The value at the top. */
  room: number;
  /** Pixels from the top. */
  y: (value: number) => number;
}

/** The axis for values up to `top` on so many pixels. */
export function riseOf(top: number, unit: string, high: number): Rise {
  const marks = ticks(top, unit);
  const room = Math.max(top, marks[marks.length - 1]!.place) * ROOM;
  return { marks, room, y: (value) => high * (1 - Math.min(value, room) / room) };
}

export const Marks = ({ of: { marks, y }, high }: { of: Rise; high: number }): JSX.Element => (
  <svg class="marks" height={high} aria-hidden="true">
    {marks.map((mark) => (
      <text x="100%" y={y(mark.place)} dy="4">
        {mark.label}
      </text>
    ))}
  </svg>
);

export const Rules = ({ of: { marks, y }, wide }: { of: Rise; wide: number | string }): JSX.Element => (
  <>
    {marks.map((mark) => (
      <line class="rule" x1="0" x2={wide} y1={y(mark.place)} y2={y(mark.place)} />
    ))}
  </>
);
