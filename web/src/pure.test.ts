import fc from "fast-check";
import { expect, test } from "vitest";
import { ceiling, ticks } from "./axis";
import { pieces, stretches } from "./chart";
import { colourOf } from "./colours";
import { spots } from "./flow";
import { counted, duration, shown } from "./format";
import { grouped, type OpRow, scopeTree, squarified } from "./opgroups";
import { plain } from "./plain";
import { inScale, lieApart, scaleOf, scalesOf, show } from "./scale";
import { fitting, type Item } from "./search";
import { placeIn } from "./sqlerror";
import { ordered, type Stage } from "./stages";
import { hasSteps, ofSteps } from "./stepbar";
import { columnsOf, timelineLink } from "./stepcolumns";
import { filtered, sorted, telling } from "./table";
import { boxes, branches } from "./tree";
import { turnOf } from "./treemap";
import type { Row, Section, Step, Tree } from "./types";
import { recordingOf } from "./views/pipeline";
import { told } from "./waiting";

test("a value is shown in the unit of its column", () => {
  expect(duration(16355894300)).toBe("16.4 ms");
  expect(shown(0.7983, "ratio")).toBe("79.8 %");
  expect(shown(1536, "bytes")).toBe("1.50 KiB");
  expect(shown(null, "ps")).toBe("");
  expect(counted(1, "step")).toBe("1 step");
  expect(counted(2, "step")).toBe("2 steps");
});

test("a recording of steps that averages leave out has steps", () => {
  const step = { averaged: false } as Step;
  expect(hasSteps({ facts: { steps: 0 } }, [step, step])).toBe(true);
  expect(hasSteps({ facts: { steps: 0 } }, [step])).toBe(false); // the whole recording stands for one
  expect(hasSteps({ facts: { steps: 3 } }, [])).toBe(true);
});

test("sorting keeps every row, and unknown values come last either way", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer())), fc.boolean(), (values, down) => {
      const rows = sorted(
        values.map((n) => ({ n })),
        "n",
        down,
      ).map((row) => row.n as number | null);
      const known = values.filter((n) => n !== null).sort((a, b) => (down ? b - a : a - b));
      expect(rows).toEqual([...known, ...values.filter((n) => n === null)]);
    }),
  );
});

test("a filter looks at what is shown", () => {
  const columns = [{ name: "t", unit: "ps", title: "T", about: "" }];
  expect(filtered([{ t: 2e9 }, { t: 3e6 }], columns, "MS")).toEqual([{ t: 2e9 }]);
});

test("columns of the step chart count every step once and keep the longest", () => {
  const lengths = fc.array(fc.nat(), { minLength: 1, maxLength: 900 });
  fc.assert(
    fc.property(lengths, fc.integer({ min: 1, max: 300 }), (durations, most) => {
      const steps = durations.map((dur_ps, i) => ({ step: i, dur_ps }) as Step);
      const columns = columnsOf(steps, most);
      expect(columns.length).toBeLessThanOrEqual(most);
      expect(columns.reduce((sum, c) => sum + c.count, 0)).toBe(steps.length);
      expect(Math.max(...columns.map((c) => Number(c.longest.dur_ps)))).toBe(Math.max(...durations));
    }),
  );
});

test("hidden characters are escapes, and a long text is cut in the middle of no character", () => {
  expect(plain("a\u202eb\x1b[2J\ud800\u{e0041}\n")).toBe("a\\u{202e}b\\x1b[2J\\u{d800}\\u{e0041}\\n");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 3, max: 40 }), (text, most) => {
      const cut = plain(text, most);
      expect([...cut].length).toBeLessThanOrEqual(most);
      expect(cut).not.toMatch(/[\p{Cc}\p{Cs}\u202a-\u202e]/u);
    }),
    { numRuns: 50 },
  );
});

test("marks of an axis are few, round and within", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10 ** 15 }),
      fc.constantFrom("ps", "bytes", "int", "float", "ratio"),
      (top, unit) => {
        const marks = ticks(top, unit);
        expect(marks.length).toBeGreaterThanOrEqual(2);
        expect(marks.length).toBeLessThanOrEqual(7);
        expect(marks[0]!.place).toBe(0);
        expect(marks[marks.length - 1]!.place).toBeLessThanOrEqual(top * 1.001);
        expect(new Set(marks.map((m) => m.label)).size).toBe(marks.length);
        expect(
          new Set(marks.slice(1).map((m, i) => Math.round(((m.place - marks[i]!.place) / top) * 1e6))).size,
        ).toBe(1);
      },
    ),
  );
});

