// What the modules of the timeline compute. Over 400 lines because it is a list: a block for each module.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Catalog, Track } from "../types";
import { Lay } from "./axis";
import { textOn } from "./colours";
import { most, titleOfCounter } from "./counters";
import { decode } from "./frame";
import { cellAt, rowAt } from "./hit";
import {
  aboutTrack,
  groupOf,
  heightOf,
  lanes,
  pieces as piecesOf,
  shortTitles,
  titleOfStep,
  UNARRANGED,
  visible,
} from "./lanes";
import { read, write } from "./link";
import { fitted, labelOf, type Names } from "./names";
import { placement } from "./placed";
import { labels, moment, RULER } from "./ruler";
import {
  covered,
  LEAST_PS,
  moved,
  pixelOf,
  psAt,
  showing,
  spanOf,
  stretchesOf,
  ticks,
  within,
  zoomed,
} from "./scale";
import { type Band, drawnSteps, NARROW } from "./steps";
import { covers, pieces, wider } from "./store";

const whole = fc.double({ min: 1, max: 1e16, noNaN: true });
const part = fc.double({ min: 0, max: 1, noNaN: true });
const windows = fc.record({ whole, a: part, b: part }).map(({ whole, a, b }) => ({
  whole,
  window: within({ from: Math.min(a, b) * whole, to: Math.max(a, b) * whole }, whole),
}));

describe("labels on the canvas", () => {
  it("have their hidden characters as escapes: nothing turns the direction or reads as another name", () => {
    const names: Names = {
      names: ["\u202eevil txt.exe", "a\x00b\x1b[31m", "x".repeat(1e6), "שלום"],
      classes: [],
      op_types: [],
    };
    expect(labelOf(names, 0)).toBe("\\u{202e}evil txt.exe");
    expect(labelOf(names, 1)).toBe("a\\x00b\\x1b[31m");
    expect(labelOf(names, 2).length).toBeLessThanOrEqual(400);
    expect(labelOf(names, 3)).toBe("שלום");
    expect(labelOf(names, 9)).toBe("");
  });
  it("end with a whole character", () => {
    const width = { measureText: (text: string) => ({ width: 6 * text.length }) };
    for (let room = 20; room < 200; room++)
      expect(fitted(width, "𝒳".repeat(50), room)).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
  });
  it("read long times in groups of three digits", () => {
    expect(moment(9e6 * 1e12, 1e6 * 1e12)).toBe("9,000,000 s");
    expect(moment(1.5e12, 5e11)).toBe("1.5 s");
  });
});

describe("counters", () => {
  it("have the unit that their series ends in", () => {
    const points: [number, number | null][] = [
      [0, 3],
      [1, null],
      [2, 2 ** 31],
    ];
    expect(most(points, "rss_bytes")).toBe("at most 2.00 GiB");
    expect(most([[0, 30_065_800]], "traced_ns")).toBe("at most 30.1 ms");
    expect(most(points, "threads")).toBe("at most 2,147,480,000");
    expect(most([[0, null]], "rss_bytes")).toBe("");
  });
  it("are named by what they count, without their unit", () => {
    expect(titleOfCounter("machine memory", "available_bytes")).toBe("machine memory · available");
    expect(titleOfCounter("mklcpu", "mklcpu")).toBe("mklcpu");
    expect(titleOfCounter("core busy", "0")).toBe("core busy · 0");
    expect(titleOfCounter("allocated", "bytes")).toBe("allocated");
    expect(titleOfCounter("columns", "columns")).toBe("columns");
  });
});

describe("recordings of different days", () => {
  it("are stretches; those that overlap are one", () => {
    const made = stretchesOf([
      { from: 90, to: 99, title: "b" },
      { from: 0, to: 5, title: "a" },
      { from: 95, to: 100, title: "c" },
    ]);
    expect(made).toEqual([
      { from: 0, to: 5, title: "a" },
      { from: 90, to: 100, title: "b, c" },
    ]);
    expect(covered(made, 100)).toBeCloseTo(0.15);
  });
});

