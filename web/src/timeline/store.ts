// What was fetched of each track, and what has to be fetched for a window.
import { getBytes } from "../api";
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

/** Keeps pieces, and asks for those that are missing: one request at a time, dropped when the window has
 * left it. */
export class Store {
  readonly kept = new Map<number, Piece>();
  private asked: { window: Window; tracks: Set<number>; step: number; abort: AbortController } | null = null;
  error: unknown = null;

  /** origin: the recording's first moment; length: until its last; came: called when there is more to draw. */
  constructor(
    private readonly origin: bigint,
    private readonly length: number,
    private readonly came: () => void,
  ) {}

  want(window: Window, tracks: number[], width: number): void {
    const step = spanOf(window) / width;
    const missing = tracks
      .filter((track) => !covers(this.kept.get(track), clipped(window, this.length), step))
      .slice(0, MOST_TRACKS);
    if (!missing.length) return;
    const under = this.asked;
    if (under) {
      const near =
        under.window.from <= Math.max(window.from, 0) &&
        under.window.to >= Math.min(window.to, this.length) &&
        under.step <= 1.6 * step &&
        under.step >= step / 6;
      if (near && missing.some((track) => under.tracks.has(track))) return;
      under.abort.abort();
    }
    void this.fetch(wider(window, -1, this.length + 1), missing, step);
  }

  private async fetch(window: Window, tracks: number[], step: number): Promise<void> {
    const mine = { window, tracks: new Set(tracks), step, abort: new AbortController() };
    this.asked = mine;
    const px = Math.min(16_384, Math.max(1, Math.ceil(spanOf(window) / step)));
    const at = (ps: number) => (this.origin + BigInt(Math.trunc(ps))).toString();
    try {
      const bytes = await getBytes(
        `/api/timeline?from=${at(window.from)}&to=${at(window.to)}&px=${px}&tracks=${tracks.join(",")}`,
        mine.abort.signal,
      );
      for (const [track, piece] of pieces(
        decode(bytes),
        tracks,
        window.from,
        window.to,
        spanOf(window) / px,
      )) {
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
