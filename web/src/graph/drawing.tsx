// Draws a level of a graph. Boxes that can be read are elements, with names and keys; where there are too
// many for that, they and their edges are painted, so that 100,000 of them stay quick.

import type { JSX, RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { counted } from "../format";
import { BoxElement, EdgeElements, within } from "./elements";
import { type Frame, firstFrame, frameOf, readableFrame, scaled, seenBoxes, shownOf } from "./frames";
import { amount, type Box, type Colouring, type Level } from "./level";
import { Painted } from "./painted";

const MOST_ELEMENTS = 1_200;
const MOST_PATHS = 3_000;
const KEYS = "arrows move it, + and - zoom, Home shows all of it";

/** What moves and zooms a drawing, and whether it was moved since the button went down: letting go is no click
 * then. */
function useMoves(
  svg: RefObject<SVGSVGElement>,
  boxes: Box[],
  frame: Frame,
  size: { width: number; height: number },
  setFrame: (frame: Frame) => void,
) {
  const drag = useRef<{ x: number; y: number; frame: Frame; far: boolean } | null>(null);
  const window = shownOf(frame, size);
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
  const nearer = (e: MouseEvent) => {
    const { x, y } = at(e);
    setFrame(scaled(frame, 0.3, x, y));
  };
  const letGo = () => {
    drag.current = null;
  };
  const handlers = {
    onWheel,
    onPointerMove: onMove,
    onPointerDown: (e: PointerEvent) => {
      drag.current = { x: e.clientX, y: e.clientY, frame, far: false };
    },
    onPointerUp: () => {
      setTimeout(letGo);
    },
    onPointerLeave: letGo,
  };
  return { handlers, onKey, nearer, isMoved: () => drag.current?.far === true };
}

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
  const moves = useMoves(svg, boxes, frame, size, setFrame);
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
        {...moves.handlers}
        onKeyDown={moves.onKey}
        onClick={(e) => {
          if (!boxElements && !moves.isMoved()) moves.nearer(e); // boxes are too small to be meant
        }}
      >
        {edgeElements && <EdgeElements boxes={boxes} links={links} marked={marked} />}
        {boxElements &&
          seen.map((i) => {
            const box = boxes[i]!;
            return (
              <BoxElement
                key={box.path}
                box={box}
                colouring={colouring}
                most={most}
                marks={{
                  opens: box.can_open,
                  chosen: box.path === chosen,
                  on: marked.has(box.path),
                  inside: focus !== null && box.path !== focus && within(box.path, focus),
                }}
                turn={() => {
                  if (!moves.isMoved()) turn(box);
                }}
              />
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
