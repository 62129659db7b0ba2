import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get, post } from "../api";
import { hueOf } from "../colours";
import { counted, duration, shown } from "../format";
import { Loaded, Problem } from "../loading";
import { plain } from "../plain";
import type { View } from "../types";

interface Graph { run_id: string; source_id: string; graph: string; nodes: number }
export interface Box { path: string; name: string; op_type: string | null; device: string; nodes: number; time_ps: number; output_bytes: number; cluster: string; copies: number; can_open: boolean; x: number; y: number; width: number }
interface Level { boxes: Box[]; edges: [number, number, number][]; inside: number; nodes: number; dangling: number; time_ps: number }
interface Found { total: number; nodes: { path: string; op_type: string | null }[] }
interface Frame { x: number; y: number; wide: number; high: number }

const HEIGHT = 34;
const DEEPEST = 32; // scopes around a node; the server keeps deeper ones as part of its name
/** What a colouring says more of; null where it says which. */
export const amount = (box: Box, colouring: Colouring): number | null => (colouring === "time" ? box.time_ps : colouring === "memory" ? box.output_bytes : null);
/** The colourings that tell something about these boxes. */
export const telling = (boxes: Box[]): Colouring[] => COLOURINGS.filter((one) => one === "type" || boxes.some((box) => (amount(box, one) ?? (one === "device" ? box.device : box.cluster)) !== (one === "time" || one === "memory" ? 0 : "")));
const COLOURINGS = ["time", "memory", "device", "cluster", "type"] as const;
type Colouring = (typeof COLOURINGS)[number];

/** Scopes around a node, the outermost first. */
export const around = (path: string): string[] => path.split("/").slice(0, -1).slice(0, DEEPEST).map((_, i, parts) => parts.slice(0, i + 1).join("/"));

/** The frame that shows all boxes, with room around them. */
export function frameOf(boxes: Box[]): Frame {
  const right = Math.max(1, ...boxes.map((b) => b.x + b.width)), low = Math.max(1, ...boxes.map((b) => b.y + HEIGHT));
  return { x: -20, y: -20, wide: right + 40, high: low + 40 };
}

/** The frame `factor` times as large around a point of it. */
export const scaled = (frame: Frame, factor: number, x: number, y: number): Frame =>
  ({ x: x - (x - frame.x) * factor, y: y - (y - frame.y) * factor, wide: frame.wide * factor, high: frame.high * factor });

/** Colour of a box: more of the time is more of the colour; a device or a type is a hue. */
export function fillOf(box: Box, colouring: Colouring, most: number): string {
  const value = amount(box, colouring);
  if (value !== null) return most && value ? `color-mix(in oklch, var(--compute) ${Math.round(12 + (48 * value) / most)}%, var(--card))` : "var(--card)";
  const kind = colouring === "device" ? box.device : colouring === "cluster" ? box.cluster : (box.op_type ?? "");
  return kind ? `oklch(0.78 0.08 ${hueOf(kind)})` : "var(--card)";
}

const GraphView = (): JSX.Element => <Loaded<{ graphs: Graph[] }> from="/api/graphs">{({ graphs }) => (graphs.length ? <Whole graphs={graphs} /> : <Nothing />)}</Loaded>;

const Nothing = (): JSX.Element => <><h1>Graph</h1><p>This recording has no graph. Graphs are in GraphDef and SavedModel files, in RunMetadata with partition graphs, and in the folders of</p><pre>stepscope record -- python train.py</pre></>;