describe("where recordings lie", () => {
  const source = (placed_by: string, residual_ps: number | null = null) => ({
    run_id: "r",
    host_id: "h",
    name: "n",
    events_lost: 0,
    complete: true,
    error: null,
    first_ps: 0,
    last_ps: 1,
    placed_by,
    residual_ps,
  });
  const texts = (...sources: ReturnType<typeof source>[]) => placement(sources).map(({ text }) => text);
  it("is said where the time of day does not tell it", () => {
    expect(texts(source("time_of_day"), source("time_of_day"))).toEqual([]);
    expect(texts(source("order"))).toEqual([]);
    expect(texts(source("time_of_day"), { ...source("order"), last_ps: 0 })).toEqual([]);
    expect(texts(source("collectives", 0), source("collectives", 3_200_000))).toEqual([
      "2 recordings aligned within 3.20 µs",
    ]);
    expect(texts(source("collectives", 0), source("collectives"))).toEqual(["2 recordings aligned"]);
    expect(texts(source("begin"), source("begin"), source("order"))).toEqual([
      "2 ranks not aligned",
      "1 recording not aligned",
    ]);
  });
});

describe("steps", () => {
  it("say a number once", () => {
    expect(titleOfStep({ name: "ProfilerStep#551", step: 551 })).toBe("ProfilerStep#551");
    expect(titleOfStep({ name: "train", step: 5 })).toBe("train 5");
    expect(titleOfStep({ name: "step 15", step: 5 })).toBe("step 15 5");
    expect(titleOfStep({ name: null, step: 0 })).toBe("step 0");
    expect(titleOfStep({ name: "whole capture", step: 0 })).toBe("whole capture");
    expect(titleOfStep({ name: "\u202eevil", step: 1 })).toBe("\\u{202e}evil 1");
  });
});

/** Steps of these lengths, one after another. */
function steps(lengths: number[]): Band[] {
  let at = 0;
  return lengths.map((long, step) => {
    const from = at;
    at += long;
    return { from, to: at, step, title: `train ${step}`, short: String(step), averaged: false };
  });
}
const measure = (text: string): number => 7 * text.length;

describe("lines and numbers of steps", () => {
  it("are decided for all together, whatever their lengths", () => {
    const uneven = steps([100, 3, 100, 4, 100, 100]),
      window = { from: 0, to: 407 };
    expect(drawnSteps(uneven, window, 407, measure).lines).toHaveLength(6);
    expect(drawnSteps(uneven, window, 40, measure).lines).toEqual([]);
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 50, max: 3000 }),
        (lengths, width) => {
          const made = steps(lengths),
            to = made.at(-1)!.to,
            { lines } = drawnSteps(made, { from: 0, to }, width, measure);
          expect([0, made.length]).toContain(lines.length);
          const pixels = lengths.map((long) => (long / to) * width).sort((a, b) => b - a);
          expect(lines.length > 0).toBe(pixels[Math.ceil(pixels.length / 2) - 1]! >= NARROW - 1e-9);
        },
      ),
    );
  });
  it("titles where most have room, else the numbers of every 1, 2, 5, 10... steps", () => {
    const even = steps(Array.from({ length: 100 }, () => 10)),
      window = { from: 0, to: 1000 };
    const texts = (width: number) =>
      drawnSteps(even, window, width, measure).labels.map((label) => label.text);
    expect(texts(10000).slice(0, 2)).toEqual(["train 0", "train 1"]);
    expect(texts(3000).slice(0, 2)).toEqual(["0", "1"]);
    expect(texts(800).slice(0, 3)).toEqual(["0", "5", "10"]);
    expect(texts(200).slice(0, 3)).toEqual(["0", "10", "20"]);
  });
  it("never write over each other, and are none where there are no steps", () => {
    expect(drawnSteps([], { from: 0, to: 1 }, 100, measure)).toEqual({ lines: [], labels: [] });
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 200 }),
        fc.integer({ min: 50, max: 3000 }),
        (lengths, width) => {
          const made = steps(lengths),
            { labels } = drawnSteps(made, { from: 0, to: made.at(-1)!.to }, width, measure);
          labels.forEach((label, i) => {
            expect(label.x + measure(label.text)).toBeLessThanOrEqual(width);
            if (i) expect(label.x).toBeGreaterThanOrEqual(labels[i - 1]!.x + measure(labels[i - 1]!.text));
          });
        },
      ),
    );
  });
});

