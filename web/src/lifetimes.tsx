// Memory over time: what an allocator held, and below it how long each block lived, on one axis of time.

import type { ComponentChildren, JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { colourOf } from "./colours";
import { counted, duration } from "./format";
import { Legend } from "./legend";
import { Marks, Rules, riseOf } from "./marks";
import { plain } from "./plain";
import { show } from "./scale";
import "./lifetimes.css";

export interface Block {
  source_id: string;
  path: string;
  run_id: string;
  host_id: string;
  allocator: string;
  device: string;
  shift_ps: number;
  op_name: string | null;
  op_type: string | null;
  kind: string;
  dtype: string | null;
  shape: string | null;
  bytes: number;
  begin_ps: number | null;
  until_ps: number | null;
  used_ps: number | null;
  at_peak: boolean;
  lane: number | null;
  file: string | null;
  line: number | null;
  blocks: number;
  rank: number;
  has_times: number;
}
export interface Point {
  ts_ps: number;
  bytes: number;
}
interface Span {
  from: number;
  to: number;
}

const WIDE = 1000;
const HIGH = 150;
const LANES = 300; // pixels that all lanes together take at most

/** What is held at each moment as corners of steps, within a window of time. */
function corners(points: Point[], { from, to }: Span): [number, number][] {
  const found: [number, number][] = [];
  const x = (ps: number) => (WIDE * (ps - from)) / Math.max(to - from, 1);
  let held = 0;
  for (const point of points) {
    if (point.ts_ps >= from && !found.length) found.push([0, held]);
    if (point.ts_ps > to) break;
    if (point.ts_ps >= from) found.push([x(point.ts_ps), held], [x(point.ts_ps), point.bytes]);
    held = point.bytes;
  }
  if (!found.length) found.push([0, held]);
  found.push([WIDE, held]);
  return found;
}

/** The whole time of some points and blocks. */
function wholeOf(points: Point[], blocks: Block[]): Span {
  const moments = [
    ...points.map((p) => p.ts_ps),
    ...blocks.flatMap((b) => [b.begin_ps, b.until_ps]).filter((ps) => ps !== null),
  ];
  const from = moments.reduce((a, b) => Math.min(a, b), Infinity);
  const to = moments.reduce((a, b) => Math.max(a, b), -Infinity);
  return Number.isFinite(from) ? { from, to: Math.max(to, from + 1) } : { from: 0, to: 1 };
}

/** How long blocks lived, a lane for each that live at once. length: how a time is written. `children`: what is
 * behind them, for the height of all lanes. */
function Lanes({
  blocks,
  lanes,
  kinds,
  shown,
  whole,
  length,
  children,
}: {
  blocks: Block[];
  lanes: number;
  kinds: string[];
  shown: Span;
  whole: Span;
  length: (ps: number) => string;
  children: (high: number) => ComponentChildren;
}): JSX.Element {
  const row = Math.max(Math.min(LANES / lanes, 14), 2);
  const x = (ps: number) => (WIDE * (ps - shown.from)) / (shown.to - shown.from);
  const lived = ({ begin_ps: begin, until_ps: until }: Block) => {
    if (until === null) return "never freed within the recording";
    return begin === null ? "held before the recording" : length(until - begin);
  };
  const titleOf = (b: Block) =>
    [
      plain(b.op_name ?? "(unknown)", 200),
      `${show(b.bytes, "bytes")}, ${b.kind}, ${lived(b)}`,
      [b.dtype, b.shape].filter(Boolean).join(" "),
      b.file ? plain(`${b.file}:${b.line}`, 200) : "",
    ]
      .filter(Boolean)
      .join("\n");
  return (
    <svg
      class="lanes"
      viewBox={`0 0 ${WIDE} ${lanes * row}`}
      height={lanes * row}
      preserveAspectRatio="none"
      role="img"
      aria-label={`lifetimes of ${counted(blocks.length, "block")}`}
    >
      {children(lanes * row)}
      {blocks.map((b) => {
        const from = x(Math.max(b.begin_ps ?? whole.from, shown.from));
        const to = x(Math.min(b.until_ps ?? whole.to, shown.to));
        return (
          <rect
            class={`${colourOf(b.kind, kinds.indexOf(b.kind))}${b.at_peak ? "" : " faint"}`}
            x={from}
            width={Math.max(to - from, 0.8)}
            y={b.lane! * row}
            height={row * 0.85}
          >
            <title>{titleOf(b)}</title>
          </rect>
        );
      })}
    </svg>
  );
}

interface Options {
  points: Point[];
  blocks: Block[];
  peakPs: number | null;
  peakBytes: number;
  linked: boolean;
}

export function Lifetimes({ points, blocks, peakPs, peakBytes, linked }: Options): JSX.Element {
  const whole = wholeOf(points, blocks);
  const [zoomed, setZoom] = useState<Span | null>(null);
  const [drag, setDrag] = useState<[number, number] | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const shown = zoomed ?? whole;
  const wide = shown.to - shown.from;
  const x = (ps: number) => (WIDE * (ps - shown.from)) / wide;
  const at = (e: PointerEvent) => {
    const { left, width } = box.current!.getBoundingClientRect();
    return shown.from + wide * Math.min(Math.max((e.clientX - left) / width, 0), 1);
  };
  const area = corners(points, shown);
  const most = Math.max(peakBytes, ...points.map((p) => p.bytes), 1);
  const rise = riseOf(most, "bytes", HIGH);
  const outline = area.map(([a, b]) => `${a.toFixed(2)},${rise.y(b).toFixed(1)}`).join(" ");
  const drawn = blocks.filter(
    (b) =>
      b.lane !== null && (b.begin_ps ?? whole.from) <= shown.to && (b.until_ps ?? whole.to) >= shown.from,
  );
  const lanes = Math.max(0, ...blocks.map((b) => (b.lane ?? -1) + 1));
  const timed = blocks[0]?.has_times !== 0;
  // Without times, changes are drawn a microsecond apart.
  const length = (ps: number) => (timed ? duration(ps) : counted(Math.round(ps / 1e6), "change"));
  const atPeak = peakPs !== null && peakPs >= shown.from && peakPs <= shown.to;
  const kinds = [...new Set(blocks.map((b) => b.kind))].sort();
  const release = () => {
    if (drag) {
      const [from, to] = [Math.min(...drag), Math.max(...drag)];
      if (to - from > wide / 200) setZoom({ from, to });
    }
    setDrag(null);
  };
  const link = `#timeline?from=${BigInt(Math.floor(shown.from))}&to=${BigInt(Math.ceil(shown.to))}`;
  return (
    <div class="lifetimes">
      <p class="quiet">
        {zoomed ? (
          <>
            {length(wide)} of {length(whole.to - whole.from)}.{" "}
            <button type="button" class="plain" onClick={() => setZoom(null)}>
              Show all
            </button>
          </>
        ) : (
          "Drag over a part to look closer."
        )}{" "}
        {linked && <a href={link}>Show in the timeline</a>}
      </p>
      <div class="plot">
        <Marks of={rise} high={HIGH} />
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the table below it has all that it shows. */}
        <div
          class="window"
          ref={box}
          onPointerDown={(e) => {
            if (e.button) return;
            box.current!.setPointerCapture(e.pointerId);
            setDrag([at(e), at(e)]);
          }}
          onPointerMove={(e) => {
            const moment = at(e);
            setDrag((now) => now && [now[0], moment]);
          }}
          onPointerUp={release}
          onPointerCancel={() => setDrag(null)}
          onDblClick={() => setZoom(null)}
        >
          <svg
            class="held"
            viewBox={`0 0 ${WIDE} ${HIGH}`}
            height={HIGH}
            preserveAspectRatio="none"
            role="img"
            aria-label={`memory held over ${length(wide)}, at most ${show(most, "bytes")}`}
          >
            <Rules of={rise} wide={WIDE} />
            <polygon class="series-0 fill" points={`0,${HIGH} ${outline} ${WIDE},${HIGH}`} />
            <polyline class="series-0 stroke" points={outline} />
            {atPeak && (
              <line class="peak" x1={x(peakPs)} x2={x(peakPs)} y1="0" y2={HIGH}>
                <title>{`the peak: ${show(peakBytes, "bytes")}`}</title>
              </line>
            )}
          </svg>
          {lanes > 0 && (
            <Lanes blocks={drawn} lanes={lanes} kinds={kinds} shown={shown} whole={whole} length={length}>
              {(high) => atPeak && <line class="peak" x1={x(peakPs)} x2={x(peakPs)} y1="0" y2={high} />}
            </Lanes>
          )}
          {drag && (
            <i
              class="selection"
              style={{
                left: `${(100 * (Math.min(...drag) - shown.from)) / wide}%`,
                width: `${(100 * Math.abs(drag[1] - drag[0])) / wide}%`,
              }}
            />
          )}
        </div>
        <div class="ends">
          <span>{shown.from > whole.from ? length(shown.from - whole.from) : "0"}</span>
          <span>
            {timed
              ? "since the first block"
              : "since the first block, in their order: no times were recorded"}
          </span>
          <span>{length(shown.to - whole.from)}</span>
        </div>
      </div>
      {lanes > 0 && (
        <Legend of={kinds.map((kind, i) => [colourOf(kind, i), plain(kind, 40)])}>
          <li class="quiet">
            strong: held at the peak;{" "}
            {blocks.length < (blocks[0]?.blocks ?? 0)
              ? `the largest ${blocks.length.toLocaleString("en")} of ${counted(blocks[0]!.blocks, "block")}`
              : counted(blocks.length, "block")}
          </li>
        </Legend>
      )}
    </div>
  );
}
