// Draws a level of a graph. Boxes that can be read are elements, with names and keys; where there are too
// many for that, they and their edges are painted, so that 100,000 of them stay quick.

import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { hueOf } from "./colours";
import { counted, duration } from "./format";
import { plain } from "./plain";
import { onTheme } from "./timeline/ink";

export interface Box {
  path: string;
  name: string;
  op_type: string | null;
  device: string;
  nodes: number;
  time_ps: number;
  output_bytes: number;
  cluster: string;
  copies: number;
  can_open: boolean;
  x: number;
  y: number;
  width: number;
}
export interface Level {
  boxes: Box[];
  edges: [number, number, number][];
  inside: number;
  nodes: number;
  dangling: number;
  left_out: number;
  time_ps: number;
}
export interface Frame {
  x: number;
  y: number;
  wide: number;
  high: number;
}
export const COLOURINGS = ["time", "memory", "device", "cluster", "type"] as const;
export type Colouring = (typeof COLOURINGS)[number];

const HEIGHT = 34;
const HUE = "oklch("; // how a fill begins that needs dark letters in both themes
const MOST_ELEMENTS = 1_200;
const MOST_PATHS = 3_000;
const MOST_MOVING = 4_000; // edges that are painted while the drawing moves; the others come when it rests
const REST_MS = 160;
const LEAST_UNIT = 0.7; // units per pixel: a few boxes are not blown up
const MOST_UNIT = 1; // to begin with: letters are 11 pixels high then, at least

/** What a colouring says more of; null where it says which. */
export const amount = (box: Box, colouring: Colouring): number | null =>
  colouring === "time" ? box.time_ps : colouring === "memory" ? box.output_bytes : null;

/** The frame that shows all boxes, with room around them. */
export function frameOf(boxes: readonly Box[]): Frame {
  let right = 1,
    low = 1;
  for (const box of boxes) {
    right = Math.max(right, box.x + box.width);
    low = Math.max(low, box.y + HEIGHT);
  }
  return { x: -20, y: -20, wide: right + 40, high: low + 40 };
}

const KEYS = "arrows move it, + and - zoom, Home shows all of it";
const classes = (name: string, more: Record<string, boolean>): string =>
  [name, ...Object.keys(more).filter((one) => more[one])].join(" ");

/** A frame around some boxes in which every label can be read: where they need more room, it shows those
 * around `centre`. */
function readableFrame(
  boxes: readonly Box[],
  size: { width: number; height: number },
  centre: Box | undefined,
): Frame {
  const left = boxes.reduce((least, b) => Math.min(least, b.x), Infinity) - 20,
    top = boxes.reduce((least, b) => Math.min(least, b.y), Infinity) - 20,
    right = boxes.reduce((most, b) => Math.max(most, b.x + b.width), -Infinity) + 20,
    low = boxes.reduce((most, b) => Math.max(most, b.y + HEIGHT), -Infinity) + 20;
  const fits = Math.max((right - left) / size.width, (low - top) / size.height);
  const unit = Math.min(Math.max(LEAST_UNIT, fits), MOST_UNIT);
  const wide = size.width * unit,
    high = size.height * unit;
  // All of it in the middle, or what is around the box.
  const along = (begin: number, end: number, room: number, at: number) =>
    end - begin <= room ? (begin + end - room) / 2 : at - room / 2;
  return {
    x: along(left, right, wide, centre ? centre.x + centre.width / 2 : (left + right) / 2),
    y: along(top, low, high, centre ? centre.y + HEIGHT / 2 : top + high / 2),
    wide,
    high,
  };
}

/** The frame to begin with: all boxes where they can be read then, else those around the one that takes most
 * time; without times the first ones. */
export function firstFrame(boxes: readonly Box[], size: { width: number; height: number }): Frame {
  if (!boxes.length) return frameOf(boxes);
  const busiest = boxes.reduce((most, b) => (b.time_ps > most.time_ps ? b : most));
  return readableFrame(boxes, size, busiest.time_ps > 0 ? busiest : undefined);
}

/** The frame `factor` times as large around a point of it. */
export const scaled = (frame: Frame, factor: number, x: number, y: number): Frame => ({
  x: x - (x - frame.x) * factor,
  y: y - (y - frame.y) * factor,
  wide: frame.wide * factor,
  high: frame.high * factor,
});

