// The panel below the timeline: what is selected, what a range holds, what a search found.

import type { JSX } from "preact";
import { duration } from "../format";
import { Problem } from "../loading";
import { plain } from "../plain";
import type { Board } from "./board";
import { Divider, placeOf } from "./divider";
import { RangePanel } from "./rangepanel";
import { moment } from "./ruler";
import { spanOf, type Window } from "./scale";
import { SlicePanel, StackPanel } from "./slicepanel";

/** As high as the reader made it. */
const height = placeOf("stepscope.timeline-details", 270, 90, 2000);
const HINT =
  "Drag to move, Ctrl-wheel or W and S to zoom, click a slice for all that is known of it, " +
  "Shift-drag for a range.";

/** The slices whose names have the text of the search in them. */
function FoundSlices({ board, at }: { board: Board; at: Moment }): JSX.Element {
  const { slices, total } = board.search.found.value!;
  if (!total) return <p>No slice has “{board.search.text.value}” in its name.</p>;
  const visit = (i: number) => {
    board.search.at.value = i;
    void board.select(slices[i]!.id, true);
  };
  return (
    <ol class="tl-found">
      {slices.slice(0, 100).map((slice, i) => (
        <li>
          <button type="button" class="link" onClick={() => visit(i)}>
            {plain(slice.name, 200)}
          </button>{" "}
          <span class="quiet">
            {duration(Number(slice.dur_ps))} at {at(slice.ts_ps, slice.track)}
          </span>
        </li>
      ))}
    </ol>
  );
}

function Marks({ board }: { board: Board }): JSX.Element {
  const { marks } = board;
  const choose = (mark: Window) => {
    board.totals.range.value = null;
    void board.choose(mark);
  };
  const remove = (mark: Window) => {
    marks.value = marks.value.filter((one) => one !== mark);
  };
  return (
    <p class="tl-marks">
      Marks:{" "}
      {marks.value.map((mark) => (
        <span>
          <button type="button" class="plain" onClick={() => choose(mark)}>
            {duration(spanOf(mark))}
          </button>
          <button type="button" class="plain" aria-label="Remove this mark" onClick={() => remove(mark)}>
            ×
          </button>
        </span>
      ))}
    </p>
  );
}

/** What the range holds, or how many slices are being added up for it. */
function Range({ board }: { board: Board }): JSX.Element | null {
  const { range, totals, slices, tracks } = board.totals;
  if (range.value && totals.value)
    return (
      <RangePanel
        ranged={totals.value}
        length={spanOf(range.value)}
        tracks={tracks.value}
        go={(id) => void board.select(id, true)}
      />
    );
  if (!range.value || board.questions.error.value) return null;
  return (
    <p class="quiet" role="status">
      {duration(spanOf(range.value))}:{" "}
      {slices.value === null ? "adding up …" : `adding up ${slices.value.toLocaleString("en")} slices …`}{" "}
      <button type="button" class="plain" onClick={() => board.totals.giveUp()}>
        Stop
      </button>
    </p>
  );
}

/** How a moment of a track is written. */
type Moment = (ps: number | string, track?: number | null) => string;

export function Details({ board }: { board: Board }): JSX.Element {
  const { detail, stack, id } = board.selection,
    { error } = board.questions;
  const at: Moment = (ps, track = null) =>
    moment(board.lay.at(ps, track), Math.max(spanOf(board.window.value) / 1e6, 1));
  const open = detail.value !== null || stack.value !== null || board.totals.range.value !== null;
  const found = !open && board.search.found.value !== null;
  const hint = id.value === null ? HINT : "Reading …";
  return (
    <div class="tl-panel" aria-live="polite" style={open ? { height: `${height.pixels.value}px` } : {}}>
      {open && (
        <>
          <Divider of={height} across={false} label="Height of the details" />
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
          moment={at(detail.value.slice.ts_ps, detail.value.track?.track)}
          go={(other) => void board.select(other, true)}
        />
      )}
      {stack.value && <StackPanel stack={stack.value} />}
      <Range board={board} />
      {found && <FoundSlices board={board} at={at} />}
      {board.marks.value.length > 0 && <Marks board={board} />}
      {!open && !found && error.value === null && (
        <p class="quiet">{board.rows.value.length ? hint : "The recording has no slices to draw."}</p>
      )}
    </div>
  );
}
