// Draws the window on a canvas. Knows nothing of requests and of what the mouse does.
import { duration } from "../format";
import { type Colouring, Colours, textOn } from "./colours";
import { Columns } from "./columns";
import type { Ink } from "./ink";
import { LANE, type Lane } from "./lanes";
import { fitted, labelOf, type Names } from "./names";
import { RULER, ruler } from "./ruler";
import { pixelOf, spanOf, type Window } from "./scale";
import { type Band, drawnSteps } from "./steps";
import type { Piece } from "./store";

/** Below this many pixels a slice has no text. */
const LEAST_TEXT = 28;
// Pixels up to which a cell is a column of a picture: there are tens of thousands of them.
const NARROWEST = 3;
const columns = new Columns();

export interface Series {
  title: string;
  about: string;
  points: [number, number | null][];
}
export interface Arrow {
  fromPs: number;
  fromY: number;
  toPs: number;
  toY: number;
}

export interface Scene {
  width: number;
  height: number;
  /** Of the rows' own page, what lies above the screen. */
  top: number;
  window: Window;
  rows: Lane[];
  pieces: ReadonlyMap<number, Piece>;
  series: ReadonlyMap<string, Series>;
  bands: Band[];
  /** Where recordings begin together: of which of them a track is. Steps are drawn over its tracks only. */
  bandsOf: ((track: number) => number | null) | null;
  names: Names;
  colouring: Colouring;
  selected: bigint | null;
  /** Names that a search found; null when there is none. */
  found: ReadonlySet<number> | null;
  range: Window | null;
  marks: Window[];
  arrows: Arrow[];
}

export function paint(context: CanvasRenderingContext2D, scene: Scene, ink: Ink): void {
  const { width, height } = scene;
  context.fillStyle = ink.card;
  context.fillRect(0, 0, width, height);
  context.font = ink.font;
  context.textBaseline = "middle";
  const drawnTrack = scene.bandsOf && scene.rows.find((row) => row.track)?.track;
  const recording = drawnTrack ? scene.bandsOf!(drawnTrack.track) : null;
  const measure = (text: string) => context.measureText(text).width;
  const stepsOf = (of: number | null) =>
    drawnSteps(
      scene.bandsOf ? scene.bands.filter((band) => band.recording === of) : scene.bands,
      scene.window,
      width,
      measure,
    );
  const steps = stepsOf(recording);
  if (!scene.bandsOf) bands(context, scene, steps.lines, ink, RULER, height);
  const lines = new Map<number | null, Band[]>();
  context.save();
  context.beginPath();
  context.rect(0, RULER, width, height - RULER);
  context.clip();
  columns.clear();
  let seen = false;
  const colours = new Colours(ink, scene.names, scene.colouring);
  for (const row of scene.rows) {
    const y = RULER + row.y - scene.top;
    if (scene.bandsOf && row.track) {
      const of = scene.bandsOf(row.track.track);
      if (!lines.has(of)) lines.set(of, stepsOf(of).lines);
      bands(context, scene, lines.get(of)!, ink, y, row.height);
    }
    context.fillStyle = ink.edge;
    context.fillRect(0, y + row.height - 1, width, 1);
    if (row.kind === "track" && row.track) seen = track(context, scene, ink, colours, row, y) || seen;
    else if (row.kind === "counter") {
      counter(context, scene, ink, row, y);
      seen = true;
    }
  }
  columns.paint(context, LANE - 2);
  spans(context, scene, ink);
  arrows(context, scene, ink);
  context.restore();
  if (!seen) nothingHere(context, scene, ink);
  ruler(context, scene, steps, ink);
}

/** Says where to go when all that is drawn lies outside of the window. */
function nothingHere(context: CanvasRenderingContext2D, scene: Scene, ink: Ink): void {
  const tracks = scene.rows.filter((row) => row.kind === "track");
  if (!tracks.length || tracks.some((row) => !scene.pieces.has(row.track!.track))) return;
  context.fillStyle = ink.quiet;
  const text = "Nothing ran here. Home shows all of the recording, 0 its steps.";
  context.fillText(text, Math.max(8, (scene.width - context.measureText(text).width) / 2), RULER + 60);
}

function bands(
  context: CanvasRenderingContext2D,
  { window, width }: Scene,
  lines: Band[],
  ink: Ink,
  top: number,
  height: number,
): void {
  lines.forEach((band, i) => {
    const left = pixelOf(window, width, band.from),
      right = pixelOf(window, width, band.to);
    context.globalAlpha = i % 2 ? 0.25 : 0.55;
    context.fillStyle = ink.paper;
    context.fillRect(left, top, right - left, height);
    context.globalAlpha = 1;
    context.fillStyle = ink.edge;
    context.fillRect(Math.round(left), top, 1, height);
  });
}

/** What several of a row are. */
export const nounOf = (row: Lane): string => (row.track?.kind === "stacks" ? "calls" : "slices");

