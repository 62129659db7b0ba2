import fc from "fast-check";
import { expect, test } from "vitest";
import { counted, duration, shown } from "./format";
import { columnsOf } from "./stepchart";
import { filtered, sorted } from "./table";
import type { Step } from "./types";

test("a value is shown in the unit of its column", () => {
  expect(duration(16355894300)).toBe("16.4 ms");
  expect(shown(0.7983, "ratio")).toBe("79.8 %");
  expect(shown(1536, "bytes")).toBe("1.50 KiB");
  expect(shown(null, "ps")).toBe("");
  expect(counted(1, "step")).toBe("1 step");
  expect(counted(2, "step")).toBe("2 steps");
});

test("sorting keeps every row, and unknown values come last either way", () => {
  fc.assert(fc.property(fc.array(fc.option(fc.integer())), fc.boolean(), (values, down) => {
    const rows = sorted(values.map((n) => ({ n })), "n", down).map((row) => row["n"] as number | null);
    const known = values.filter((n) => n !== null).sort((a, b) => (down ? b - a : a - b));
    expect(rows).toEqual([...known, ...values.filter((n) => n === null)]);
  }));
});

test("a filter looks at what is shown", () => {
  const columns = [{ name: "t", unit: "ps", title: "T", about: "" }];
  expect(filtered([{ t: 2e9 }, { t: 3e6 }], columns, "MS")).toEqual([{ t: 2e9 }]);
});

test("columns of the step chart count every step once and keep the longest", () => {
  const lengths = fc.array(fc.nat(), { minLength: 1, maxLength: 900 });
  fc.assert(fc.property(lengths, fc.integer({ min: 1, max: 300 }), (durations, most) => {
    const steps = durations.map((dur_ps, i) => ({ step: i, dur_ps }) as Step);
    const columns = columnsOf(steps, most);
    expect(columns.length).toBeLessThanOrEqual(most);
    expect(columns.reduce((sum, c) => sum + c.count, 0)).toBe(steps.length);
    expect(Math.max(...columns.map((c) => Number(c.longest.dur_ps)))).toBe(Math.max(...durations));
  }));
});
