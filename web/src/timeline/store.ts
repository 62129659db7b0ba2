// What was fetched of each track, and what has to be fetched for a window.

import { getBytes } from "../api";
import { groupsOf } from "../groups";
import type { Catalog } from "../types";
import { type Cells, decode } from "./frame";
import { spanOf, type Window } from "./scale";

/** Cells of one track: rows begin to end of a frame, of a window that begins at `from`. */
export interface Piece {
  from: number;
  to: number;
  step: number;
  cells: Cells;
  begin: number;
  end: number;
}

const MOST_TRACKS = 60;
const MOST_CELLS = 2_000_000;

/** True when a piece shows a window as finely as the screen does. */
export const covers = (piece: Piece | undefined, window: Window, step: number): boolean =>
  piece !== undefined &&
  piece.from <= window.from &&
  piece.to >= window.to &&
  piece.step <= 1.6 * step &&
  piece.step >= step / 6;

/** The window with as much again on both sides, so that a pan finds what it uncovers. */
export function wider(window: Window, first: number, last: number): Window {
  const by = spanOf(window) / 2;
  return {
    from: Math.max(Math.floor(window.from - by), first),
    to: Math.min(Math.ceil(window.to + by), last),
  };
}

/** Splits a frame into the pieces of its tracks; cells come in the order of the tracks that were asked for. */
export function pieces(
  cells: Cells,
  tracks: number[],
  from: number,
  to: number,
  step: number,
): Map<number, Piece> {
  const found = new Map<number, Piece>();
  let begin = 0;
  tracks.forEach((track, place) => {
    let end = begin;
    while (end < cells.length && cells.track[end] === place) end++;
    found.set(track, { from, to, step, cells, begin, end });
    begin = end;
  });
  return found;
}

/** Where recordings lie. */
export interface Axis {
  readonly catalog: Pick<Catalog, "most_px">;
  /** A window of tracks with such a shift, as the server is asked for it. */
  query: (window: Window, shift: number) => string;
  /** From the first moment of all to the last one. */
  length: () => number;
  /** What is taken off the times of a track, where recordings begin together. */
  shiftOf: (track: number) => number;
}

/** Keeps pieces, and asks for those that are missing: one request at a time, dropped when the window has
 * left it. */
export class Store {
  readonly kept = new Map<number, Piece>();
  private asked: { window: Window; tracks: Set<number>; step: number; abort: AbortController } | null = null;
  error: unknown = null;

  /** axis: where the recordings lie on it; came: called when there is more to draw. */
  constructor(
    private readonly axis: Axis,
    private readonly came: () => void,
  ) {}

  /** Forgets everything: the axis has changed. */
  clear(): void {
    this.asked?.abort.abort();
    this.asked = null;
    this.kept.clear();
  }

  want(window: Window, tracks: number[], width: number): void {
    const step = spanOf(window) / width,
      length = this.axis.length();
    const missing = tracks
      .filter((track) => !covers(this.kept.get(track), clipped(window, length), step))
      .slice(0, MOST_TRACKS);
    if (!missing.length) return;
    const under = this.asked;
    if (under) {
      const near =
        under.window.from <= Math.max(window.from, 0) &&
        under.window.to >= Math.min(window.to, length) &&
        under.step <= 1.6 * step &&
        under.step >= step / 6;
      if (near && missing.some((track) => under.tracks.has(track))) return;
      under.abort.abort();
    }
    void this.fetch(wider(window, -1, length + 1), missing, step);
  }

  private async fetch(window: Window, tracks: number[], step: number): Promise<void> {
    const mine = { window, tracks: new Set(tracks), step, abort: new AbortController() };
    this.asked = mine;
    const px = Math.min(this.axis.catalog.most_px, Math.max(1, Math.ceil(spanOf(window) / step)));
    const ask = async ([shift, some]: [number, number[]]) => {
      const span = this.axis.query(window, shift);
      const bytes = await getBytes(
        `/api/timeline?${span}&px=${px}&tracks=${some.join(",")}`,
        mine.abort.signal,
      );
      return pieces(decode(bytes), some, window.from, window.to, spanOf(window) / px);
    };
    try {
      const found = await Promise.all([...groupsOf(tracks, this.axis.shiftOf)].map(ask));
      for (const [track, piece] of found.flatMap((some) => [...some])) {
        this.kept.delete(track); // the latest last, so that the first are the oldest
        this.kept.set(track, piece);
      }
      this.forget(mine.tracks);
      this.error = null;
    } catch (failure) {
      if (failure instanceof DOMException && failure.name === "AbortError") return;
      this.error = failure;
    } finally {
      if (this.asked === mine) this.asked = null;
    }
    this.came();
  }

  private forget(recent: Set<number>): void {
    let cells = 0;
    for (const piece of this.kept.values()) cells += piece.end - piece.begin;
    for (const [track, piece] of this.kept) {
      if (cells <= MOST_CELLS) break;
      if (recent.has(track)) continue;
      cells -= piece.end - piece.begin;
      this.kept.delete(track);
    }
  }
}

const clipped = (window: Window, length: number): Window => ({
  from: Math.max(window.from, -1),
  to: Math.min(window.to, length + 1),
});
