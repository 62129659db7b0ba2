// The pipeline as boxes and arrows: sources on the left, the program on the right.

import type { JSX } from "preact";
import { counted, duration } from "./format";
import { plain } from "./plain";
import type { Placed, Stage } from "./stages";
import "./flow.css";

const BOX = { wide: 164, high: 62, gap: 26, between: 10 };

export interface Spot {
  x: number;
  y: number;
}

/** Where boxes go: a column for each depth, a row for each source; a stage is beside the first of what
 * feeds it. */
export function spots(placed: Placed[]): { spots: Spot[]; columns: number; rows: number } {
  const columns = Math.max(0, ...placed.map(({ depth }) => depth + 1)) + 1; // and the program's own
  let rows = 0;
  const found = placed.map(({ depth }, i) => {
    const after = placed[i - 1];
    if (i > 0 && after!.depth >= depth) rows++;
    return { x: columns - 2 - depth, y: rows };
  });
  return { spots: found, columns, rows: rows + 1 };
}

interface Options {
  placed: Placed[];
  labels: string[];
  worst: number | null;
  step: number;
  needs: Map<number, number>;
  rate: (ps: number) => string;
  place: (stage: Stage) => string;
}

/** Each box says how many steps a second the stage could feed; its foot is filled as far as the step needs
 * it. */
export function Flow({ placed, labels, worst, step, needs, rate, place }: Options): JSX.Element {
  const { spots: at, columns, rows } = spots(placed);
  const x = (column: number) => column * (BOX.wide + BOX.gap);
  const y = (row: number) => row * (BOX.high + BOX.between);
  const [wide, high] = [x(columns) - BOX.gap, y(rows) - BOX.between];
  const parent = placed.map(({ depth }, i) => {
    for (let k = i - 1; k >= 0; k--) if (placed[k]!.depth < depth) return k;
    return -1;
  });
  const arrow = (from: Spot, to: Spot) => {
    const [x1, y1, x2, y2] = [
      x(from.x) + BOX.wide,
      y(from.y) + BOX.high / 2,
      x(to.x),
      y(to.y) + BOX.high / 2,
    ];
    return `M${x1},${y1} C${x1 + 14},${y1} ${x2 - 14},${y2} ${x2 - 5},${y2} m-5,-4 l5,4 l-5,4`;
  };
  const program = { x: columns - 1, y: 0 };
  return (
    <div class="scroll flow-scroll" tabIndex={0} role="group" aria-label="The pipeline as boxes">
      <svg
        class="flow"
        style={{ width: `${wide}px` }} // a long one scrolls: smaller text could not be read
        viewBox={`0 0 ${wide} ${high}`}
        role="img"
        aria-label={`${placed.length} stages feed the program`}
      >
        {at.map((spot, i) => (
          <path class="arrow" d={arrow(spot, parent[i]! < 0 ? program : at[parent[i]!]!)} />
        ))}
        {placed.map(({ stage }, i) => {
          const need = needs.get(stage.number) ?? stage.service_ps;
          const part = step > 0 ? Math.min(need / step, 1) : 0;
          const name = labels[i]!.split(" · ");
          const lines = [
            plain(name[0]!, 22),
            `${rate(need)}, ${stage.width}\u00d7`,
            plain(place(stage) || name[1] || "", 26),
          ];
          return (
            <svg
              x={x(at[i]!.x)}
              y={y(at[i]!.y)}
              width={BOX.wide}
              height={BOX.high}
              class={
                stage.number === worst ? "stage worst-stage" : stage.works_ahead ? "stage ahead" : "stage"
              }
            >
              <title>
                {`${plain(stage.branch_name, 300)}\nneeds ${duration(need)} of a step`}
                {` on ${counted(stage.width, "thread")}${stage.works_ahead ? ", works ahead" : ""}`}
              </title>
              <rect class="frame" x="1" y="1" width={BOX.wide - 2} height={BOX.high - 2} rx="6" />
              {lines.map((line, k) => (
                <text x="9" y={17 + 15 * k} class={k ? "faint" : "strong"}>
                  {line}
                </text>
              ))}
              <rect class="foot" x="8" y={BOX.high - 9} width={(BOX.wide - 16) * part} height="4" rx="2" />
            </svg>
          );
        })}
        <svg x={x(program.x)} y={y(program.y)} width={BOX.wide} height={BOX.high} class="stage program">
          <rect class="frame" x="1" y="1" width={BOX.wide - 2} height={BOX.high - 2} rx="6" />
          <text x="9" y="17" class="strong">
            program
          </text>
          <text x="9" y="32" class="faint">
            {step > 0 ? `${duration(step)} a step` : "step unknown"}
          </text>
          <text x="9" y="47" class="faint">
            {step > 0 ? rate(step) : ""}
          </text>
        </svg>
      </svg>
    </div>
  );
}