/** Colour of a box: more of the time is more of the colour; a device or a type is a hue. */
export function fillOf(box: Box, colouring: Colouring, most: number): string {
  const value = amount(box, colouring);
  if (value !== null)
    return most && value
      ? `color-mix(in oklch, var(--compute) ${Math.round(12 + (38 * value) / most)}%, var(--card))`
      : "var(--card)";
  const kind =
    colouring === "device" ? box.device : colouring === "cluster" ? box.cluster : (box.op_type ?? "");
  return kind ? `${HUE}0.78 0.08 ${hueOf(kind)})` : "var(--card)";
}

/** What a window of some pixels shows when all of a frame has to fit in: its corner, and units of the
 * drawing for a pixel. */
export function shownOf(
  frame: Frame,
  size: { width: number; height: number },
): { x: number; y: number; unit: number } {
  const unit = Math.max(frame.wide / size.width, frame.high / size.height);
  return {
    x: frame.x + frame.wide / 2 - (size.width / 2) * unit,
    y: frame.y + frame.high / 2 - (size.height / 2) * unit,
    unit,
  };
}

/** The places of the boxes that a window shows at least partly. */
export function seenBoxes(
  boxes: readonly Box[],
  window: { x: number; y: number; unit: number },
  size: { width: number; height: number },
): number[] {
  const right = window.x + size.width * window.unit,
    low = window.y + size.height * window.unit;
  const found: number[] = [];
  boxes.forEach((b, i) => {
    if (b.x < right && b.x + b.width > window.x && b.y < low && b.y + HEIGHT > window.y) found.push(i);
  });
  return found;
}

/** Whether a path is that of a scope or of something in it. */
const within = (path: string, scope: string): boolean => path === scope || path.startsWith(`${scope}/`);