function track(
  context: CanvasRenderingContext2D,
  scene: Scene,
  ink: Ink,
  colours: Colours,
  row: Lane,
  y: number,
): boolean {
  const piece = scene.pieces.get(row.track!.track);
  if (!piece) {
    context.fillStyle = ink.quiet;
    context.fillText("…", 6, y + LANE / 2);
    return true;
  }
  let seen = false;
  const { window, width } = scene,
    { cells } = piece,
    scale = width / spanOf(window);
  for (let i = piece.begin; i < piece.end; i++) {
    const lane = row.closed ? 0 : cells.depth[i]!;
    if (row.closed && cells.depth[i]) continue;
    const top = y + lane * LANE;
    if (top > scene.height || top + LANE < RULER) continue;
    const left = (cells.start[i]! + piece.from - window.from) * scale;
    const wide = cells.width[i]! * scale;
    if (left > width || left + wide < 0) continue;
    seen = true;
    const x = Math.max(left, -1),
      w = Math.max(Math.min(left + wide, width + 1) - x, 1);
    const several = cells.count[i]! > 1,
      name = cells.name[i]!;
    const faint = scene.found !== null && !scene.found.has(name);
    // A dense cell is as strong as the part of it that slices cover.
    const alpha =
      (several ? 0.35 + 0.65 * Math.min(1, cells.busy[i]! / (cells.width[i]! || 1)) : 1) * (faint ? 0.25 : 1);
    if (w <= NARROWEST && cells.id[i] !== scene.selected) {
      columns.add(x, w > 2 ? w - 0.5 : w, top + 1, alpha, colours.of(name));
      continue;
    }
    context.globalAlpha = alpha;
    context.fillStyle = colours.of(name);
    context.fillRect(x, top + 1, w > 2 ? w - 0.5 : w, LANE - 2);
    context.globalAlpha = 1;
    if (scene.selected !== null && cells.id[i] === scene.selected) {
      context.strokeStyle = ink.text;
      context.lineWidth = 2;
      context.strokeRect(x, top + 1, Math.max(w, 3), LANE - 2);
    }
    if (w < LEAST_TEXT) continue;
    const text = fitted(
      context,
      several ? `${cells.count[i]!.toLocaleString("en")} ${nounOf(row)}` : labelOf(scene.names, name),
      w - 6,
    );
    if (!text) continue;
    context.fillStyle = textOn(colours.of(name), ink.card, alpha);
    context.fillText(text, x + 3, top + LANE / 2 + 0.5);
  }
  return seen;
}

function counter(
  context: CanvasRenderingContext2D,
  { series, window, width }: Scene,
  ink: Ink,
  row: Lane,
  y: number,
): void {
  const points = series.get(String(row.key))?.points;
  if (!points?.length) return;
  const values = points.map(([, v]) => v).filter((v) => v !== null);
  const low = Math.min(0, ...values),
    high = Math.max(...values, low + 1e-9);
  const at = (v: number) => y + row.height - 4 - ((v - low) / (high - low)) * (row.height - 14);
  context.strokeStyle = ink.accent;
  context.lineWidth = 1.25;
  context.beginPath();
  let last: number | null = null;
  for (const [ps, v] of points) {
    const x = pixelOf(window, width, ps);
    if (v !== null) {
      if (last === null) context.moveTo(x, at(v));
      else {
        context.lineTo(x, at(last));
        context.lineTo(x, at(v));
      }
    }
    last = v;
  }
  if (last !== null) context.lineTo(width, at(last));
  context.stroke();
}

function spans(
  context: CanvasRenderingContext2D,
  { window, width, height, range, marks }: Scene,
  ink: Ink,
): void {
  for (const span of [...marks, ...(range ? [range] : [])]) {
    const left = pixelOf(window, width, span.from),
      right = pixelOf(window, width, span.to);
    if (right < 0 || left > width) continue;
    context.fillStyle = ink.accent;
    context.globalAlpha = span === range ? 0.18 : 0.1;
    context.fillRect(left, RULER, Math.max(right - left, 1), height);
    context.globalAlpha = 1;
    context.fillRect(left, RULER, 1, height);
    context.fillRect(right, RULER, 1, height);
    const text = duration(span.to - span.from),
      room = context.measureText(text).width;
    context.fillStyle = ink.card;
    const x = Math.min(Math.max((left + right - room) / 2, 2), width - room - 2);
    context.fillRect(x - 3, RULER + 2, room + 6, 16);
    context.fillStyle = ink.text;
    context.fillText(text, x, RULER + 10);
  }
}

function arrows(context: CanvasRenderingContext2D, { arrows, window, width }: Scene, ink: Ink): void {
  context.strokeStyle = context.fillStyle = ink.text;
  context.lineWidth = 1;
  for (const { fromPs, fromY, toPs, toY } of arrows) {
    const x0 = pixelOf(window, width, fromPs),
      x1 = pixelOf(window, width, toPs);
    if (Math.max(x0, x1) < 0 || Math.min(x0, x1) > width) continue;
    const bend = Math.max(20, Math.abs(x1 - x0) / 3);
    context.beginPath();
    context.moveTo(x0, fromY);
    context.bezierCurveTo(x0 + bend, fromY, x1 - bend, toY, x1, toY);
    context.stroke();
    context.beginPath();
    context.moveTo(x1, toY);
    context.lineTo(x1 - 6, toY - 3);
    context.lineTo(x1 - 6, toY + 3);
    context.fill();
  }
}