describe("the window", () => {
  it("stays within the recording, and is never too short to draw", () => {
    fc.assert(
      fc.property(windows, fc.double({ min: -50, max: 50, noNaN: true }), ({ whole, window }, by) => {
        for (const one of [
          window,
          moved(window, by, whole),
          zoomed(window, window.from, Math.exp(by / 10), whole),
        ]) {
          const slack = 1e-9 * (whole + LEAST_PS) + 1;
          expect(one.from).toBeGreaterThanOrEqual(-0.02 * whole - LEAST_PS / 2 - slack);
          expect(one.to).toBeLessThanOrEqual(1.02 * whole + LEAST_PS / 2 + slack);
          expect(spanOf(one)).toBeGreaterThan(0);
        }
      }),
    );
  });
  it("turns pixels into moments and back", () => {
    fc.assert(
      fc.property(windows, fc.integer({ min: 50, max: 4000 }), part, ({ window }, width, at) => {
        expect(pixelOf(window, width, psAt(window, width, at * width))).toBeCloseTo(at * width, 3);
      }),
    );
  });
  it("keeps the moment under the mouse where it is", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.2, max: 0.8, noNaN: true }),
        fc.double({ min: 0.5, max: 1.5, noNaN: true }),
        (at, factor) => {
          const window = { from: 4e9, to: 5e9 },
            around = psAt(window, 1000, at * 1000);
          expect(pixelOf(zoomed(window, around, factor, 1e10), 1000, around)).toBeCloseTo(at * 1000, 3);
        },
      ),
    );
  });
  it("shows a span with room around it", () => {
    const shown = showing(4e9, 4e9 + 100, 1e10);
    expect(shown.from).toBeLessThan(4e9);
    expect(shown.to).toBeGreaterThan(4e9 + 100);
  });
  it("has ticks that are neither crowded nor rare", () => {
    fc.assert(
      fc.property(windows, fc.integer({ min: 300, max: 4000 }), ({ window }, width) => {
        const { at, step } = ticks(window, width, 90);
        const apart = (step / spanOf(window)) * width;
        expect(apart).toBeGreaterThan(89);
        if (step > 1) expect(apart).toBeLessThan(90 * 2.6);
        expect(at.every((ps) => ps >= window.from && ps <= window.to)).toBe(true);
        expect(new Set(labels(at, step).slice(0, 50)).size).toBe(Math.min(at.length, 50));
      }),
    );
  });
});

const track = fc.record({
  run_id: fc.constantFrom("a", "b"),
  host_id: fc.constantFrom("h", "i"),
  group: fc.constantFrom("g", "k"),
  depths: fc.integer({ min: 1, max: 30 }),
  slices: fc.integer({ min: 0, max: 9 }),
});
const tracks = fc.array(track, { maxLength: 40 }).map((list) =>
  list.map(
    (one, n): Track => ({
      ...one,
      track: n,
      process: one.group,
      name: `t${n}`,
      kind: "thread",
      device: null,
    }),
  ),
);

describe("the rows", () => {
  it("hold every track with slices once, without gaps, whatever is pinned, closed and moved", () => {
    fc.assert(
      fc.property(
        tracks,
        fc.array(fc.nat(39)),
        fc.array(fc.nat(39)),
        fc.array(fc.tuple(fc.nat(39), fc.nat(39))),
        (list, pinned, closed, moved) => {
          const rows = lanes(list, [{ key: "c", title: "memory" }], {
            ...UNARRANGED,
            pinned: [...new Set(pinned)],
            closed,
            moved,
          });
          expect(rows.flatMap((r) => (r.track ? [r.track.track] : [])).sort((a, b) => a - b)).toEqual(
            list.filter((t) => t.slices).map((t) => t.track),
          );
          rows.reduce((y, row) => {
            expect(row.y).toBe(y);
            expect(row.height).toBeGreaterThan(0);
            return y + row.height;
          }, 0);
          expect(rows.filter((r) => r.kind === "counter")).toHaveLength(1);
        },
      ),
    );
  });
  it("are found on the screen as by looking at each", () => {
    fc.assert(
      fc.property(
        tracks,
        fc.integer({ min: 0, max: 9000 }),
        fc.integer({ min: 1, max: 900 }),
        (list, top, height) => {
          const rows = lanes(list, [], UNARRANGED);
          expect(visible(rows, top, height)).toEqual(
            rows.filter((r) => r.y + r.height > top && r.y < top + height),
          );
          const seen = rowAt(rows, RULER + 5, top);
          expect(seen).toEqual(rows.find((r) => top + 5 >= r.y && top + 5 < r.y + r.height) ?? null);
        },
      ),
    );
  });
  it("leave out what the filter does not name, and the members of a closed group", () => {
    const list = [
      { ...tracksOf("stream 7"), slices: 3 },
      { ...tracksOf("python"), slices: 3, track: 1 },
    ];
    expect(
      lanes(list, [], { ...UNARRANGED, filter: "STREAM" })
        .filter((r) => r.track)
        .map((r) => r.title),
    ).toEqual(["stream 7"]);
    const shut = lanes(list, [], { ...UNARRANGED, closed: [groupOf(list[0]!)] });
    expect(shut.map((r) => r.kind)).toEqual(["group"]);
    expect(heightOf([])).toBe(0);
  });
});
const tracksOf = (name: string): Track => ({
  run_id: "r",
  host_id: "h",
  group: "g",
  process: "g",
  depths: 1,
  slices: 1,
  track: 0,
  name,
  kind: "thread",
  device: null,
});

