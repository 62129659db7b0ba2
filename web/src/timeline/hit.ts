// What is under the mouse.
import { LANE, type Lane } from "./lanes";
import { RULER } from "./ruler";
import { psAt, spanOf, type Window } from "./scale";
import type { Piece } from "./store";

export interface Hit {
  row: Lane;
  piece: Piece;
  cell: number;
}

/** The row at a height of the screen; the page's rows begin below the ruler. */
export const rowAt = (rows: Lane[], y: number, top: number): Lane | null =>
  (y < RULER ? null : rows.find((row) => y - RULER + top >= row.y && y - RULER + top < row.y + row.height)) ??
  null;

/** The cell at a place of the screen, or within two pixels of it. */
export function cellAt(
  rows: Lane[],
  pieces: ReadonlyMap<number, Piece>,
  window: Window,
  width: number,
  top: number,
  x: number,
  y: number,
): Hit | null {
  const row = rowAt(rows, y, top);
  const piece = row?.track ? pieces.get(row.track.track) : undefined;
  if (!row || !piece) return null;
  const depth = row.closed ? 0 : Math.floor((y - RULER + top - row.y) / LANE);
  const ps = psAt(window, width, x) - piece.from,
    near = (2 * spanOf(window)) / width;
  let best: { cell: number; away: number } | null = null;
  for (let i = piece.begin; i < piece.end; i++) {
    if (piece.cells.depth[i] !== depth) continue;
    const start = piece.cells.start[i]!,
      end = start + piece.cells.width[i]!;
    const away = ps < start ? start - ps : ps > end ? ps - end : 0;
    if (away <= near && (best === null || away < best.away)) best = { cell: i, away };
    if (away === 0) break;
  }
  return best && { row, piece, cell: best.cell };
}
