// The stages of a pipeline as a table of bars.
import type { JSX } from "preact";
import { duration } from "../format";
import { Slider } from "../inputs";
import { plain } from "../plain";
import type { Pipeline, Placed, Stage } from "../stages";
import { branches } from "../tree";
import type { Outcome, Wanted } from "./outcome";

export const place = (stage: Stage): string => {
  const written = stage.code.find((one) => one.file !== null);
  return written ? `${written.file}:${written.line}` : "";
};

/** How many steps in a second a stage could feed. */
export const rate = (servicePs: number): string =>
  servicePs > 0 ? `${(1e12 / servicePs).toLocaleString("en", { maximumSignificantDigits: 3 })} steps/s` : "–";

interface Look {
  pipeline: Pipeline;
  placed: Placed[];
  labels: string[];
  wanted: Map<number, Wanted>;
  outcome: Outcome | null;
  onWant: (stage: Stage, change: Partial<Wanted>) => void;
}

/** The program's own time of a step, and what it waits for its input. */
function ProgramRow({ pipeline, percent }: { pipeline: Pipeline; percent: Percent }): JSX.Element {
  const { step_ps: step, traced_step_ps: traced, wait_ps: wait } = pipeline;
  const programPs = step !== null && traced !== null && wait !== null ? Math.max(traced - wait, 0) : null;
  return (
    <tr>
      <td class="branch">
        <b>program</b>
      </td>
      <td class="wide">
        <svg class="need" height="22" role="img" aria-label="the program's own time">
          {programPs !== null && (
            <rect class="class-compute" width={percent(programPs)} y="4" height="14">
              <title>{`the program itself: ${duration(programPs)} of a step`}</title>
            </rect>
          )}
          {programPs !== null && (
            <rect class="class-input" x={percent(programPs)} width={percent(wait!)} y="4" height="14">
              <title>{`waiting for input: ${duration(wait!)}`}</title>
            </rect>
          )}
        </svg>
      </td>
      <td class="number">{programPs === null ? "–" : duration(programPs)}</td>
      <td />
      <td colSpan={2} class="quiet">
        {programPs === null ? (
          ""
        ) : (
          <>
            <i class="swatch class-compute" />
            itself <i class="swatch class-input" />
            waiting for input
          </>
        )}
      </td>
    </tr>
  );
}

/** A stage below what it feeds, with its sliders. */
function StageRow({
  stage,
  name,
  before,
  pipeline,
  now,
  next,
  outcome,
  most_threads,
  percent,
  onWant,
}: {
  stage: Stage;
  name: string;
  /** The branch before its name. */
  before: string;
  pipeline: Pipeline;
  now: Wanted;
  /** What it needs then. */
  next: number | undefined;
  outcome: Outcome | null;
  most_threads: number;
  percent: Percent;
  onWant: Look["onWant"];
}): JSX.Element {
  const step = pipeline.step_ps ?? 0;
  const worst = pipeline.bottleneck?.number === stage.number;
  return (
    <tr class={worst ? "marked" : ""}>
      <td class="branch">
        {before}
        <span title={plain(stage.branch_name, 400)}>{name}</span>
        {worst && <mark>bottleneck</mark>}
        {place(stage) && (
          <div class="at quiet" title={plain(stage.code.map((one) => one.text ?? "").join("\n"), 400)}>
            {plain(place(stage), 120)}
            {stage.runs_python ? " · runs Python" : ""}
            {stage.works_ahead ? " · works ahead" : ""}
          </div>
        )}
      </td>
      <td class="wide">
        <svg
          class="need"
          height="22"
          role="img"
          aria-label={`${name} needs ${duration(stage.service_ps)} a step`}
        >
          <title>{`${name} needs ${duration(stage.service_ps)} of a step`}</title>
          <rect class={worst ? "worst" : "need-bar"} width={percent(stage.service_ps)} y="4" height="14" />
          {next !== undefined && next !== stage.service_ps && (
            <rect class="then" width={percent(next)} y="2" height="18">
              <title>{`then ${duration(next)}`}</title>
            </rect>
          )}
          {step > 0 && <line class="step-line" x1={percent(step)} x2={percent(step)} y1="0" y2="22" />}
          {outcome && (
            <line
              class="step-line then-line"
              x1={percent(outcome.step_ps)}
              x2={percent(outcome.step_ps)}
              y1="0"
              y2="22"
            />
          )}
        </svg>
        <span class="quiet">
          {duration(stage.service_ps)}
          {next !== undefined && next !== stage.service_ps ? ` → ${now.work ? duration(next) : "gone"}` : ""}
        </span>
      </td>
      <td class="number">{duration(stage.work_ps)}</td>
      <td class="number">{stage.queue_ps ? duration(stage.queue_ps) : "–"}</td>
      <td>
        <Slider
          name={`width-${stage.number}`}
          label={`Threads of ${name}`}
          min={1}
          max={most_threads}
          value={now.width}
          disabled={pipeline.step_ps === null}
          onSlide={(width) => onWant(stage, { width })}
        />
      </td>
      <td>
        <Slider
          name={`work-${stage.number}`}
          label={`Work left of ${name}, percent`}
          min={0}
          max={200}
          step={5}
          value={Math.round(100 * now.work)}
          shown={now.work ? `${Math.round(100 * now.work)} %` : "gone"}
          disabled={pipeline.step_ps === null}
          onSlide={(percent) => onWant(stage, { work: percent / 100 })}
        />
      </td>
    </tr>
  );
}

