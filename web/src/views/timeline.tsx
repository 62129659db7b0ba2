// The timeline: canvas, tip and panel, with its bar and its gutter.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useCommands } from "../commands";
import { counted, duration } from "../format";
import { Loaded, Problem } from "../loading";
import { Bar } from "../timeline/bar";
import { Board } from "../timeline/board";
import { Divider, placeOf } from "../timeline/divider";
import { Gutter } from "../timeline/gutter";
import type { Ink } from "../timeline/ink";
import { inkOf, onTheme } from "../timeline/ink";
import { heightOf } from "../timeline/lanes";
import { Minimap } from "../timeline/minimap";
import { mouse } from "../timeline/mouse";
import type { Names } from "../timeline/names";
import { nounOf } from "../timeline/paint";
import { RangePanel, SlicePanel, StackPanel } from "../timeline/panel";
import { moment, RULER } from "../timeline/ruler";
import { spanOf } from "../timeline/scale";
import "../timeline/timeline.css";
import { plain } from "../plain";
import type { Catalog, View } from "../types";

/** The column of the names, and the panel of details, as wide and as high as the reader made them. */
const nameColumn = placeOf("stepscope.timeline-names", 240, 90, 900);
const details = placeOf("stepscope.timeline-details", 270, 90, 2000);
const ABOUT = "Slices of all tracks over time. Press ? for the keys; everything selected is described below.";
const HINT =
  "Drag to move, Ctrl-wheel or W and S to zoom, click a slice for all that is known of it, " +
  "Shift-drag for a range.";

function Timeline(): JSX.Element {
  return (
    <Loaded<Catalog> from="/api/catalog">
      {(catalog) => (
        <Loaded<Names> from="/api/names">{(names) => <Whole catalog={catalog} names={names} />}</Loaded>
      )}
    </Loaded>
  );
}

function Whole({ catalog, names }: { catalog: Catalog; names: Names }): JSX.Element {
  const board = useMemo(() => new Board(catalog, names), [catalog, names]);
  const scroller = useRef<HTMLDivElement>(null),
    canvas = useRef<HTMLCanvasElement>(null),
    probe = useRef<HTMLDivElement>(null),
    search = useRef<HTMLInputElement>(null),
    inks = useRef<Ink | null>(null);
  useEffect(() => {
    const view = scroller.current!,
      area = canvas.current!.parentElement!;
    inks.current = inkOf(probe.current!);
    const stopTheme = onTheme(() => {
      inks.current = inkOf(probe.current!);
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
    const detach = mouse(canvas.current!, board, (by) => {
      view.scrollTop += by;
    });
    const end = board.begin(canvas.current!, () => inks.current!);
    return () => {
      end();
      detach();
      unscroll();
      sized.disconnect();
      stopTheme();
      view.removeEventListener("scroll", onScroll);
    };
  }, [board]);
  const keys = useMemo(
    () => [
      { title: "Timeline: zoom in", key: "w", run: () => board.zoomHere(0.8) },
      { title: "Timeline: zoom out", key: "s", run: () => board.zoomHere(1.25) },
      { title: "Timeline: earlier", key: "a", run: () => board.pan(-0.1) },
      { title: "Timeline: later", key: "d", run: () => board.pan(0.1) },
      { title: "Timeline: earlier by a screen", key: "ArrowLeft", run: () => board.pan(-0.5) },
      { title: "Timeline: later by a screen", key: "ArrowRight", run: () => board.pan(0.5) },
      { title: "Timeline: the steps", key: "0", run: () => board.recorded() },
      { title: "Timeline: all of it", key: "Home", run: () => board.home() },
      { title: "Timeline: zoom to the selection", key: "f", run: () => board.zoomToSelection() },
      { title: "Timeline: mark the selection", key: "m", run: () => board.mark() },
      { title: "Timeline: find slices", key: "/", run: () => search.current?.focus() },
      { title: "Timeline: next slice found", key: "n", run: () => void board.turn(1) },
      { title: "Timeline: previous slice found", key: "p", run: () => void board.turn(-1) },
      { title: "Timeline: close the details", key: "Escape", run: () => board.clear() },
      { title: "Timeline: nothing selected", key: "x", run: () => board.clear() },
    ],
    [board],
  );
  useCommands(keys);
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
          <i class={`tl-${name}`} />
        ))}
      </div>
      <Panel board={board} />
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