test("a few marks far out do not press the others flat", () => {
  expect(ceiling([306, 34, 33, 35, 36, 34])).toBe(36);
  expect(ceiling([1, 100])).toBe(100);
  expect(ceiling([1, 1, 1, 100, 100, 100])).toBe(100);
  expect(ceiling([])).toBe(0);
});

test("a column has one scale, as in the terminal", () => {
  const scale = scaleOf("ps", [12.3e9, 0.4e9]);
  expect([scale.symbol, inScale(12.3e9, scale), inScale(0.4e9, scale), inScale(null, scale)]).toEqual([
    "ms",
    "12.30",
    "0.40",
    "–",
  ]);
  expect(show(34040497800, "ps")).toBe("34.0 ms");
  expect(show(4 * 2 ** 30, "bytes")).toBe("4.00 GiB");
  expect(show(0.375, "ratio")).toBe("37.5 %");
  expect(show(0.0001, "ratio")).toBe("<0.1 %");
  expect(show(0.9999, "ratio")).toBe(">99.9 %");
  expect(show(1 - 1e-12, "ratio")).toBe("100.0 %");
  expect(show(1234, "int")).toBe("1,234");
  const columns = ["a", "b"].map((name) => ({ name, unit: "ps", title: name, about: "" }));
  expect(scalesOf(columns, [{ a: 5e12, b: 2e9 }]).map((one) => one.symbol)).toEqual(["s", "ms"]);
  expect(scalesOf(columns, [{ a: 5e12, b: 2e12 }]).map((one) => one.symbol)).toEqual(["s", "s"]);
});

test("differences are shown with their sign", () => {
  const [scale] = scalesOf(
    [{ name: "change", unit: "ps", title: "Change", about: "", signed: true }],
    [{ change: 12.3e9 }, { change: -0.4e9 }],
  );
  expect([12.3e9, -0.4e9, 0, 1e3, null].map((value) => inScale(value, scale!))).toEqual([
    "+12.30",
    "-0.40",
    "0.00",
    "<0.01",
    "–",
  ]);
});

test("pieces of a curve keep the largest of all points", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { minLength: 1 }), fc.integer({ min: 1, max: 50 }), (values, most) => {
      const parts = pieces(values, most);
      expect(Math.max(...parts.map((p) => p.value!))).toBe(Math.max(...values));
      expect(parts.every((p) => values[p.at] === p.value)).toBe(true);
    }),
  );
});

test("what is not known is drawn nowhere", () => {
  const parts = pieces([3, null, 0, 5, null, null, 7]);
  const drawn = stretches(parts, (p) => p.from === 3);
  expect(drawn.map((line) => line.map((p) => [p.k, p.value]))).toEqual([
    [[0, 3]],
    [[2, 0]],
    [[3, 5]],
    [[6, 7]],
  ]);
  expect(pieces([null, 0, null, 4, null, null], 3).map((p) => p.value)).toEqual([0, 4, null]);
});

test("what is alike in every row is said once, numbers stay", () => {
  const columns = [
    ["host_id", "text"],
    ["kind", "text"],
    ["n", "int"],
    ["op", "text"],
  ].map(([name, unit]) => ({ name: name!, unit: unit!, title: name!, about: "" }));
  const rows = ["a", "b", "c"].map((op) => ({ host_id: "h", kind: "k", n: 1, op }));
  const found = telling({ columns, rows, total: 3 });
  expect(found.columns.map((c) => c.name)).toEqual(["n", "op"]);
  expect(found.alike).toBe("In every row: kind = k.");
  expect(telling({ columns, rows, total: 9 }).alike).toBe("In every row shown: kind = k.");
});

test("branches lead from each node to its parent", () => {
  expect(branches([0, 1, 2, 1, 0])).toEqual(["", "├─ ", "│  └─ ", "└─ ", ""]);
});

test("boxes of a flame graph lie within what called them", () => {
  const nodes = [
    [0, 80],
    [1, 40],
    [2, 40],
    [1, 30],
    [0, 20],
  ].map(([depth, t]) => ({
    depth: depth!,
    name: "",
    values: { t: t! },
    line: null,
    mark: "",
    about: "",
    kind: "",
  }));
  const found = boxes({ columns: [], nodes, note: "", size: "t" } as Tree);
  expect(found.map((b) => [b.left, b.width])).toEqual([
    [0, 0.8],
    [0, 0.4],
    [0, 0.4],
    [0.4, 0.3],
    [0.8, 0.2],
  ]);
});

