// Lays a graph out with one library: node lay.mjs dagre|elkjs < GRAPH, where GRAPH is {"widths": [...], "edges": [[a, b], ...]}.
// Prints seconds of the processor for the layout alone, and the middle of each box.
import fs from "node:fs";

const HEIGHT = 34;
const APART = 46;
const { widths, edges } = JSON.parse(fs.readFileSync(0, "utf8"));

const engines = {
  async dagre() {
    const { graphlib, layout } = (await import("@dagrejs/dagre")).default;
    const graph = new graphlib.Graph({ multigraph: false });
    graph.setGraph({ rankdir: "TB", ranksep: APART, nodesep: 16 });
    graph.setDefaultEdgeLabel(() => ({}));
    widths.forEach((width, at) => graph.setNode(String(at), { width, height: HEIGHT }));
    for (const [from, to] of edges) graph.setEdge(String(from), String(to));
    return () => {
      layout(graph);
      return widths.map((_, at) => [graph.node(String(at)).x, graph.node(String(at)).y]);
    };
  },
  async elkjs() {
    const Elk = (await import("elkjs/lib/elk.bundled.js")).default;
    const elk = new Elk();
    const graph = {
      id: "root",
      layoutOptions: {
        "elk.algorithm": "layered",
        "elk.direction": "DOWN",
        "elk.layered.thoroughness": "1",
      },
      children: widths.map((width, at) => ({ id: `n${at}`, width, height: HEIGHT })),
      edges: edges.map(([from, to], at) => ({ id: `e${at}`, sources: [`n${from}`], targets: [`n${to}`] })),
    };
    return async () => (await elk.layout(graph)).children.map((one) => [one.x + one.width / 2, one.y]);
  },
};

const lay = await engines[process.argv[2]]();
const before = process.cpuUsage();
const places = await lay();
const { user, system } = process.cpuUsage(before);
if (places.length !== widths.length || !places.flat().every(Number.isFinite)) throw new Error("a box without a place");
console.log(JSON.stringify({ seconds: (user + system) / 1e6, places }));
