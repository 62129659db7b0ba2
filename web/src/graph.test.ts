import fc from "fast-check";
import { expect, test } from "vitest";
import { around, type Box, fillOf, frameOf, scaled, telling } from "./views/graph";

const box = (x: number, y: number, width: number): Box => ({ path: "p", name: "p", op_type: null, device: "", nodes: 1, time_ps: 0, output_bytes: 0, cluster: "", copies: 1, can_open: false, x, y, width });

test("the scopes around a node", () => {
  expect(around("a/b/c")).toEqual(["a", "a/b"]);
  expect(around("a")).toEqual([]);
  expect(around("s/".repeat(100_000)).length).toBe(32);
});

test("the frame shows every box, and zooming keeps the point under the mouse", () => {
  fc.assert(fc.property(fc.array(fc.tuple(fc.nat(5000), fc.nat(5000), fc.integer({ min: 1, max: 300 })), { minLength: 1 }), fc.double({ min: 0.2, max: 5, noNaN: true }), (list, factor) => {
    const boxes = list.map(([x, y, w]) => box(x, y, w)), frame = frameOf(boxes);
    for (const b of boxes) {
      expect(b.x).toBeGreaterThanOrEqual(frame.x);
      expect(b.x + b.width).toBeLessThanOrEqual(frame.x + frame.wide);
      expect(b.y + 34).toBeLessThanOrEqual(frame.y + frame.high);
    }
    const next = scaled(frame, factor, 100, 50);
    expect((100 - next.x) / next.wide).toBeCloseTo((100 - frame.x) / frame.wide, 6);
    expect(next.wide).toBeCloseTo(frame.wide * factor, 3);
  }));
});

test("a box without time has the colour of the page", () => {
  expect(fillOf(box(0, 0, 1), "time", 0)).toBe("var(--card)");
  expect(fillOf({ ...box(0, 0, 1), device: "/gpu:0" }, "device", 0)).not.toBe("var(--card)");
});

test("colourings are offered where they tell something", () => {
  expect(telling([box(0, 0, 1)])).toEqual(["type"]);
  expect(telling([box(0, 0, 1), { ...box(0, 0, 1), output_bytes: 8, cluster: "cluster_1" }])).toEqual(["memory", "cluster", "type"]);
});
