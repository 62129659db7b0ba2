// The timeline: canvas, tip and panel, with its bar and its gutter.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { type Command, useCommands } from "../commands";
import { counted, duration } from "../format";
import { Loaded } from "../loading";
import { Bar } from "../timeline/bar";
import { Board } from "../timeline/board";
import { Details } from "../timeline/details";
import { Divider, placeOf } from "../timeline/divider";
import { Gutter } from "../timeline/gutter";
import type { Ink } from "../timeline/ink";
import { inkOf, onTheme } from "../timeline/ink";
import { heightOf } from "../timeline/lanes";
import { Minimap } from "../timeline/minimap";
import { mouse } from "../timeline/mouse";
import type { Names } from "../timeline/names";
import { nounOf } from "../timeline/paint";
import { RULER } from "../timeline/ruler";
import "../timeline/timeline.css";
import { plain } from "../plain";
import type { Catalog, View } from "../types";

/** The column of the names, as wide as the reader made it. */
const nameColumn = placeOf("stepscope.timeline-names", 240, 90, 900);
const ABOUT = "Slices of all tracks over time. Press ? for the keys; everything selected is described below.";

function Timeline(): JSX.Element {
  return (
    <Loaded<Catalog> from="/api/catalog">
      {(catalog) => (
        <Loaded<Names> from="/api/names">{(names) => <Whole catalog={catalog} names={names} />}</Loaded>
      )}
    </Loaded>
  );
}

/** Lets a board be drawn on the canvas, sized as the page has room, and moved by mouse and scroll bar; returns
 * what ends that. */
function attached(
  board: Board,
  view: HTMLDivElement,
  canvas: HTMLCanvasElement,
  probe: HTMLDivElement,
  inks: { current: Ink | null },
): () => void {
  const area = canvas.parentElement!;
  inks.current = inkOf(probe);
  const stopTheme = onTheme(() => {
    inks.current = inkOf(probe);
    board.redraw();
  });
  const measure = () => {
    const before = board.size.value.height;
    board.size.value = { width: Math.max(area.clientWidth, 50), height: Math.max(view.clientHeight, 120) };
    if (board.size.value.height < before) board.keepInView(); // the panel took its room
  };
  const sized = new ResizeObserver(measure);
  sized.observe(view);
  sized.observe(area);
  measure();
  board.redraw();
  const onScroll = () => {
    board.top.value = view.scrollTop;
  };
  view.addEventListener("scroll", onScroll, { passive: true });
  const unscroll = board.top.subscribe((top) => {
    if (Math.abs(view.scrollTop - top) > 1) view.scrollTop = top;
  });
  const detach = mouse(canvas, board, (by) => {
    view.scrollTop += by;
  });
  const end = board.begin(canvas, () => inks.current!);
  return () => {
    end();
    detach();
    unscroll();
    sized.disconnect();
    stopTheme();
    view.removeEventListener("scroll", onScroll);
  };
}

/** What the keys do while the timeline is shown. */
function keysOf(board: Board, search: { current: HTMLInputElement | null }): Command[] {
  const keys: [key: string, title: string, run: () => void][] = [
    ["w", "zoom in", () => board.zoomHere(0.8)],
    ["s", "zoom out", () => board.zoomHere(1.25)],
    ["a", "earlier", () => board.pan(-0.1)],
    ["d", "later", () => board.pan(0.1)],
    ["ArrowLeft", "earlier by a screen", () => board.pan(-0.5)],
    ["ArrowRight", "later by a screen", () => board.pan(0.5)],
    ["0", "the steps", () => board.recorded()],
    ["Home", "all of it", () => board.home()],
    ["f", "zoom to the selection", () => board.zoomToSelection()],
    ["m", "mark the selection", () => board.mark()],
    ["/", "find slices", () => search.current?.focus()],
    ["n", "next slice found", () => void board.turn(1)],
    ["p", "previous slice found", () => void board.turn(-1)],
    ["Escape", "close the details", () => board.clear()],
    ["x", "nothing selected", () => board.clear()],
  ];
  return keys.map(([key, title, run]) => ({ title: `Timeline: ${title}`, key, run }));
}

function Whole({ catalog, names }: { catalog: Catalog; names: Names }): JSX.Element {
  const board = useMemo(() => new Board(catalog, names), [catalog, names]);
  const scroller = useRef<HTMLDivElement>(null),
    canvas = useRef<HTMLCanvasElement>(null),
    probe = useRef<HTMLDivElement>(null),
    search = useRef<HTMLInputElement>(null),
    inks = useRef<Ink | null>(null);
  useEffect(() => attached(board, scroller.current!, canvas.current!, probe.current!, inks), [board]);
  useCommands(useMemo(() => keysOf(board, search), [board]));
  const classes = catalog.classes.map((name) => <i class={`class-${name}`} />);
  return (
    <div
      class="timeline"
      style={{
        "--names": `${nameColumn.pixels.value}px`,
        "--high": `${board.size.value.height}px`,
      }}
    >
      <Bar board={board} search={search} />
      <div class="tl-overview">
        <span class="quiet">{counted(catalog.tracks.filter((t) => t.slices > 0).length, "track")}</span>
        <Minimap board={board} ink={() => inks.current} />
      </div>
      <div class="tl-scroll" ref={scroller}>
        <div class="tl-page">
          <Spacer board={board} />
          <div class="tl-gutter">
            <Gutter board={board} />
            <Divider of={nameColumn} across label="Width of the names" />
          </div>
          <div class="tl-area">
            <canvas
              ref={canvas}
              tabIndex={0}
              style={{ height: `${board.size.value.height}px` }}
              role="img"
              aria-label={ABOUT}
            />
            <Tip board={board} />
          </div>
        </div>
      </div>
      <div class="tl-probe" ref={probe} aria-hidden="true">
        {classes}
        {["ink", "quiet", "edge", "paper", "card", "accent"].map((name) => (
          <i style={{ background: `var(--${name})` }} />
        ))}
      </div>
      <Details board={board} />
    </div>
  );
}

/** As high as all rows, so that the scroll bar is that of the whole page. */
const Spacer = ({ board }: { board: Board }): JSX.Element => (
  <div class="tl-spacer" style={{ height: `${heightOf(board.rows.value) + RULER}px` }} />
);

function Tip({ board }: { board: Board }): JSX.Element | null {
  const hover = board.hover.value;
  if (!hover) return null;
  const {
      piece: { cells },
      cell,
    } = hover.hit,
    { width } = board.size.value;
  const count = cells.count[cell]!,
    name = plain(board.names.names[cells.name[cell]!] ?? "", 300);
  const right = hover.x > width - 340;
  return (
    <div
      class="tl-tip"
      style={{
        top: `${hover.y + 14}px`,
        ...(right ? { right: `${width - hover.x + 8}px` } : { left: `${hover.x + 12}px` }),
      }}
    >
      {count > 1 ? (
        <>
          <b>
            {count.toLocaleString("en")} {nounOf(hover.hit.row)}
          </b>{" "}
          in {duration(cells.width[cell]!)}, busy for {duration(cells.busy[cell]!)}
          <br />
          longest: {name}
          <br />
          <span class="quiet">click to open</span>
        </>
      ) : (
        <>
          <b>{name}</b>
          <br />
          {duration(cells.width[cell]!)}
        </>
      )}
    </div>
  );
}

export const view: View = {
  name: "timeline",
  title: "Timeline",
  order: 2,
  key: "2",
  hasAny: (catalog) => catalog.tracks.some((track) => track.slices > 0),
  Component: Timeline,
};