const step = (step: number, ts_ps: number, dur_ps: number) =>
  ({ run_id: "r", host_id: "h", step, ts_ps, dur_ps }) as Step;
const section = (rows: Row[]) =>
  ({
    chart: { kind: "stacked_bar", x: "what", y: ["input_ps", "compute_ps"], title: "" },
    table: { columns: [], rows, total: rows.length },
  }) as unknown as Section;

test("the bar of brushed steps is their mean, and unknown where a step has no parts", () => {
  const row = (what: string, input_ps: number, compute_ps: number): Row => ({
    run_id: "r",
    host_id: "h",
    what,
    input_ps,
    compute_ps,
  });
  const parts = section([row("mean", 9, 9), row("3", 10, 20), row("4", 20, 40)]);
  const brushed = { place: "r / h", steps: [step(3, 0, 30), step(4, 30, 60)] };
  expect(ofSteps(brushed, parts)!.parts).toEqual([
    { name: "input_ps", ps: 15 },
    { name: "compute_ps", ps: 30 },
  ]);
  expect(ofSteps({ ...brushed, steps: [step(5, 0, 1)] }, parts)).toBeNull();
  expect(ofSteps(brushed, section([row("3", 1, 1), row("3", 2, 2), row("4", 1, 1)]))).toBeNull();
});

test("a link to the timeline has whole picoseconds without an exponent", () => {
  expect(timelineLink([step(1, 1e9, 5e21), step(2, 2e9, 1)])).toBe(
    "#timeline?from=1000000000&to=5000000001000000000000&sum=1".replace(
      "5000000001000000000000",
      BigInt(1e9 + 5e21).toString(),
    ),
  );
});

test("a class has its colour, everything else one in order", () => {
  expect([colourOf("input_ps", 3), colourOf("idle_ps", 0), colourOf("bytes", 7)]).toEqual([
    "class-input",
    "class-idle",
    "series-1",
  ]);
});

const opRows = fc
  .array(
    fc.record({
      op: fc.constantFrom("a/b/MatMul", "a/b/Add", "a/Relu", "Sum", null),
      op_type: fc.constantFrom("MatMul", "Add", null),
      class: fc.constantFrom("compute", "wait", null),
      feeds: fc.boolean(),
      device: fc.constantFrom("GPU 0", "GPU 1", null),
      slices: fc.integer({ min: 1, max: 9 }),
      total_ps: fc.nat(),
      self_ps: fc.nat(),
      min_ps: fc.nat(),
      max_ps: fc.nat(),
    }),
  )
  .map((rows) => rows.map((row) => ({ run_id: "r", host_id: "h", place: "device", ...row }) as OpRow));

test("groups of ops hold every slice and all self time once, whatever they are grouped by", () => {
  fc.assert(
    fc.property(opRows, fc.constantFrom("op_type", "op", "scope", "device"), (rows, by) => {
      const groups = grouped(rows, by as "op");
      for (const name of ["slices", "total_ps", "self_ps"] as const) {
        expect(groups.reduce((sum, g) => sum + g[name], 0)).toBe(
          rows.reduce((sum, row) => sum + row[name], 0),
        );
      }
      const feeding = grouped(
        rows.filter((row) => row.feeds),
        by as "op",
      );
      for (const g of groups) {
        const [fed] = feeding.filter((one) => one.key === g.key).map((one) => one.slices);
        expect(g.part).toBe(fed === undefined ? "model" : fed === g.slices ? "input pipeline" : "both");
      }
      expect(Math.max(0, ...groups.map((g) => g.max_ps ?? 0))).toBe(
        Math.max(0, ...rows.map((row) => row.max_ps ?? 0)),
      );
      const roots = scopeTree(rows).nodes.filter((node) => node.depth === 0);
      expect(roots.reduce((sum, node) => sum + Number(node.values.self_ps), 0)).toBe(
        rows.reduce((sum, row) => sum + row.self_ps, 0),
      );
    }),
  );
});

test("areas of a treemap are as the sizes and fill their box without overlap", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 25 }), (sizes) => {
      const cells = squarified(sizes, (size) => size, 1000, 220);
      const total = sizes.reduce((a, b) => a + b, 0);
      expect(cells.length).toBe(sizes.length);
      for (const c of cells) {
        expect(c.w * c.h).toBeCloseTo((220_000 * c.item) / total, 3);
        expect(c.x).toBeGreaterThanOrEqual(-1e-6);
        expect(c.x + c.w).toBeLessThanOrEqual(1000 + 1e-6);
        expect(c.y + c.h).toBeLessThanOrEqual(220 + 1e-6);
      }
      for (const [i, a] of cells.entries())
        for (const b of cells.slice(i + 1)) {
          expect(
            Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x) > 1e-6 &&
              Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y) > 1e-6,
          ).toBe(false);
        }
    }),
  );
});