function Whole({ graphs }: { graphs: Graph[] }): JSX.Element {
  const [number, setNumber] = useState(0);
  const [open, setOpen] = useState<readonly string[]>([]);
  const [fold, setFold] = useState(true);
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
    post("/api/graph", { graph: number, open, fold }).then((reply) => reply.json()).then(
      (value) => { if (current) { setLevel(value as Level); setError(null); } },
      (failure: unknown) => current && setError(failure),
    );
    return () => { current = false; };
  }, [number, open, fold]);
  const look = (value: string) => {
    setText(value);
    if (value) get<Found>(`/api/graph/search?graph=${number}&q=${encodeURIComponent(value)}`).then(setFound, setError);
    else setFound(null);
  };
  const show = (path: string) => { setOpen([...new Set([...open, ...around(path)])]); setChosen(path); };
  const turn = (box: Box) => { setChosen(box.path); if (box.can_open) setOpen([...open, box.path]); };
  const close = (path: string) => setOpen(open.filter((one) => one !== path && !one.startsWith(`${path}/`)));
  const lead = (path: string) => {
    if (from === null) { setFrom(path); setWay([]); return; }
    get<{ path: string[] }>(`/api/graph/way?graph=${number}&from=${encodeURIComponent(from)}&to=${encodeURIComponent(path)}`).then(({ path: nodes }) => {
      setWay(nodes);
      setOpen([...new Set([...open, ...nodes.flatMap(around)])]);
    }, setError);
    setFrom(null);
  };
  const box = level?.boxes.find((one) => one.path === chosen) ?? null;
  return <div class="graph-view">
    <div class="options"><label class="option"><span>Graph</span><select name="graph" value={number} onChange={(e) => { setNumber(Number(e.currentTarget.value)); setOpen([]); setChosen(null); setWay([]); setFound(null); setText(""); }}>
      {graphs.map((g, i) => <option value={i}>{plain(`${g.run_id} / ${g.graph}`, 100)} ({counted(g.nodes, "node")})</option>)}</select></label>
      <label class="option"><span>Colour</span><select name="colouring" value={colouring} onChange={(e) => setColouring(e.currentTarget.value as Colouring)}>{COLOURINGS.map((one) => <option disabled={level !== null && !telling(level.boxes).includes(one)}>{one}</option>)}</select></label>
      <label><input type="checkbox" name="fold" checked={fold} onChange={() => setFold(!fold)} /> Show identical blocks once</label>
      <input type="search" name="find" placeholder="Find a node" aria-label="Find a node" value={text} onInput={(e) => look(e.currentTarget.value)} />
      <button type="button" onClick={() => { setOpen([]); setWay([]); }}>Close all</button></div>
    {error !== null && <Problem error={error} />}
    {found && <section class="graph-found" aria-label="Nodes found"><p class="quiet">{counted(found.total, "node")}{found.total > found.nodes.length && `, the first ${found.nodes.length}`}</p>
      <ul>{found.nodes.map((node) => <li><button type="button" class="link" onClick={() => show(node.path)}>{plain(node.path, 200)}</button> <span class="quiet">{node.op_type}</span></li>)}</ul></section>}
    {level === null ? <p class="quiet" role="status">Reading …</p> : <Drawing level={level} colouring={colouring} chosen={chosen} way={way} turn={turn} />}
    <div class="graph-about" aria-live="polite">
      {open.length > 0 && <p>Open: {open.map((path) => <button type="button" class="plain" title="Close" onClick={() => close(path)}>{plain(path, 80)} ×</button>)}</p>}
      {from !== null && <p>From {plain(from, 120)}: choose the other end.</p>}
      {way.length > 0 && <p>{counted(way.length, "node")} on the way: {way.map((path) => <button type="button" class="plain" onClick={() => show(path)}>{plain(path, 80)}</button>)}</p>}
      {box ? <><h2>{plain(box.path, 300)}{box.copies > 1 && ` and ${counted(box.copies - 1, "block")} like it`}</h2>
        <p>{[box.op_type, counted(box.nodes, "node"), box.time_ps ? duration(box.time_ps) : null, box.output_bytes ? `${shown(box.output_bytes, "bytes")} of outputs` : null, plain(box.device, 100), plain(box.cluster, 100)].filter(Boolean).join(" · ")}
          {box.op_type && <> <button type="button" onClick={() => lead(box.path)}>{from === null ? "Path from here" : "Path to here"}</button></>}</p></>
        : level && <p class="quiet">{counted(level.nodes, "node")}, {counted(level.edges.reduce((n, [, , c]) => n + c, level.inside), "edge")}{level.dangling > 0 && `, ${counted(level.dangling, "edge")} to nodes that the graph lacks`}. Click a box to open it; drag to move, wheel to zoom.</p>}
    </div></div>;
}