interface Made {
  track: number;
  depth: number;
  start: number;
  width: number;
  count: number;
  name: number;
  busy: number;
  id: bigint;
}
/** A frame as the core writes it. */
function frame(cells: Made[], from: bigint, to: bigint): ArrayBuffer {
  const columns = [
    ["track", "u32"],
    ["depth", "u32"],
    ["start", "f64"],
    ["width", "f64"],
    ["count", "f64"],
    ["name", "u32"],
    ["busy", "f64"],
    ["id", "i64"],
  ] as const;
  const header = new TextEncoder().encode(
    JSON.stringify({
      format: 1,
      from_ps: String(from),
      to_ps: String(to),
      px: 1,
      events: cells.reduce((n, c) => n + c.count, 0),
      columns: columns.map(([name, type]) => ({ name, type, length: cells.length })),
    }),
  );
  const pad = (n: number) => Math.ceil(n / 8) * 8,
    first = pad(4 + header.length);
  const out = new ArrayBuffer(
      first + columns.reduce((n, [, type]) => n + pad(cells.length * (type === "u32" ? 4 : 8)), 0),
    ),
    view = new DataView(out);
  view.setUint32(0, header.length, true);
  new Uint8Array(out).set(header, 4);
  let at = first;
  for (const [name, type] of columns) {
    cells.forEach((cell, i) => {
      if (type === "u32") view.setUint32(at + 4 * i, Number(cell[name]), true);
      else if (type === "f64") view.setFloat64(at + 8 * i, Number(cell[name]), true);
      else view.setBigInt64(at + 8 * i, cell[name] as bigint, true);
    });
    at += pad(cells.length * (type === "u32" ? 4 : 8));
  }
  return out;
}
const made = fc
  .array(
    fc.record({
      track: fc.nat(4),
      depth: fc.nat(3),
      start: fc.double({ min: 0, max: 1e6, noNaN: true }),
      width: fc.double({ min: 0, max: 1e5, noNaN: true }),
      count: fc.integer({ min: 1, max: 1000 }),
      name: fc.nat(9),
      busy: fc.double({ min: 0, max: 1e5, noNaN: true }),
      id: fc.bigInt(0n, 2n ** 62n),
    }),
    { maxLength: 50 },
  )
  .map((cells) => cells.sort((a, b) => a.track - b.track));

describe("a frame", () => {
  it("gives back every cell, and its pieces hold each once: nothing is dropped before the screen", () => {
    fc.assert(
      fc.property(made, (cells) => {
        const read = decode(frame(cells, 5n, 9n));
        expect([read.length, read.fromPs, read.toPs]).toEqual([cells.length, 5n, 9n]);
        expect([...read.id]).toEqual(cells.map((c) => c.id));
        expect([...read.start]).toEqual(cells.map((c) => c.start));
        const found = pieces(read, [10, 11, 12, 13, 14], 0, 4, 1);
        let events = 0;
        for (const [track, piece] of found)
          for (let i = piece.begin; i < piece.end; i++) {
            expect(read.track[i]).toBe(track - 10);
            events += read.count[i]!;
          }
        expect(events).toBe(read.events);
      }),
      { numRuns: 500 },
    );
  });
  it("refuses what is none", () => {
    expect(() => decode(new ArrayBuffer(3))).toThrow(RangeError);
    expect(() => decode(new ArrayBuffer(64))).toThrow(SyntaxError);
  });
  it("tells which slice is under the mouse as by looking at each", () => {
    fc.assert(
      fc.property(made, fc.double({ min: 0, max: 1e6, noNaN: true }), fc.nat(3), (cells, ps, depth) => {
        const mine = cells.map((cell) => ({ ...cell, track: 0 }));
        const piece = pieces(decode(frame(mine, 0n, 1_000_000n)), [0], 0, 1e6, 1).get(0)!;
        const rows = lanes([{ ...tracksOf("t"), depths: 4 }], [], UNARRANGED);
        const hit = cellAt(
          rows,
          new Map([[0, piece]]),
          { from: 0, to: 1e6 },
          1000,
          0,
          ps / 1000,
          RULER + rows[1]!.y + depth * 16 + 8,
        );
        const away = (c: Made) =>
          ps < c.start ? c.start - ps : ps > c.start + c.width ? ps - c.start - c.width : 0;
        const best = Math.min(...mine.filter((c) => c.depth === depth).map(away));
        if (hit === null) expect(best).toBeGreaterThan(2000 - 1e-6);
        else expect(away(mine[hit.cell]!)).toBeCloseTo(best, 3);
      }),
    );
  });
});