export function Drawing({
  level,
  colouring,
  chosen,
  focus,
  way,
  turn,
}: {
  level: Level;
  colouring: Colouring;
  chosen: string | null;
  /** What was opened or found last: the drawing goes there. */
  focus: string | null;
  way: readonly string[];
  turn: (box: Box) => void;
}): JSX.Element {
  const { boxes, edges } = level;
  const [frame, setFrame] = useState(() => firstFrame(boxes, { width: 1280, height: 600 }));
  const [size, setSize] = useState({ width: 1280, height: 600 });
  const drag = useRef<{ x: number; y: number; frame: Frame; far: boolean } | null>(null);
  const svg = useRef<SVGSVGElement>(null);
  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect;
      if (width && height) setSize({ width, height });
    });
    watch.observe(svg.current!);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    const inside = focus === null ? [] : boxes.filter((b) => within(b.path, focus));
    setFrame(
      inside.length
        ? readableFrame(inside, size, inside.find((b) => b.path === focus) ?? inside[0])
        : firstFrame(boxes, size),
    );
  }, [boxes, size, focus]);
  const window = shownOf(frame, size);
  const seen = useMemo(() => seenBoxes(boxes, window, size), [boxes, frame, size]);
  const marked = useMemo(() => new Set(way), [way]);
  const most = useMemo(
    () => boxes.reduce((top, b) => Math.max(top, amount(b, colouring) ?? 0), 0),
    [boxes, colouring],
  );
  const links = useMemo(() => {
    const near = new Set(seen);
    return seen.length === boxes.length ? edges : edges.filter(([a, b]) => near.has(a) || near.has(b));
  }, [edges, boxes, seen]);
  const boxElements = seen.length <= MOST_ELEMENTS,
    edgeElements = boxElements && links.length <= MOST_PATHS;
  const at = (e: MouseEvent) => {
    const place = svg.current!.getBoundingClientRect();
    return {
      x: window.x + (e.clientX - place.left) * window.unit,
      y: window.y + (e.clientY - place.top) * window.unit,
    };
  };
  const middle = { x: frame.x + frame.wide / 2, y: frame.y + frame.high / 2 };
  const onWheel = (e: WheelEvent) => {
    e.preventDefault();
    const { x, y } = at(e);
    setFrame(scaled(frame, Math.exp(Math.max(-100, Math.min(100, e.deltaY)) * 0.003), x, y));
  };
  const onMove = (e: PointerEvent) => {
    const from = drag.current;
    if (!from) return;
    from.far ||= Math.hypot(e.clientX - from.x, e.clientY - from.y) > 4;
    if (from.far)
      setFrame({
        ...from.frame,
        x: from.frame.x - (e.clientX - from.x) * window.unit,
        y: from.frame.y - (e.clientY - from.y) * window.unit,
      });
  };
  const onKey = (e: KeyboardEvent) => {
    if (e.target !== e.currentTarget || e.ctrlKey || e.metaKey || e.altKey) return;
    const by = (x: number, y: number) =>
      setFrame({
        ...frame,
        x: frame.x + x * size.width * window.unit,
        y: frame.y + y * size.height * window.unit,
      });
    const keys: Record<string, () => void> = {
      ArrowLeft: () => by(-0.2, 0),
      ArrowRight: () => by(0.2, 0),
      ArrowUp: () => by(0, -0.2),
      ArrowDown: () => by(0, 0.2),
      "+": () => setFrame(scaled(frame, 0.8, middle.x, middle.y)),
      "-": () => setFrame(scaled(frame, 1.25, middle.x, middle.y)),
      Home: () => setFrame(frameOf(boxes)),
    };
    const run = keys[e.key];
    if (run) {
      e.preventDefault();
      run();
    }
  };
  // Where boxes are too small to be meant, a click goes nearer.
  const nearer = (e: MouseEvent) => {
    if (!boxElements && !drag.current?.far) {
      const { x, y } = at(e);
      setFrame(scaled(frame, 0.3, x, y));
    }
  };
  return (
    <div class="graph-drawing">
      <Painted
        level={level}
        window={window}
        size={size}
        seen={boxElements ? [] : seen}
        links={edgeElements ? [] : links}
        colouring={colouring}
        most={most}
        marked={marked}
      />
      <svg
        ref={svg}
        class="graph"
        viewBox={`${frame.x} ${frame.y} ${frame.wide} ${frame.high}`}
        role="group"
        tabIndex={0}
        aria-label={`Graph of ${counted(boxes.length, "box", "boxes")}: ${KEYS}`}
        onWheel={onWheel}
        onPointerMove={onMove}
        onKeyDown={onKey}
        onClick={nearer}
        onPointerDown={(e) => {
          drag.current = { x: e.clientX, y: e.clientY, frame, far: false };
        }}
        onPointerUp={() => {
          setTimeout(() => {
            drag.current = null;
          });
        }}
        onPointerLeave={() => {
          drag.current = null;
        }}
      >
        {edgeElements && (
          <g>
            {links.map(([a, b, count]) => {
              const p = boxes[a]!,
                c = boxes[b]!,
                x0 = p.x + p.width / 2,
                y0 = p.y + HEIGHT,
                x1 = c.x + c.width / 2,
                y1 = c.y,
                bend = Math.max(18, Math.abs(y1 - y0) / 2.5);
              return (
                <path
                  key={`${a} ${b}`}
                  class={marked.has(p.path) && marked.has(c.path) ? "edge on" : "edge"}
                  d={`M${x0} ${y0}C${x0} ${y0 + bend} ${x1} ${y1 - bend} ${x1} ${y1}`}
                  stroke-width={Math.min(1 + Math.log2(count), 6)}
                >
                  <title>
                    {plain(p.path, 120)} → {plain(c.path, 120)}: {counted(count, "edge")}
                  </title>
                </path>
              );
            })}
          </g>
        )}
        {boxElements &&
          seen.map((i) => {
            const box = boxes[i]!,
              fill = fillOf(box, colouring, most);
            return (
              <g
                key={box.path}
                class={classes("box", {
                  opens: box.can_open,
                  chosen: box.path === chosen,
                  on: marked.has(box.path),
                  inside: focus !== null && box.path !== focus && within(box.path, focus),
                })}
                transform={`translate(${box.x} ${box.y})`}
                role="button"
                tabIndex={0}
                aria-label={`${plain(box.path, 120)}, ${counted(box.nodes, "node")}`}
                onClick={() => {
                  if (!drag.current?.far) turn(box);
                }}
                onKeyDown={(e) => {
                  if (e.key === "Enter" || e.key === " ") {
                    e.preventDefault();
                    turn(box);
                  }
                }}
              >
                {box.copies > 1 && (
                  <rect
                    class="behind"
                    x={4}
                    y={4}
                    width={box.width}
                    height={HEIGHT}
                    rx={box.op_type ? 4 : 9}
                  />
                )}
                <rect
                  width={box.width}
                  height={HEIGHT}
                  rx={box.op_type ? 4 : 9}
                  class={fill.startsWith(HUE) ? "hued" : ""}
                  style={{ fill }}
                />
                <text x={box.width / 2} y={14}>
                  {plain(box.name, Math.floor(box.width / 7))}
                  {box.copies > 1 && ` ×${box.copies}`}
                </text>
                <text class="small" x={box.width / 2} y={27}>
                  {box.time_ps
                    ? duration(box.time_ps)
                    : box.op_type
                      ? plain(box.op_type, Math.floor(box.width / 6))
                      : counted(box.nodes, "node")}
                </text>
                <title>
                  {plain(box.path, 300)} · {counted(box.nodes, "node")}
                  {box.time_ps ? ` · ${duration(box.time_ps)}` : ""}
                </title>
              </g>
            );
          })}
      </svg>
      {!boxElements && (
        <p class="graph-far quiet" role="status">
          {counted(seen.length, "box", "boxes")} in view: click or zoom in to read them.
        </p>
      )}
    </div>
  );
}

