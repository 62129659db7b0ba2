import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { get, post } from "../api";
import { Choice, places } from "../choice";
import { Empty } from "../empty";
import { counted } from "../format";
import { ChosenBox, type Found, FoundNodes, Legend, LevelSize } from "../graph/about";
import { Drawing } from "../graph/drawing";
import { around, type Box, COLOURINGS, type Colouring, type Level, telling } from "../graph/level";
import { Check } from "../inputs";
import { Loaded, Problem, useAnswer } from "../loading";
import { plain } from "../plain";
import type { View } from "../types";
import "../graph/graph.css";

interface Graph {
  run_id: string;
  graph: string;
  nodes: number;
}

const GraphView = (): JSX.Element => (
  <Loaded<{ graphs: Graph[] }> from="/api/graphs">
    {({ graphs }) => (graphs.length ? <Whole graphs={graphs} /> : <Nothing />)}
  </Loaded>
);

const Nothing = (): JSX.Element => (
  <Empty title="No graph" commands={["stepscope train.py"]}>
    <p>
      This recording has no graph. Graphs are in GraphDef and SavedModel files, in RunMetadata with partition
      graphs, in dump folders of XLA, and in what this records:
    </p>
  </Empty>
);

function Whole({ graphs }: { graphs: Graph[] }): JSX.Element {
  const [number, setNumber] = useState(0);
  const [open, setOpen] = useState<readonly string[]>([]);
  const [fold, setFold] = useState(true);
  const [flat, setFlat] = useState(false);
  const [given, setGiven] = useState(false);
  const [focus, setFocus] = useState<string | null>(null);
  const [hit, setHit] = useState(-1);
  const [colouring, setColouring] = useState<Colouring>("time");
  const [failure, setFailure] = useState<unknown>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [text, setText] = useState("");
  const [found, setFound] = useState<Found | null>(null);
  const [from, setFrom] = useState<string | null>(null);
  const [way, setWay] = useState<readonly string[]>([]);
  const { value: level, error } = useAnswer(
    async () =>
      (await post("/api/graph", { graph: number, open, fold, flat, given })).json() as Promise<Level>,
    [number, open, fold, flat, given],
  );
  const begin = (other: number) => {
    setNumber(other);
    setOpen([]);
    setChosen(null);
    setWay([]);
    setFound(null);
    setText("");
    setFocus(null);
  };
  const closeAll = () => {
    setOpen([]);
    setWay([]);
    setFocus(null);
  };
  const look = (value: string) => {
    setText(value);
    setHit(-1);
    if (value)
      get<Found>(`/api/graph/search?graph=${number}&q=${encodeURIComponent(value)}`).then(
        setFound,
        setFailure,
      );
    else setFound(null);
  };
  const reach = (path: string) => {
    setOpen([...new Set([...open, ...around(path)])]);
    setChosen(path);
    setFocus(path);
  };
  /** Goes to the next of what was found. */
  const visit = () => {
    const next = found?.nodes[(hit + 1) % (found.nodes.length || 1)];
    if (!next) return;
    setHit((hit + 1) % found!.nodes.length);
    reach(next.path);
  };
  const turn = (box: Box) => {
    setChosen(box.path);
    if (!box.can_open) return;
    setOpen([...open, box.path]);
    setFocus(box.path);
  };
  const close = (path: string) => setOpen(open.filter((one) => one !== path && !one.startsWith(`${path}/`)));
  const lead = (path: string) => {
    if (from === null) {
      setFrom(path);
      setWay([]);
      return;
    }
    get<{ path: string[] }>(
      `/api/graph/way?graph=${number}&from=${encodeURIComponent(from)}&to=${encodeURIComponent(path)}`,
    ).then(({ path: nodes }) => {
      setWay(nodes);
      setOpen([...new Set([...open, ...nodes.flatMap(around)])]);
    }, setFailure);
    setFrom(null);
  };
  // A colour that tells nothing gives way to one that does.
  const chosenColouring =
    level && !telling(level.boxes).includes(colouring) ? (telling(level.boxes)[0] ?? "type") : colouring;
  const box = level?.boxes.find((one) => one.path === chosen) ?? null;
  return (
    <div class="graph-view">
      <div class="options">
        <Choice
          label="Graph"
          name="graph"
          value={number}
          options={places(
            graphs.map((g) => `${plain(`${g.run_id} / ${g.graph}`, 100)} (${counted(g.nodes, "node")})`),
          )}
          onChoice={(at) => begin(Number(at))}
          wide
          above
        />
        <Choice
          label="Colour"
          name="colouring"
          value={chosenColouring}
          options={COLOURINGS.map((one) => ({
            value: one,
            text: one,
            disabled: level !== null && !telling(level.boxes).includes(one),
          }))}
          onChoice={(one) => setColouring(one as Colouring)}
          above
        />
        <Check name="fold" checked={fold} onCheck={setFold}>
          Show identical blocks once
        </Check>
        <Check name="given" checked={given} onCheck={setGiven}>
          Arguments and constants
        </Check>
        <Check name="flat" checked={flat} onCheck={setFlat}>
          All nodes, without scopes
        </Check>
        <input
          type="search"
          name="find"
          placeholder="Find a node"
          aria-label="Find a node"
          value={text}
          onInput={(e) => look(e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key === "Enter") visit();
            else if (e.key === "Escape") look("");
          }}
        />
        <button type="button" onClick={closeAll}>
          Close all
        </button>
      </div>
      {(error ?? failure) !== null && <Problem error={error ?? failure} />}
      {found && <FoundNodes found={found} reach={reach} />}
      {level === null ? (
        <p class="quiet" role="status">
          Reading …
        </p>
      ) : (
        <Drawing
          level={level}
          colouring={chosenColouring}
          chosen={chosen}
          focus={focus}
          way={way}
          turn={turn}
        />
      )}
      {level && <Legend boxes={level.boxes} colouring={chosenColouring} />}
      <div class="graph-about" aria-live="polite">
        {open.length > 0 && (
          <p>
            Open:{" "}
            {open.map((path) => (
              <button type="button" class="plain" title="Close" onClick={() => close(path)}>
                {plain(path, 80)} ×
              </button>
            ))}
          </p>
        )}
        {from !== null && <p>From {plain(from, 120)}: choose the other end.</p>}
        {way.length > 0 && (
          <p>
            {counted(way.length, "node")} on the way:{" "}
            {way.map((path) => (
              <button type="button" class="plain" onClick={() => reach(path)}>
                {plain(path, 80)}
              </button>
            ))}
          </p>
        )}
        {box ? (
          <ChosenBox box={box} lead={() => lead(box.path)} to={from !== null} />
        ) : (
          level && <LevelSize level={level} />
        )}
      </div>
    </div>
  );
}

export const view: View = { name: "graph", title: "Graph", order: 7, key: "7", Component: GraphView };