describe("what was fetched", () => {
  it("covers a window, or a finer or coarser one, only while it is as fine as the screen", () => {
    const piece = { from: 0, to: 1000, step: 1, cells: null as never, begin: 0, end: 0 };
    expect(covers(piece, { from: 0, to: 1000 }, 1)).toBe(true);
    expect(covers(piece, { from: 0, to: 1001 }, 1)).toBe(false);
    expect(covers(piece, { from: 0, to: 100 }, 0.1)).toBe(false);
    expect(covers(piece, { from: 0, to: 100 }, 10)).toBe(false);
    expect(covers(undefined, { from: 0, to: 1 }, 1)).toBe(false);
  });
  it("reaches beyond the window as far as the recording goes", () => {
    expect(wider({ from: 100, to: 200 }, -1, 1000)).toEqual({ from: 50, to: 250 });
    expect(wider({ from: 0, to: 900 }, -1, 1000)).toEqual({ from: -1, to: 1000 });
  });
});

describe("the address", () => {
  it("holds the window, the selection and the search", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 1e12 }),
        fc.integer({ min: 1, max: 1e12 }),
        fc.option(fc.bigInt(0n, 2n ** 62n)),
        fc.string(),
        (from, long, slice, search) => {
          const place = {
            window: { from, to: from + long },
            slice: slice === null ? null : String(slice),
            range: null,
            search,
            together: long % 2 === 0,
          };
          fc.pre(search.isWellFormed());
          expect(read(write(place), 0n)).toEqual(place);
        },
      ),
    );
  });
  it("says nothing when it makes no sense", () => {
    for (const odd of [
      "#timeline?window=5~1",
      "#timeline?window=a~b&slice=<script>",
      "#timeline?slice=1e9",
      "#timeline",
      "#timeline?range=~",
    ]) {
      expect(read(odd, 0n)).toEqual({
        window: null,
        slice: null,
        range: null,
        search: "",
        together: false,
      });
    }
  });
  it("takes moments of the axis from other views", () => {
    expect(
      read("#timeline?from=1000000000000000007&to=1000000000000000107", 1_000_000_000_000_000_000n).window,
    ).toEqual({ from: 7, to: 107 });
    expect(read("#timeline?from=7&to=107&sum=1", 7n).range).toEqual({ from: 0, to: 100 });
    expect(read("#timeline?from=7&to=107", 7n).range).toBeNull();
  });
});