/** What is too much for elements: boxes as areas, edges as lines, each of them. */
function Painted({
  level,
  window,
  size,
  seen,
  links,
  colouring,
  most,
  marked,
}: {
  level: Level;
  window: { x: number; y: number; unit: number };
  size: { width: number; height: number };
  seen: number[];
  links: Level["edges"];
  colouring: Colouring;
  most: number;
  marked: ReadonlySet<string>;
}): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null),
    probe = useRef<HTMLElement>(null),
    colours = useRef(new Map<string, string>());
  const [themes, setThemes] = useState(0);
  useEffect(
    () =>
      onTheme(() => {
        colours.current.clear();
        setThemes((n) => n + 1);
      }),
    [],
  );
  useEffect(() => {
    const area = canvas.current!,
      context = area.getContext("2d")!,
      dots = devicePixelRatio || 1;
    const colourOf = (css: string): string => {
      let found = colours.current.get(css);
      if (found === undefined) {
        probe.current!.style.backgroundColor = css;
        found = getComputedStyle(probe.current!).backgroundColor;
        colours.current.set(css, found);
      }
      return found;
    };
    const wide = Math.round(size.width * dots),
      high = Math.round(size.height * dots);
    if (area.width !== wide || area.height !== high) {
      area.width = wide;
      area.height = high;
    }
    const paint = (whole: boolean) => {
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.clearRect(0, 0, area.width, area.height);
      const k = dots / window.unit;
      context.setTransform(k, 0, 0, k, -window.x * k, -window.y * k);
      if (whole || links.length <= MOST_MOVING) {
        context.strokeStyle = colourOf("var(--quiet)");
        context.globalAlpha = links.length > 20_000 ? 0.12 : 0.4;
        context.lineWidth = window.unit;
        context.beginPath();
        for (const [a, b] of links) {
          const p = level.boxes[a]!,
            c = level.boxes[b]!;
          context.moveTo(p.x + p.width / 2, p.y + HEIGHT);
          context.lineTo(c.x + c.width / 2, c.y);
        }
        context.stroke();
        context.globalAlpha = 1;
      }
      const line = colourOf("var(--quiet)");
      for (const i of seen) {
        const box = level.boxes[i]!;
        context.fillStyle = marked.has(box.path)
          ? colourOf("var(--high)")
          : colourOf(fillOf(box, colouring, most));
        context.fillRect(box.x, box.y, Math.max(box.width, window.unit), Math.max(HEIGHT, window.unit));
        if (window.unit < 8) {
          context.strokeStyle = line;
          context.lineWidth = window.unit;
          context.strokeRect(box.x, box.y, box.width, HEIGHT);
        }
      }
    };
    const all = links.length <= MOST_MOVING;
    const frame = requestAnimationFrame(() => paint(all));
    const later = all ? 0 : setTimeout(() => paint(true), REST_MS);
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(later);
    };
  }, [level, window.x, window.y, window.unit, size, seen, links, colouring, most, marked, themes]);
  return (
    <>
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: a canvas takes no focus without tabindex. */}
      <canvas ref={canvas} aria-hidden="true" />
      <i ref={probe} class="graph-probe" aria-hidden="true" />
    </>
  );
}
