// Boxes and edges on a canvas, where there are too many for elements.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { onTheme } from "../timeline/ink";
import type { Size, Window } from "./frames";
import { type Colouring, fillOf, type Level } from "./level";

const MOST_MOVING = 4_000; // edges that are painted while the drawing moves; the others come when it rests
const REST_MS = 160;

/** What is too much for elements: boxes as areas, edges as lines, each of them. */
export function Painted({
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
  window: Window;
  size: Size;
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
          context.moveTo(p.x + p.width / 2, p.y + p.height);
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
        context.fillRect(box.x, box.y, Math.max(box.width, window.unit), Math.max(box.height, window.unit));
        if (window.unit < 8) {
          context.strokeStyle = line;
          context.lineWidth = window.unit;
          context.strokeRect(box.x, box.y, box.width, box.height);
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