function Panel({ board }: { board: Board }): JSX.Element {
  const { marks } = board,
    { detail, stack } = board.selection,
    { range, totals, slices } = board.totals,
    { found, text } = board.search,
    { error } = board.questions;
  const at = (ps: number | string, track: number | null = null) =>
    moment(board.lay.at(ps, track), Math.max(spanOf(board.window.value) / 1e6, 1));
  const open = detail.value !== null || stack.value !== null || range.value !== null;
  return (
    <div class="tl-panel" aria-live="polite" style={open ? { height: `${details.pixels.value}px` } : {}}>
      {open && (
        <>
          <Divider of={details} across={false} label="Height of the details" />
          <button
            type="button"
            class="tl-close"
            title="Close (Esc)"
            aria-label="Close the details"
            onClick={() => board.clear()}
          >
            ×
          </button>
        </>
      )}
      {error.value !== null && <Problem error={error.value} />}
      {detail.value && (
        <SlicePanel
          detail={detail.value}
          name={board.nameOf(detail.value.track)}
          moment={at(detail.value.slice.ts_ps, detail.value.track?.track ?? null)}
          go={(id) => void board.select(id, true)}
        />
      )}
      {stack.value && <StackPanel stack={stack.value} />}
      {range.value && !totals.value && !error.value && (
        <p class="quiet" role="status">
          {duration(spanOf(range.value))}:{" "}
          {slices.value === null ? "adding up …" : `adding up ${slices.value.toLocaleString("en")} slices …`}{" "}
          <button type="button" class="plain" onClick={() => board.totals.giveUp()}>
            Stop
          </button>
        </p>
      )}
      {range.value && totals.value && (
        <RangePanel
          ranged={totals.value}
          length={spanOf(range.value)}
          tracks={board.totals.tracks.value}
          go={(id) => void board.select(id, true)}
        />
      )}
      {!detail.value &&
        !stack.value &&
        !range.value &&
        found.value &&
        (found.value.total ? (
          <ol class="tl-found">
            {found.value.slices.slice(0, 100).map((slice, i) => (
              <li>
                <button
                  type="button"
                  class="link"
                  onClick={() => {
                    board.search.at.value = i;
                    void board.select(slice.id, true);
                  }}
                >
                  {plain(slice.name, 200)}
                </button>{" "}
                <span class="quiet">
                  {duration(Number(slice.dur_ps))} at {at(slice.ts_ps, slice.track)}
                </span>
              </li>
            ))}
          </ol>
        ) : (
          <p>No slice has “{text.value}” in its name.</p>
        ))}
      {marks.value.length > 0 && (
        <p class="tl-marks">
          Marks:{" "}
          {marks.value.map((mark) => (
            <span>
              <button
                type="button"
                class="plain"
                onClick={() => {
                  board.totals.range.value = null;
                  void board.choose(mark);
                }}
              >
                {duration(spanOf(mark))}
              </button>
              <button
                type="button"
                class="plain"
                aria-label="Remove this mark"
                onClick={() => {
                  marks.value = marks.value.filter((one) => one !== mark);
                }}
              >
                ×
              </button>
            </span>
          ))}
        </p>
      )}
      {!detail.value && !stack.value && !range.value && !found.value && error.value === null && (
        <p class="quiet">
          {board.rows.value.length === 0
            ? "The recording has no slices to draw."
            : board.selection.id.value !== null
              ? "Reading …"
              : HINT}
        </p>
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