function Drawing({ level, colouring, chosen, way, turn }: { level: Level; colouring: Colouring; chosen: string | null; way: readonly string[]; turn: (box: Box) => void }): JSX.Element {
  const { boxes, edges } = level;
  const [frame, setFrame] = useState(() => frameOf(boxes));
  const drag = useRef<{ x: number; y: number; frame: Frame; far: boolean } | null>(null);
  const svg = useRef<SVGSVGElement>(null);
  useEffect(() => setFrame(frameOf(boxes)), [boxes]);
  const most = useMemo(() => Math.max(0, ...boxes.map((b) => amount(b, colouring) ?? 0)), [boxes, colouring]);
  const marked = new Set(way);
  const at = (e: MouseEvent) => {
    const size = svg.current!.getBoundingClientRect(), unit = Math.max(frame.wide / size.width, frame.high / size.height);
    return { x: frame.x + frame.wide / 2 + (e.clientX - size.left - size.width / 2) * unit, y: frame.y + frame.high / 2 + (e.clientY - size.top - size.height / 2) * unit, unit };
  };
  const onWheel = (e: WheelEvent) => { e.preventDefault(); const { x, y } = at(e); setFrame(scaled(frame, Math.exp(Math.max(-100, Math.min(100, e.deltaY)) * 0.003), x, y)); };
  const onMove = (e: PointerEvent) => {
    const from = drag.current;
    if (!from) return;
    const { unit } = at(e), dx = (e.clientX - from.x) * unit, dy = (e.clientY - from.y) * unit;
    from.far ||= Math.hypot(e.clientX - from.x, e.clientY - from.y) > 4;
    if (from.far) setFrame({ ...from.frame, x: from.frame.x - dx, y: from.frame.y - dy });
  };
  return <svg ref={svg} class="graph" viewBox={`${frame.x} ${frame.y} ${frame.wide} ${frame.high}`} role="group" aria-label="Graph" onWheel={onWheel} onPointerMove={onMove}
    onPointerDown={(e) => { drag.current = { x: e.clientX, y: e.clientY, frame, far: false }; }} onPointerUp={() => { setTimeout(() => { drag.current = null; }); }} onPointerLeave={() => { drag.current = null; }}>
    <g>{edges.map(([a, b, count]) => {
      const p = boxes[a]!, c = boxes[b]!, x0 = p.x + p.width / 2, y0 = p.y + HEIGHT, x1 = c.x + c.width / 2, y1 = c.y, bend = Math.max(18, Math.abs(y1 - y0) / 2.5);
      return <path class={marked.has(p.path) && marked.has(c.path) ? "edge on" : "edge"} d={`M${x0} ${y0}C${x0} ${y0 + bend} ${x1} ${y1 - bend} ${x1} ${y1}`} stroke-width={Math.min(1 + Math.log2(count), 6)}><title>{plain(p.path, 120)} → {plain(c.path, 120)}: {counted(count, "edge")}</title></path>;
    })}</g>
    {boxes.map((box) => <g class={`box ${box.can_open ? "opens" : ""} ${box.path === chosen ? "chosen" : ""} ${marked.has(box.path) ? "on" : ""}`} transform={`translate(${box.x} ${box.y})`} role="button" tabIndex={0} aria-label={`${plain(box.path, 120)}, ${counted(box.nodes, "node")}`}
      onClick={() => { if (!drag.current?.far) turn(box); }} onKeyDown={(e) => { if (e.key === "Enter") turn(box); }}>
      {box.copies > 1 && <rect class="behind" x={4} y={4} width={box.width} height={HEIGHT} rx={box.op_type ? 4 : 9} />}
      <rect width={box.width} height={HEIGHT} rx={box.op_type ? 4 : 9} style={{ fill: fillOf(box, colouring, most) }} />
      <text x={box.width / 2} y={14}>{plain(box.name, Math.floor(box.width / 7))}{box.copies > 1 && ` ×${box.copies}`}</text>
      <text class="small" x={box.width / 2} y={27}>{box.time_ps ? duration(box.time_ps) : box.op_type ? plain(box.op_type, Math.floor(box.width / 6)) : counted(box.nodes, "node")}</text>
      <title>{plain(box.path, 300)} · {counted(box.nodes, "node")}{box.time_ps ? ` · ${duration(box.time_ps)}` : ""}</title></g>)}
  </svg>;
}

export const view: View = { name: "graph", title: "Graph", order: 7, key: "7", Component: GraphView };