/** A length beside the longest. */
type Percent = (ps: number) => string;

/** The stages as a diagram: the program first, each stage below what it feeds, its time per step as a bar
 * beside the step's. */
export function Diagram({ pipeline, placed, labels, wanted, outcome, onWant }: Look): JSX.Element {
  const step = pipeline.step_ps ?? 0;
  const then = new Map(outcome?.stages.map((one) => [one.number, one]));
  const most = Math.max(
    step,
    outcome?.step_ps ?? 0,
    ...placed.map(({ stage }) => Math.max(stage.service_ps, then.get(stage.number)?.service_ps ?? 0)),
    1,
  );
  const percent = (ps: number) => `${(100 * ps) / most}%`;
  const before = branches([0, ...placed.map(({ depth }) => depth + 1)]);
  const most_threads = Math.max(2 * pipeline.cores, 8, ...placed.map(({ stage }) => stage.width));
  return (
    <div class="scroll">
      <table class={outcome ? "stages asked" : "stages"}>
        <thead>
          <tr>
            <th scope="col">Stage</th>
            <th scope="col" class="wide">
              Needs per step
            </th>
            <th scope="col" class="number" title="its work per step, over all its threads">
              Does
            </th>
            <th scope="col" class="number" title="time its function waited for a thread of the pool">
              Queue
            </th>
            <th scope="col" title="threads that share its work; move to try others">
              Threads
            </th>
            <th scope="col" title="part of its work that is left; move to try">
              Work
            </th>
          </tr>
        </thead>
        <tbody>
          <ProgramRow pipeline={pipeline} percent={percent} />
          {placed.map(({ stage }, i) => (
            <StageRow
              stage={stage}
              name={plain(labels[i]!, 100)}
              before={before[i + 1]!}
              pipeline={pipeline}
              now={wanted.get(stage.number) ?? { width: stage.width, work: 1 }}
              next={then.get(stage.number)?.service_ps}
              outcome={outcome}
              most_threads={most_threads}
              percent={percent}
              onWant={onWant}
            />
          ))}
        </tbody>
      </table>
      <p class="quiet">
        From the program back to its sources. The line across the bars is the step
        {outcome ? ", the bright one the step then" : ""}: a stage that needs as much holds it up. Does: work
        of all its threads. Queue: how long its function waited for a thread of the pool, over all of them.
      </p>
    </div>
  );
}
