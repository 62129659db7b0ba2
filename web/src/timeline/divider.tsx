// A line between two parts of the page that can be dragged, and moved with the arrow keys; its place is kept.
import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { keep, recall } from "../theme";

export interface Place {
  pixels: Signal<number>;
  key: string;
  least: number;
  most: number;
}

/** A length that is kept for the next visit. */
export function placeOf(key: string, usual: number, least: number, most: number): Place {
  const stored = Number(recall(key) ?? Number.NaN);
  return { pixels: signal(Number.isFinite(stored) && stored >= least ? stored : usual), key, least, most };
}

const STEP = 16;

/** across: the line stands upright, and what is left of it grows; else it lies, and what is below grows. */
export function Divider({ of, across, label }: { of: Place; across: boolean; label: string }): JSX.Element {
  const set = (pixels: number) => {
    const room = across ? innerWidth - 200 : innerHeight - 200;
    of.pixels.value = Math.round(
      Math.min(Math.max(pixels, of.least), Math.max(Math.min(of.most, room), of.least)),
    );
  };
  const remember = () => keep(of.key, String(of.pixels.value));
  return (
    <div
      class={across ? "tl-divider upright" : "tl-divider"}
      role="separator"
      tabIndex={0}
      aria-orientation={across ? "vertical" : "horizontal"}
      aria-label={label}
      aria-valuenow={of.pixels.value}
      aria-valuemin={of.least}
      aria-valuemax={of.most}
      title={`${label}: drag, or press the arrow keys`}
      onPointerDown={(e) => {
        e.preventDefault();
        const line = e.currentTarget,
          begin = across ? e.clientX : e.clientY,
          was = of.pixels.value;
        line.setPointerCapture(e.pointerId);
        line.onpointermove = (now) => set(was + (across ? now.clientX - begin : begin - now.clientY));
        line.onpointerup = line.onpointercancel = () => {
          line.onpointermove = line.onpointerup = line.onpointercancel = null;
          remember();
        };
      }}
      onKeyDown={(e) => {
        const by = { ArrowLeft: -STEP, ArrowRight: STEP, ArrowUp: STEP, ArrowDown: -STEP }[e.key];
        if (by === undefined) return;
        set(of.pixels.value + by);
        remember();
        e.preventDefault();
        e.stopPropagation();
      }}
    />
  );
}
