// The whole axis in a strip: where there is work, where the steps are, and what of it is in the window.

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { getBytes } from "../api";
import { groupsOf } from "../groups";
import type { Board } from "./board";
import { decode } from "./frame";
import type { Ink } from "./ink";
import { spanOf, type Window, within } from "./scale";

const HIGH = 30;
const MOST_TRACKS = 60; // those with most slices tell where there is work
const EDGE = 5; // pixels beside an edge of the window in which it is taken hold of
const LEAST = 3; // pixels below which a drag is a click

/** For each pixel how much of it tracks are busy, added up. */
async function loads(board: Board, px: number, abort: AbortSignal): Promise<Float64Array> {
  const { lay } = board,
    whole = lay.length();
  const most = [...board.catalog.tracks].sort((a, b) => b.slices - a.slices).slice(0, MOST_TRACKS);
  const found = new Float64Array(px);
  const tracks = most.filter((one) => one.slices > 0).map((one) => one.track);
  for (const [shift, some] of groupsOf(tracks, lay.shiftOf)) {
    const span = `${lay.query({ from: 0, to: whole }, shift)}&px=${px}`;
    const cells = decode(await getBytes(`/api/timeline?${span}&tracks=${some.join(",")}`, abort));
    for (let i = 0; i < cells.length; i++) {
      if (cells.depth[i]) continue;
      const from = (cells.start[i]! / whole) * px,
        to = ((cells.start[i]! + cells.width[i]!) / whole) * px,
        part = cells.count[i]! > 1 ? cells.busy[i]! / (cells.width[i]! || 1) : 1;
      for (let x = Math.max(0, Math.floor(from)); x < Math.min(px, Math.max(to, from + 1)); x++)
        found[x]! += part * Math.min(1, Math.max(0.2, Math.min(x + 1, to) - Math.max(x, from)));
    }
  }
  return found;
}

export function Minimap({ board, ink }: { board: Board; ink: () => Ink | null }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null),
    load = useRef<Float64Array | null>(null);
  const { width } = board.size.value,
    window = board.window.value,
    together = board.together.value,
    drawn = board.drawn.value;
  useEffect(() => {
    const abort = new AbortController();
    load.current = null;
    loads(board, Math.min(Math.max(Math.round(width), 1), 4000), abort.signal).then(
      (found) => {
        load.current = found;
        board.redraw();
      },
      () => undefined, // the timeline below says what is wrong
    );
    return () => abort.abort();
  }, [board, width, together]);
  useEffect(() => {
    const context = canvas.current!.getContext("2d")!,
      colours = ink();
    if (colours) draw(context, board, colours, load.current, width, window);
  }, [board, width, window, drawn]);
  useEffect(() => hold(canvas.current!, board), [board]);
  return (
    <canvas
      ref={canvas}
      class="tl-map"
      style={{ height: `${HIGH}px` }}
      role="img"
      aria-label="The whole recording: drag to choose what is shown below"
      title="Drag to choose what is shown below"
    />
  );
}

function draw(
  context: CanvasRenderingContext2D,
  board: Board,
  ink: Ink,
  load: Float64Array | null,
  width: number,
  window: Window,
): void {
  const ratio = devicePixelRatio || 1,
    area = context.canvas;
  area.width = Math.round(width * ratio);
  area.height = Math.round(HIGH * ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = ink.card;
  context.fillRect(0, 0, width, HIGH);
  const x = (ps: number) => (ps / board.whole) * width;
  context.fillStyle = ink.accent;
  context.globalAlpha = 0.55;
  for (const { from, to } of board.lay.steps())
    context.fillRect(x(from), HIGH - 4, Math.max(x(to) - x(from) - 0.5, 0.5), 4);
  if (load) {
    const top = load.reduce((most, one) => Math.max(most, one), 1e-9);
    context.fillStyle = ink.quiet;
    context.globalAlpha = 0.8;
    load.forEach((one, i) => {
      const high = one ? Math.max(1, (HIGH - 8) * (one / top)) : 0;
      context.fillRect((i * width) / load.length, HIGH - 5 - high, width / load.length, high);
    });
  }
  const left = Math.max(x(window.from), 0),
    right = Math.min(x(window.to), width);
  context.globalAlpha = 0.55;
  context.fillStyle = ink.paper;
  context.fillRect(0, 0, left, HIGH);
  context.fillRect(right, 0, width - right, HIGH);
  context.globalAlpha = 1;
  context.strokeStyle = ink.accent;
  context.lineWidth = 2;
  context.strokeRect(left + 1, 1, Math.max(right - left - 2, 2), HIGH - 2);
}

/** What the mouse does: inside the window it moves it, at its edges it changes it, elsewhere it draws another. */
function hold(canvas: HTMLCanvasElement, board: Board): () => void {
  let drag: { kind: "move" | "from" | "to" | "new"; x: number; window: Window; far: boolean } | null = null;
  const at = (e: PointerEvent) => {
    const box = canvas.getBoundingClientRect();
    return ((e.clientX - box.left) / box.width) * board.whole;
  };
  const near = () => (EDGE / Math.max(canvas.clientWidth, 1)) * board.whole;
  const kind = (ps: number) => {
    const { from, to } = board.window.value;
    const wide = to - from > 6 * near();
    if (wide && Math.abs(ps - from) < near()) return "from";
    if (wide && Math.abs(ps - to) < near()) return "to";
    const whole = to - from > 0.98 * board.whole; // moves nowhere
    return ps > from && ps < to && !whole ? "move" : "new";
  };
  const onDown = (e: PointerEvent) => {
    if (e.button) return;
    canvas.setPointerCapture(e.pointerId);
    drag = { kind: kind(at(e)), x: at(e), window: board.window.value, far: false };
  };
  const onMove = (e: PointerEvent) => {
    const now = at(e);
    if (!drag) {
      canvas.style.cursor = { move: "grab", from: "ew-resize", to: "ew-resize", new: "crosshair" }[kind(now)];
      return;
    }
    drag.far ||= Math.abs(now - drag.x) > (LEAST / Math.max(canvas.clientWidth, 1)) * board.whole;
    if (!drag.far) return;
    const { from, to } = drag.window,
      by = now - drag.x;
    const [a, b] = {
      move: [from + by, to + by],
      from: [now, to],
      to: [from, now],
      new: [drag.x, now],
    }[drag.kind] as [number, number];
    board.window.value = within({ from: Math.min(a, b), to: Math.max(a, b) }, board.whole);
  };
  const onUp = () => {
    if (drag && !drag.far) {
      const half = spanOf(board.window.value) / 2;
      board.window.value = within({ from: drag.x - half, to: drag.x + half }, board.whole);
    }
    drag = null;
  };
  canvas.addEventListener("pointerdown", onDown);
  canvas.addEventListener("pointermove", onMove);
  canvas.addEventListener("pointerup", onUp);
  return () => {
    canvas.removeEventListener("pointerdown", onDown);
    canvas.removeEventListener("pointermove", onMove);
    canvas.removeEventListener("pointerup", onUp);
  };
}
