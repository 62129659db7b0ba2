// What mouse, wheel and fingers do on the canvas: the habits of chrome://tracing and Perfetto.
import type { Board } from "./board";
import { rowAt } from "./hit";
import { RULER } from "./ruler";
import { moved, psAt, spanOf, type Window, within, zoomed } from "./scale";

const CLICK = 4; // pixels that a click may wander

/** Attaches to the canvas; returns what detaches. */
export function mouse(canvas: HTMLCanvasElement, board: Board, scroll: (by: number) => void): () => void {
  const width = () => board.size.value.width;
  const place = (e: { clientX: number; clientY: number }) => {
    const box = canvas.getBoundingClientRect();
    return { x: e.clientX - box.left, y: e.clientY - box.top };
  };
  const fingers = new Map<number, { x: number; y: number }>();
  let drag: { x: number; y: number; window: Window; range: boolean; far: boolean } | null = null;

  const onWheel = (e: WheelEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) {
      e.preventDefault();
      board.zoom(board.at(place(e).x), Math.exp(Math.min(Math.max(e.deltaY, -120), 120) * 0.004));
    } else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      e.preventDefault();
      board.window.value = moved(board.window.value, (e.deltaX || e.deltaY) / width(), board.whole);
    }
  };
  const onDown = (e: PointerEvent) => {
    if (e.button !== 0) return;
    canvas.setPointerCapture(e.pointerId);
    canvas.dataset.pointed = ""; // who points sees where that is: the frame is for keys
    canvas.focus({ preventScroll: true });
    const at = place(e);
    fingers.set(e.pointerId, at);
    drag = { ...at, window: board.window.value, range: e.shiftKey || at.y < RULER, far: false };
  };
  const onMove = (e: PointerEvent) => {
    const at = place(e),
      before = fingers.get(e.pointerId);
    board.pointer = at.x;
    if (!before || !drag) {
      const hit = board.hitAt(at.x, at.y);
      board.hover.value = hit && { hit, ...at };
      return;
    }
    fingers.set(e.pointerId, at);
    if (fingers.size === 2) return pinch(e.pointerId, before, at);
    drag.far ||= Math.hypot(at.x - drag.x, at.y - drag.y) > CLICK;
    if (!drag.far) return;
    board.hover.value = null;
    if (drag.range) {
      const [from, to] = [psAt(drag.window, width(), drag.x), psAt(drag.window, width(), at.x)].sort(
        (a, b) => a - b,
      ) as [number, number];
      board.totals.range.value = { from, to };
    } else {
      const by = ((drag.x - at.x) / width()) * spanOf(drag.window);
      board.window.value = within({ from: drag.window.from + by, to: drag.window.to + by }, board.whole);
      scroll(before.y - at.y);
    }
  };
  const pinch = (moving: number, before: { x: number; y: number }, at: { x: number; y: number }) => {
    const other = [...fingers].find(([id]) => id !== moving)![1];
    const factor = Math.max(Math.abs(before.x - other.x), 8) / Math.max(Math.abs(at.x - other.x), 8);
    board.window.value = zoomed(board.window.value, board.at(other.x), factor, board.whole);
  };
  const onUp = (e: PointerEvent) => {
    fingers.delete(e.pointerId);
    const ended = drag;
    if (fingers.size === 0) drag = null;
    if (!ended || e.type === "pointercancel") return;
    const at = place(e);
    if (!ended.far) void board.pick(board.hitAt(at.x, at.y));
    else if (ended.range && board.totals.range.value) {
      const [low, high] = [ended.y, at.y].sort((a, b) => a - b) as [number, number];
      void board.choose(
        board.totals.range.value,
        high - low > 24 && low >= RULER ? between(low, high) : undefined,
      );
    }
  };
  /** Tracks of an area that was drawn over some rows only. */
  const between = (low: number, high: number): number[] => {
    const top = rowAt(board.shown.value, low, board.top.value),
      bottom = rowAt(board.shown.value, high, board.top.value);
    const rows = board.shown.value,
      last = bottom ? rows.indexOf(bottom) : rows.length - 1;
    return rows
      .slice(top ? rows.indexOf(top) : 0, last + 1)
      .flatMap((row) => (row.track ? [row.track.track] : []));
  };
  const onTwice = (e: MouseEvent) => {
    const hit = board.hitAt(place(e).x, place(e).y);
    if (hit) board.zoomToSelection();
  };
  const onLeave = () => {
    board.hover.value = null;
    board.pointer = null;
  };
  const onKey = () => {
    delete canvas.dataset.pointed;
  };

  const all: [string, (e: never) => void][] = [
    ["wheel", onWheel],
    ["pointerdown", onDown],
    ["pointermove", onMove],
    ["pointerup", onUp],
    ["pointercancel", onUp],
    ["dblclick", onTwice],
    ["pointerleave", onLeave],
    ["keydown", onKey],
    ["blur", onKey],
  ];
  for (const [name, listener] of all)
    canvas.addEventListener(name, listener as EventListener, { passive: false });
  return () => {
    for (const [name, listener] of all) canvas.removeEventListener(name, listener as EventListener);
  };
}
