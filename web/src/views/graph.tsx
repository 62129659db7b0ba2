import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { get, post } from "../api";
import { Choice, places } from "../choice";
import { hueOf } from "../colours";
import { Empty } from "../empty";
import { counted, duration, shown } from "../format";
import { Drawing } from "../graph/drawing";
import { amount, type Box, COLOURINGS, type Colouring, type Level } from "../graph/level";
import { Loaded, Problem } from "../loading";
import { plain } from "../plain";
import { show } from "../scale";
import type { View } from "../types";

interface Graph {
  run_id: string;
  graph: string;
  nodes: number;
}
interface Found {
  total: number;
  nodes: { path: string; op_type: string | null }[];
}

const DEEPEST = 32; // scopes around a node; the server keeps deeper ones as part of its name
/** The colourings that tell something about these boxes. */
export const telling = (boxes: Box[]): Colouring[] =>
  COLOURINGS.filter((one) => {
    if (one === "type") return true;
    // One hue for all is none.
    if (one === "device") return new Set(boxes.map((box) => box.device).filter(Boolean)).size > 1;
    return boxes.some((box) => (one === "cluster" ? box.cluster !== "" : amount(box, one) !== 0));
  });

/** Scopes around a node, the outermost first. */
export const around = (path: string): string[] =>
  path
    .split("/")
    .slice(0, -1)
    .slice(0, DEEPEST)
    .map((_, i, parts) => parts.slice(0, i + 1).join("/"));

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

const MOST_KINDS = 8; // in the legend

/** What the colours of the boxes say. */
function Legend({ boxes, colouring }: { boxes: Box[]; colouring: Colouring }): JSX.Element | null {
  const most = boxes.reduce((top, b) => Math.max(top, amount(b, colouring) ?? 0), 0);
  if (colouring === "time" || colouring === "memory") {
    const unit = colouring === "time" ? "ps" : "bytes";
    const what = colouring === "time" ? "time of all its runs together" : "bytes of outputs";
    return (
      <p class="graph-legend">
        0 <i class="ramp" /> {show(most, unit)} <span class="quiet">{what}</span>
      </p>
    );
  }
  const kindOf = (b: Box) =>
    colouring === "device" ? b.device : colouring === "cluster" ? b.cluster : b.op_type;
  const counts = new Map<string, number>();
  for (const b of boxes) {
    const kind = kindOf(b);
    if (kind) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const kinds = [...counts].sort((x, y) => y[1] - x[1]);
  return (
    <p class="graph-legend">
      {kinds.slice(0, MOST_KINDS).map(([kind]) => (
        <span>
          <i class="swatch" style={{ background: `oklch(0.78 0.08 ${hueOf(kind)})` }} />
          {plain(kind, 40)}
        </span>
      ))}
      {kinds.length > MOST_KINDS && <span class="quiet">{kinds.length - MOST_KINDS} more</span>}
    </p>
  );
}

function Whole({ graphs }: { graphs: Graph[] }): JSX.Element {
  const [number, setNumber] = useState(0);
  const [open, setOpen] = useState<readonly string[]>([]);
  const [fold, setFold] = useState(true);
  const [flat, setFlat] = useState(false);
  const [given, setGiven] = useState(false);
  const [focus, setFocus] = useState<string | null>(null);
  const [hit, setHit] = useState(-1);
  const [colouring, setColouring] = useState<Colouring>("time");
  const [level, setLevel] = useState<Level | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  const [text, setText] = useState("");
  const [found, setFound] = useState<Found | null>(null);
  const [from, setFrom] = useState<string | null>(null);
  const [way, setWay] = useState<readonly string[]>([]);
  useEffect(() => {
    let current = true;
    post("/api/graph", { graph: number, open, fold, flat, given })
      .then((reply) => reply.json())
      .then(
        (value) => {
          if (current) {
            setLevel(value as Level);
            setError(null);
          }
        },
        (failure: unknown) => current && setError(failure),
      );
    return () => {
      current = false;
    };
  }, [number, open, fold, flat, given]);
  const look = (value: string) => {
    setText(value);
    setHit(-1);
    if (value)
      get<Found>(`/api/graph/search?graph=${number}&q=${encodeURIComponent(value)}`).then(setFound, setError);
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
    }, setError);
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
          onChoice={(at) => {
            setNumber(Number(at));
            setOpen([]);
            setChosen(null);
            setWay([]);
            setFound(null);
            setText("");
            setFocus(null);
          }}
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
        <label>
          <input type="checkbox" name="fold" checked={fold} onChange={() => setFold(!fold)} /> Show identical
          blocks once
        </label>
        <label>
          <input type="checkbox" name="given" checked={given} onChange={() => setGiven(!given)} /> Arguments
          and constants
        </label>
        <label>
          <input type="checkbox" name="flat" checked={flat} onChange={() => setFlat(!flat)} /> All nodes,
          without scopes
        </label>
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
        <button
          type="button"
          onClick={() => {
            setOpen([]);
            setWay([]);
            setFocus(null);
          }}
        >
          Close all
        </button>
      </div>
      {error !== null && <Problem error={error} />}
      {found && (
        <section class="graph-found" aria-label="Nodes found">
          <p class="quiet">
            {counted(found.total, "node")}
            {found.total > found.nodes.length && `, the first ${found.nodes.length}`}
          </p>
          <ul>
            {found.nodes.map((node) => (
              <li>
                <button type="button" class="link" onClick={() => reach(node.path)}>
                  {plain(node.path, 200)}
                </button>{" "}
                <span class="quiet">{node.op_type}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
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
          <>
            <h2>
              {plain(box.path, 300)}
              {box.copies > 1 && ` and ${counted(box.copies - 1, "block")} like it`}
            </h2>
            <p>
              {[
                box.op_type,
                counted(box.nodes, "node"),
                box.time_ps ? `${duration(box.time_ps)} in all its runs` : null,
                box.output_bytes ? `${shown(box.output_bytes, "bytes")} of outputs` : null,
                plain(box.device, 100),
                plain(box.cluster, 100),
              ]
                .filter(Boolean)
                .join(" · ")}
              {box.op_type && (
                <>
                  {" "}
                  <button type="button" onClick={() => lead(box.path)}>
                    {from === null ? "Path from here" : "Path to here"}
                  </button>
                </>
              )}
            </p>
          </>
        ) : (
          level && (
            <p class="quiet">
              {counted(level.nodes, "node")},{" "}
              {counted(
                level.edges.reduce((n, [, , c]) => n + c, level.inside),
                "edge",
              )}
              {level.dangling > 0 && `, ${counted(level.dangling, "edge")} to nodes that the graph lacks`}.{" "}
              {level.left_out > 0 &&
                `${counted(level.left_out, "argument or constant", "arguments and constants")} left out. `}
              Click a box to open it; drag to move, wheel to zoom.
            </p>
          )
        )}
      </div>
    </div>
  );
}

export const view: View = { name: "graph", title: "Graph", order: 7, key: "7", Component: GraphView };