test("boxes of a pipeline have places of their own, each left of what it feeds, whatever feeds what", () => {
  const consumers = fc.array(fc.nat(), { minLength: 1, maxLength: 25 });
  fc.assert(
    fc.property(consumers, (chosen) => {
      const stages = chosen.map(
        (n, number) => ({ number, consumer: number ? n % number : null, fed_by: null }) as Stage,
      );
      const placed = ordered(stages);
      expect(placed.map(({ stage }) => stage.number).sort((a, b) => a - b)).toEqual(
        stages.map((stage) => stage.number),
      );
      const found = spots(placed);
      expect(new Set(found.spots.map((spot) => `${spot.x} ${spot.y}`)).size).toBe(placed.length);
      const columnOf = new Map(placed.map(({ stage }, i) => [stage.number, found.spots[i]!.x]));
      for (const stage of stages)
        if (stage.consumer !== null)
          expect(columnOf.get(stage.number)).toBe(columnOf.get(stage.consumer)! - 1);
      expect(Math.min(...found.spots.map((spot) => spot.x))).toBe(0);
    }),
  );
});

test("stages that feed each other in a circle are drawn once at most", () => {
  const stages = [
    { number: 0, consumer: 1, fed_by: null },
    { number: 1, consumer: 0, fed_by: null },
    { number: 2, consumer: null, fed_by: null },
  ] as Stage[];
  expect(ordered(stages).map(({ stage }) => stage.number)).toEqual([2]);
});

test("a page that waits says what is read or asked, and how far that is", () => {
  const now = {
    doing: "reading",
    what: "runs/1/\u202ehost.xplane.pb",
    done: 12_000_000,
    total: 40_000_000,
  } as const;
  expect(told(now)).toBe("Reading \\u{202e}host.xplane.pb (11.4 MiB of 38.1 MiB)");
  expect(told({ ...now, total: 0 })).toBe("Reading \\u{202e}host.xplane.pb");
  expect(told({ doing: "asking", what: "_step_part_rows", done: 3, total: 40 })).toBe(
    "Asking step part rows (3 of 40)",
  );
  expect(told({ doing: "asking", what: "", done: 0, total: 0 })).toBe("Asking");
  expect(told({ doing: "waiting", what: "", done: 0, total: 0 })).toBe("Other answers come first");
});

test("an error of a statement is marked where the engine names a word, in the line that it names", () => {
  const sql = "SELECT name\nfom slice whre";
  const at = (seen: string) => {
    const span = placeIn(sql, seen);
    return span && sql.slice(span.from, span.to);
  };
  expect(at('syntax error at or near "slice" (LINE 2: fom slice whre)')).toBe("slice");
  expect(at('Referenced column "NAME" not found in FROM clause!')).toBe("name");
  expect(at("something else (LINE 2: fom slice whre)")).toBe("fom slice whre");
  expect(at("out of memory")).toBeNull();
  expect(at('near "x" (LINE 9: x)')).toBeNull();
});
test("the palette finds what has all words, and of each kind the first", () => {
  const made = (kind: string, words: string): Item => ({
    kind,
    words,
    title: words,
    key: "",
    run: () => undefined,
  });
  const items = [
    ...Array.from({ length: 20 }, (_, i) => made("op", `matmul ${i}`)),
    made("table", "op_slice ops"),
  ];
  expect(fitting(items, "matmul")).toHaveLength(8);
  expect(fitting(items, "OPS slice").map((one) => one.kind)).toEqual(["table"]);
  expect(fitting(items, "  ")).toEqual([]);
});

test("shades are alike within a scope, and times far apart get units of their own", () => {
  expect(turnOf("dense/MatMul")).toBe(turnOf("dense/Relu"));
  expect(Math.abs(turnOf("conv/MatMul"))).toBeLessThanOrEqual(21);
  expect(lieApart("ps", [1, null, 101])).toBe(true);
  expect(lieApart("ps", [0, 5, 500])).toBe(false);
  expect(lieApart("int", [1, 1000])).toBe(false);
  expect(lieApart("ps", [])).toBe(false);
});

test("a recording is called by its folder, not by the one that the profiler made", () => {
  expect(recordingOf("runs/a/plugins/profile/2026_11_26/vm.xplane.pb")).toBe("a (vm)");
  expect(recordingOf("a/b/trace.json")).toBe("b/trace.json");
});
