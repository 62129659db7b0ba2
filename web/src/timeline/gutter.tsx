// The names of the timeline's rows, with what folds, pins and moves them.
import type { JSX } from "preact";
import { plain } from "../plain";
import type { Board } from "./board";
import { type Lane, pieces } from "./lanes";
import { RULER } from "./ruler";

const LONGEST = 300; // characters of a track's name

export function Gutter({ board }: { board: Board }): JSX.Element {
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
