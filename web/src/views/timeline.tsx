// The timeline: canvas, bar, gutter, tip and panel. Over 400 lines because they are one view over one board.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { framed } from "../address";
import { post } from "../api";
import { Choice, places, texts } from "../choice";
import { useCommands } from "../commands";
import { counted, duration } from "../format";
import { Loaded, Problem } from "../loading";
import { Board } from "../timeline/board";
import { Divider, placeOf } from "../timeline/divider";
import { inkOf, onTheme } from "../timeline/ink";
import { heightOf, type Lane, pieces } from "../timeline/lanes";
import { Minimap } from "../timeline/minimap";
import { mouse } from "../timeline/mouse";
import { type Colouring, type Ink, moment, type Names, nounOf, RULER } from "../timeline/paint";
import { RangePanel, SlicePanel, StackPanel } from "../timeline/panel";
import { placement } from "../timeline/placed";
import { spanOf } from "../timeline/scale";
import "../timeline/timeline.css";
import { plain } from "../plain";
import type { Catalog, View } from "../types";

const LONGEST = 300; // characters of a track's name
/** The column of the names, and the panel of details, as wide and as high as the reader made them. */
const nameColumn = placeOf("stepscope.timeline-names", 240, 90, 900);
const details = placeOf("stepscope.timeline-details", 270, 90, 2000);
const ABOUT = "Slices of all tracks over time. Press ? for the keys; everything selected is described below.";
const HINT =
  "Drag to move, Ctrl-wheel or W and S to zoom, click a slice for all that is known of it, " +
  "Shift-drag for a range.";
const COLOURINGS: Colouring[] = ["class", "op type", "name"];

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

function Bar({ board, search }: { board: Board; search: { current: HTMLInputElement | null } }): JSX.Element {
  const found = board.found.value,
    window = board.window.value;
  return (
    <div class="tl-bar" role="toolbar" aria-label="Timeline">
      <input
        type="search"
        name="search"
        ref={search}
        placeholder="Find slices ( / )"
        aria-label="Find slices by name"
        value={board.text.value}
        onInput={(e) => void board.search(e.currentTarget.value)}
        onKeyDown={(e) => {
          if (e.key === "Enter") void board.turn(e.shiftKey ? -1 : 1);
          else if (e.key === "Escape") e.currentTarget.blur();
        }}
      />
      {found && (
        <span class="tl-count" role="status">
          {board.foundAt.value >= 0 ? `${board.foundAt.value + 1} of ` : ""}
          {counted(found.total, "slice")}
          {found.total > found.slices.length && (
            <span class="quiet" title="Only the first are visited one by one">
              {" "}
              (first {found.slices.length})
            </span>
          )}
        </span>
      )}
      {found && found.total > 0 && (
        <>
          <button type="button" aria-label="Previous slice found" onClick={() => void board.turn(-1)}>
            ↑
          </button>
          <button type="button" aria-label="Next slice found" onClick={() => void board.turn(1)}>
            ↓
          </button>
        </>
      )}
      <input
        type="search"
        name="tracks"
        placeholder="Filter tracks"
        aria-label="Filter tracks"
        value={board.arrangement.value.filter}
        onInput={(e) => board.arrange({ filter: e.currentTarget.value })}
      />
      <Choice
        label="Colour"
        name="colour"
        value={board.colouring.value}
        options={texts(COLOURINGS)}
        onChoice={(one) => {
          board.colouring.value = one as Colouring;
        }}
      />
      {board.lay.recordings.length > 1 && (
        <label title="The first steps of all recordings lie at one place, so that they can be compared">
          <input
            type="checkbox"
            name="together"
            checked={board.together.value}
            onChange={(e) => board.align(e.currentTarget.checked)}
          />{" "}
          Align starts
        </label>
      )}
      {board.lay.stretches.length > 1 && !board.together.value && (
        <Choice
          label="Go to"
          name="stretch"
          value=""
          options={[
            { value: "", text: "a recording" },
            ...places(board.lay.stretches.map((one) => plain(one.title, 80))),
          ]}
          onChoice={(at) => at !== "" && board.show(board.lay.stretches[Number(at)]!)}
        />
      )}
      <button type="button" onClick={() => board.closeAll(true)}>
        Collapse all
      </button>
      <button type="button" onClick={() => board.closeAll(false)}>
        Expand all
      </button>
      <button type="button" aria-label="Zoom out" onClick={() => board.zoomHere(2)}>
        −
      </button>
      <button type="button" aria-label="Zoom in" onClick={() => board.zoomHere(0.5)}>
        +
      </button>
      <button type="button" title="What the steps take (0)" onClick={() => board.recorded()}>
        Steps
      </button>
      <button type="button" title="All of the recording (Home)" onClick={() => board.home()}>
        All
      </button>
      {!framed && <Perfetto />}
      <span class="quiet" role="status">
        {duration(spanOf(window))} on screen
      </span>
      {placement(board.catalog.sources).map(({ text, about }) => (
        <span class="quiet tl-placed" role="note" title={about}>
          {text}
        </span>
      ))}
    </div>
  );
}

