// The bar above the timeline: search, filter, colours, and what goes to Perfetto.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { framed } from "../address";
import { post, save } from "../api";
import { Choice, places, texts } from "../choice";
import { counted, duration } from "../format";
import { Check } from "../inputs";
import { Problem } from "../loading";
import { plain } from "../plain";
import type { Board } from "./board";
import type { Colouring } from "./colours";
import { placement } from "./placed";
import { spanOf } from "./scale";

const COLOURINGS: Colouring[] = ["class", "op type", "name"];

export function Bar({
  board,
  search,
}: {
  board: Board;
  search: { current: HTMLInputElement | null };
}): JSX.Element {
  const found = board.search.found.value,
    window = board.window.value;
  return (
    <div class="tl-bar" role="toolbar" aria-label="Timeline">
      <input
        type="search"
        name="search"
        ref={search}
        placeholder="Find slices ( / )"
        aria-label="Find slices by name"
        value={board.search.text.value}
        onInput={(e) => void board.search.look(e.currentTarget.value)}
        onKeyDown={(e) => {
          if (e.key === "Enter") void board.turn(e.shiftKey ? -1 : 1);
          else if (e.key === "Escape") e.currentTarget.blur();
        }}
      />
      {found && (
        <span class="tl-count" role="status">
          {board.search.at.value >= 0 ? `${board.search.at.value + 1} of ` : ""}
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
        <Check
          name="together"
          checked={board.together.value}
          title="The first steps of all recordings lie at one place, so that they can be compared"
          onCheck={(together) => board.align(together)}
        >
          Align starts
        </Check>
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
  const write = async () => {
    setState("busy");
    setError(null);
    try {
      await save(await post("/api/export", {}), "stepscope.trace.json.gz");
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
        onClick={() => void write()}
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
