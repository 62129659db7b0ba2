import fc from "fast-check";
import { expect, test } from "vitest";
import { firstFrame, frameOf, scaled, seenBoxes, shownOf } from "./frames";
import { around, type Box, fillOf, telling } from "./level";

const box = (x: number, y: number, width: number): Box => ({
  path: "p",
  name: "p",
  op_type: null,
  device: "",
  nodes: 1,
  time_ps: 0,
  output_bytes: 0,
  cluster: "",
  copies: 1,
  can_open: false,
  x,
  y,
  width,
  height: 34,
});

test("the scopes around a node", () => {
  expect(around("a/b/c")).toEqual(["a", "a/b"]);
  expect(around("a")).toEqual([]);
  expect(around("s/".repeat(100_000)).length).toBe(32);
});

test("the frame shows every box, and zooming keeps the point under the mouse", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(5000), fc.nat(5000), fc.integer({ min: 1, max: 300 })), { minLength: 1 }),
      fc.double({ min: 0.2, max: 5, noNaN: true }),
      (list, factor) => {
        const boxes = list.map(([x, y, w]) => box(x, y, w)),
          frame = frameOf(boxes);
        for (const b of boxes) {
          expect(b.x).toBeGreaterThanOrEqual(frame.x);
          expect(b.x + b.width).toBeLessThanOrEqual(frame.x + frame.wide);
          expect(b.y + 34).toBeLessThanOrEqual(frame.y + frame.high);
        }
        const next = scaled(frame, factor, 100, 50);
        expect((100 - next.x) / next.wide).toBeCloseTo((100 - frame.x) / frame.wide, 6);
        expect(next.wide).toBeCloseTo(frame.wide * factor, 3);
      },
    ),
  );
});

test("a box without time has the colour of the page", () => {
  expect(fillOf(box(0, 0, 1), "time", 0)).toBe("var(--card)");
  expect(fillOf({ ...box(0, 0, 1), device: "/gpu:0" }, "device", 0)).not.toBe("var(--card)");
});

test("colourings are offered where they tell something", () => {
  expect(telling([box(0, 0, 1)])).toEqual(["type"]);
  const on = (device: string) => ({ ...box(0, 0, 1), device });
  expect(telling([on("GPU"), on("GPU"), on("")])).toEqual(["type"]);
  expect(telling([on("GPU"), on("CPU")])).toEqual(["device", "type"]);
  expect(telling([box(0, 0, 1), { ...box(0, 0, 1), output_bytes: 8, cluster: "cluster_1" }])).toEqual([
    "memory",
    "cluster",
    "type",
  ]);
});

test("a window shows what its frame holds, and only boxes of it", () => {
  const size = { width: 800, height: 400 };
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(5000), fc.nat(5000), fc.integer({ min: 1, max: 300 })), {
        minLength: 1,
        maxLength: 60,
      }),
      fc.nat(4000),
      fc.nat(4000),
      (list, x, y) => {
        const boxes = list.map(([bx, by, w]) => box(bx, by, w));
        expect(seenBoxes(boxes, shownOf(frameOf(boxes), size), size).length).toBe(boxes.length);
        const window = shownOf({ x, y, wide: 900, high: 300 }, size),
          seen = new Set(seenBoxes(boxes, window, size));
        expect(window.unit).toBeCloseTo(1.125);
        boxes.forEach((b, i) => {
          const inside =
            b.x < window.x + 900 && b.x + b.width > window.x && b.y < window.y + 450 && b.y + 34 > window.y;
          expect(seen.has(i)).toBe(inside);
        });
      },
    ),
  );
});

test("at first all boxes are shown, or the top of a drawing that is much longer than wide", () => {
  const size = { width: 800, height: 400 };
  const few = [box(0, 0, 100), box(0, 80, 100)],
    chain = Array.from({ length: 5000 }, (_, i) => box(0, i * 80, 100));
  expect(seenBoxes(few, shownOf(firstFrame(few, size), size), size)).toEqual([0, 1]);
  expect(shownOf(firstFrame(few, size), size).unit).toBe(0.7);
  const window = shownOf(firstFrame(chain, size), size);
  expect(window.unit).toBe(1);
  expect(seenBoxes(chain, window, size)).toEqual([0, 1, 2, 3, 4]);
});
