// A curve of a query's rows: uPlot, loaded when somebody asks for a chart.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { show } from "./scale";

export interface Curve {
  title: string;
  unit: string;
  values: (number | null)[];
}

/** Draws curves over x into an element; returns what removes them. x must ascend. */
export function plot(
  host: HTMLElement,
  x: { title: string; unit: string; values: number[] },
  curves: Curve[],
): () => void {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => {
    // the page's colours depend on light or dark, which a canvas cannot look up
    const probe = document.createElement("i");
    probe.className = "probe";
    probe.style.color = `var(${name})`;
    host.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };
  const [ink, edge] = [colour("--quiet"), colour("--edge")];
  const axis = (unit: string): uPlot.Axis => ({
    stroke: ink,
    grid: { stroke: edge, width: 1 },
    ticks: { stroke: edge, width: 1 },
    font: `12px ${style.fontFamily || "sans-serif"}`,
    size: 64,
    values: (_, marks) => marks.map((mark) => show(mark, unit)),
  });
  const chart = new uPlot(
    {
      width: Math.max(host.clientWidth, 200),
      height: 320,
      scales: { x: { time: false } },
      axes: [{ ...axis(x.unit), size: 36 }, axis(curves[0]?.unit ?? "")],
      series: [
        { label: x.title, value: (_, value) => (value === null ? "–" : show(value, x.unit)) },
        ...curves.map((curve, i) => ({
          label: curve.title,
          stroke: colour(`--${SERIES[i % SERIES.length]}`),
          width: 1.5,
          value: (_: uPlot, value: number | null) => (value === null ? "–" : show(value, curve.unit)),
        })),
      ],
    },
    [x.values, ...curves.map((curve) => curve.values)],
    host,
  );
  const resized = new ResizeObserver(() =>
    chart.setSize({ width: Math.max(host.clientWidth, 200), height: 320 }),
  );
  resized.observe(host);
  return () => {
    resized.disconnect();
    chart.destroy();
  };
}