/** A catalog of recordings: of each its run, its span, and when its steps begin and end. */
function catalogOf(
  ...recordings: { run: string; span: [number, number]; steps: [number, number][] }[]
): Catalog {
  return {
    start_ps: recordings.reduce((least, one) => Math.min(least, one.span[0]), Infinity),
    end_ps: recordings.reduce((most, one) => Math.max(most, one.span[1]), 0),
    tracks: recordings.map(({ run }, track) => ({ track, run_id: run, source_id: String(track) })),
    sources: recordings.map(({ run, span }, i) => ({
      source_id: String(i),
      run_id: run,
      host_id: "h",
      first_ps: span[0],
      last_ps: span[1],
    })),
    steps: recordings.flatMap(({ run, steps }) =>
      steps.map(([from, to], step) => ({ run_id: run, step, name: "train", ts_ps: from, dur_ps: to - from })),
    ),
  } as unknown as Catalog;
}
describe("the axis", () => {
  it("begins with the steps, not with what a recorder did before them", () => {
    const lay = new Lay(catalogOf({ run: "a", span: [0, 1000], steps: [[700, 750], [750, 800]] })); // biome-ignore format: a table
    const { from, to } = lay.first();
    expect([from, to]).toEqual([698, 802]);
  });
  it("begins with everything where nothing shows steps", () => {
    expect(new Lay(catalogOf({ run: "a", span: [5, 1005], steps: [] })).first()).toEqual({
      from: 0,
      to: 1000,
    });
  });
  it("begins with the steps of one of several recordings that lie far apart", () => {
    const lay = new Lay(
      catalogOf(
        { run: "a", span: [0, 10], steps: [] },
        { run: "b", span: [1e6, 1e6 + 100], steps: [[1e6 + 20, 1e6 + 70]] }, // biome-ignore format: a table
      ),
    );
    expect(lay.first()).toEqual({ from: 1e6 + 19, to: 1e6 + 71 });
  });
  it("begins so too where only their steps lie far apart", () => {
    const made = (begin: number, end: number) =>
      catalogOf(
        { run: "a", span: [0, 400], steps: [[begin, end]] },
        { run: "b", span: [500, 1000], steps: [[900, 910]] },
      );
    expect(new Lay(made(10, 20)).apart).toBe(true);
    expect(new Lay(made(10, 390)).apart).toBe(false);
  });
  it("lets recordings begin together: tracks and steps move by what lies before theirs", () => {
    const lay = new Lay(
      catalogOf(
        { run: "a", span: [100, 200], steps: [[110, 120]] },
        { run: "b", span: [5000, 5400], steps: [[5010, 5030]] },
      ),
    );
    expect(lay.at(5010, 1)).toBe(4910);
    lay.together = true;
    expect([lay.at(110, 0), lay.at(5010, 1), lay.at(5010, null)]).toEqual([10, 10, 4910]);
    expect(lay.steps().map((band) => [band.from, band.to, band.recording])).toEqual([
      [10, 20, 0],
      [10, 30, 1],
    ]);
    expect(lay.length()).toBe(400);
  });
  it("lets first steps lie at one place, behind the longest that comes before them", () => {
    const lay = new Lay(
      catalogOf(
        { run: "a", span: [0, 100], steps: [[60, 70]] },
        { run: "b", span: [5000, 5030], steps: [[5010, 5020]] },
        { run: "c", span: [9000, 9005], steps: [] },
      ),
    );
    lay.together = true;
    expect([lay.at(60, 0), lay.at(5010, 1), lay.at(9000, 2), lay.length()]).toEqual([60, 60, 0, 100]);
  });
});
describe("short names", () => {
  const named = (...names: string[]) =>
    names.map((name, track) => ({ track, name, run_id: "r", host_id: "h", group: "g" }) as Track);
  it("lose the numbers of the system, and are counted where they are alike then", () => {
    const found = shortTitles(
      named(
        "tf_Compute/-2530033226723029999",
        "tf_Compute/166965057183036",
        "main/123456789012",
        "worker 12",
      ),
    );
    expect([...found.values()]).toEqual(["tf_Compute 1", "tf_Compute 2", "main", "worker 12"]);
    expect(shortTitles(named("12345678901")).get(0)).toBe("12345678901");
  });
  it("name what a track is, unless it is a thread", () => {
    const track = { kind: "thread", device: null, group: "g", slices: 1290 } as Track;
    expect(aboutTrack(track)).toBe("1,290 slices");
    expect(aboutTrack({ ...track, kind: "device_stream", slices: 1 })).toBe("1 slice · device stream");
  });
  it("keep the number at their end where there is no room", () => {
    expect(piecesOf("ThreadPool worker 12")).toEqual(["ThreadPool worker", " 12"]);
    expect(piecesOf("python")).toEqual(["python", ""]);
  });
});
describe("letters on colours", () => {
  it("can be read on every colour, as far as black or white can be", () => {
    const light = (rgb: number[]) => {
      const [r, g, b] = rgb.map((v) => (v <= 10 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
    };
    const byte = fc.nat(255);
    fc.assert(
      fc.property(fc.tuple(byte, byte, byte), ([r, g, b]) => {
        const on = light([r, g, b]),
          text = textOn(`rgb(${r}, ${g}, ${b})`, "rgb(255, 255, 255)") === "#fff" ? 1 : 0;
        expect((Math.max(on, text) + 0.05) / (Math.min(on, text) + 0.05)).toBeGreaterThanOrEqual(4.5);
      }),
    );
    expect(textOn("rgb(0, 0, 0)", "rgb(255, 255, 255)", 0.1)).toBe("#000");
  });
});
