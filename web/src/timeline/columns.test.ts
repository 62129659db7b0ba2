import { afterEach, expect, it, vi } from "vitest";
import { Columns } from "./columns";

const WIDTH = 300,
  HEIGHT = 120,
  HIGH = 14;
const INKS = new Map([
  ["red", [255, 0, 0, 255]],
  ["blue", [0, 0, 255, 255]],
]);

/** A canvas that keeps what is painted on it. */
function canvasOf(kept: { pixels: Uint32Array | null; rectangles: number[][] }) {
  const canvas: Record<string, unknown> = { width: WIDTH, height: HEIGHT };
  const context = {
    canvas,
    fillStyle: "",
    globalAlpha: 1,
    save() {},
    restore() {},
    setTransform() {},
    drawImage() {},
    clearRect() {},
    getTransform: () => ({ a: 1 }),
    fillRect: (...given: number[]) => {
      kept.rectangles.push(given);
    },
    getImageData: () => ({ data: INKS.get(context.fillStyle)! }),
    createImageData: (width: number, height: number) => ({ data: new Uint8ClampedArray(width * height * 4) }),
    putImageData: (image: { data: Uint8ClampedArray }) => {
      kept.pixels = new Uint32Array(image.data.buffer.slice(0));
    },
  };
  canvas.getContext = () => context;
  return { canvas, context: context as unknown as CanvasRenderingContext2D };
}

afterEach(() => vi.unstubAllGlobals());

it("paints few cells as rectangles", () => {
  const kept = { pixels: null, rectangles: [] as number[][] },
    columns = new Columns();
  for (let i = 0; i < 50; i++) columns.add(i * 4, 2, 10, 0.5, "red");
  columns.paint(canvasOf(kept).context, HIGH);
  expect(kept.rectangles).toEqual(Array.from({ length: 50 }, (_, i) => [i * 4, 10, 2, HIGH]));
  expect(kept.pixels).toBeNull();
});

it("paints many cells as columns: each has a pixel of its colour or of a stronger one, nothing else has", () => {
  const screen = { pixels: null, rectangles: [] },
    picture = { pixels: null as Uint32Array | null, rectangles: [] as number[][] };
  vi.stubGlobal("document", { createElement: () => canvasOf(picture).canvas });
  const columns = new Columns(),
    drawn = canvasOf(screen).context;
  for (let frame = 0; frame < 2; frame++) {
    // what the frame before painted is gone
    columns.clear();
    const covered = new Set<number>(),
      cells: { x: number; y: number; alpha: number }[] = [];
    for (let i = 0; i < 9000; i++) {
      const x = ((i * 7919) % 2800) / 10 - 2,
        y = (frame + (i % 3)) * 18 + 2,
        alpha = 0.35 + ((i * 31) % 65) / 100,
        wide = 1 + (i % 20) / 10;
      columns.add(x, wide, y, alpha, i % 2 ? "red" : "blue");
      const from = Math.max(Math.round(x), 0);
      for (let at = from; at < Math.max(Math.round(x + wide), from + 1); at++)
        for (let row = y; row < y + HIGH; row++) covered.add(row * WIDTH + at);
      cells.push({ x: from, y, alpha });
    }
    columns.paint(drawn, HIGH);
    expect(screen.rectangles).toEqual([]);
    const pixels = picture.pixels!;
    for (const { x, y, alpha } of cells)
      expect(pixels[y * WIDTH + x]! >>> 24).toBeGreaterThanOrEqual(Math.round(alpha * 255));
    pixels.forEach((pixel, at) => {
      if ((pixel !== 0) !== covered.has(at)) throw new Error(`pixel ${at} of frame ${frame}`);
    });
    expect(new Set([...pixels].map((pixel) => pixel & 0xffffff))).toEqual(new Set([0, 0xff, 0xff0000]));
  }
});