const PERFETTO = "https://ui.perfetto.dev";

/** Saves all slices in a form that Perfetto opens. Nothing leaves this machine unless the reader takes it there. */
function Perfetto(): JSX.Element {
  const [state, setState] = useState<"" | "busy" | "saved">("");
  const [error, setError] = useState<unknown>(null);
  const save = async () => {
    setState("busy");
    setError(null);
    try {
      const url = URL.createObjectURL(await (await post("/api/export", {})).blob());
      Object.assign(document.createElement("a"), { href: url, download: "stepscope.trace.json.gz" }).click();
      URL.revokeObjectURL(url);
      setState("saved");
    } catch (failure) {
      setError(failure);
      setState("");
    }
  };
  return (
    <span class="tl-export">
      <button
        type="button"
        disabled={state === "busy"}
        title="Saves a file that ui.perfetto.dev and chrome://tracing open"
        onClick={() => void save()}
      >
        {state === "busy" ? "Writing …" : "For Perfetto"}
      </button>
      {state === "saved" && (
        <>
          {" "}
          Saved: open it in{" "}
          <a href={PERFETTO} target="_blank" rel="noopener noreferrer">
            ui.perfetto.dev
          </a>
        </>
      )}
      {error !== null && <Problem error={error} />}
    </span>
  );
}

function Gutter({ board }: { board: Board }): JSX.Element {
  const top = board.top.value;
  return (
    <>
      {board.shown.value.map((row) => (
        <div
          key={`${row.kind} ${row.key}`}
          class={`tl-row tl-${row.kind}`}
          style={{ top: `${RULER + row.y - top}px`, height: `${row.height}px` }}
        >
          {row.kind !== "counter" && (
            <button
              type="button"
              class="tl-fold"
              aria-expanded={!row.closed}
              aria-label={`${row.closed ? "Expand" : "Collapse"} ${row.title}`}
              onClick={() => board.toggle("closed", row.key)}
            >
              {row.closed ? "▸" : "▾"}
            </button>
          )}
          <span class="tl-title" title={`${plain(row.title)}\n${row.about}`}>
            <Title text={plain(row.short, LONGEST)} />
            {row.kind === "group" && <span class="quiet"> {row.about}</span>}
            {row.kind === "track" &&
              (row.height >= 34 ? <small>{row.about}</small> : <span class="beside">{row.about}</span>)}
            {row.kind === "counter" && row.about && <small>{row.about}</small>}
          </span>
          {row.kind === "track" && <Buttons board={board} row={row} />}
        </div>
      ))}
      <div class="tl-corner" aria-hidden="true">
        <span>Time</span>
        {board.lay.bands.length > 0 && <span>Steps</span>}
      </div>
    </>
  );
}

/** A name that is cut where there is no room, but not in the number that tells it from its neighbours. */
function Title({ text }: { text: string }): JSX.Element {
  const [head, tail] = pieces(text);
  return (
    <bdi class="tl-name">
      <span>{head}</span>
      {tail && <span class="tail">{tail}</span>}
    </bdi>
  );
}

function Buttons({ board, row }: { board: Board; row: Lane }): JSX.Element {
  const track = row.track!.track,
    pinned = board.arrangement.value.pinned.includes(track);
  return (
    <span class="tl-buttons">
      <button
        type="button"
        aria-pressed={pinned}
        title={pinned ? "Unpin" : "Pin on top"}
        aria-label={`Pin ${row.title}`}
        onClick={() => board.toggle("pinned", track)}
      >
        {pinned ? "★" : "☆"}
      </button>
      <button
        type="button"
        title="Move up"
        aria-label={`Move ${row.title} up`}
        onClick={() => board.raise(track)}
      >
        ↑
      </button>
    </span>
  );
}

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
  const { detail, stack, ranged, range, rangedSlices, marks, error, found, text } = board;
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
      {range.value && !ranged.value && !error.value && (
        <p class="quiet" role="status">
          {duration(spanOf(range.value))}:{" "}
          {rangedSlices.value === null
            ? "adding up …"
            : `adding up ${rangedSlices.value.toLocaleString("en")} slices …`}{" "}
          <button type="button" class="plain" onClick={() => board.giveUp()}>
            Stop
          </button>
        </p>
      )}
      {range.value && ranged.value && (
        <RangePanel
          ranged={ranged.value}
          length={spanOf(range.value)}
          tracks={board.rangedTracks.value}
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
                    board.foundAt.value = i;
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
                  board.range.value = null;
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
            : board.selected.value !== null
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
