import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { post } from "../api";
import { Choice, places } from "../choice";
import { Empty } from "../empty";
import { Flow } from "../flow";
import { counted, duration } from "../format";
import { Loaded, Problem } from "../loading";
import { plain } from "../plain";
import { Prose } from "../prose";
import { Open } from "../sections";
import {
  allOf,
  labelsOf,
  ordered,
  type Pipeline,
  type PipelineReport,
  type Placed,
  partsOf,
  type Stage,
} from "../stages";
import { branches } from "../tree";
import type { Section, View } from "../types";

interface Wanted {
  width: number;
  work: number;
}
interface Outcome {
  now_ps: number;
  step_ps: number;
  /** Neither bound is told where they lie so far apart that they say nothing. */
  low: number | null;
  high: number | null;
  limit: string;
  stages: { number: number; width: number; service_ps: number }[];
}

const NOTHING = 0.005; // of a step: what changes less changes nothing
const WAIT_MS = 120; // a slider is asked about when it rests so long

/** The answer of the server's model to what the sliders say; null while they say what is. */
function useOutcome(
  number: number,
  wanted: Map<number, Wanted>,
  cores: number | null,
  prefetch: boolean,
): { outcome: Outcome | null; error: unknown } {
  const [state, setState] = useState<{ outcome: Outcome | null; error: unknown }>({
    outcome: null,
    error: null,
  });
  const changed = wanted.size > 0 || cores !== null || prefetch;
  useEffect(() => {
    if (!changed) {
      setState({ outcome: null, error: null });
      return;
    }
    let current = true;
    const stages = [...wanted].map(([stage, one]) => ({ number: stage, width: one.width, work: one.work }));
    const timer = setTimeout(() => {
      post("/api/pipeline/whatif", { pipeline: number, cores, prefetch, stages })
        .then(async (reply) => {
          const outcome = (await reply.json()) as Outcome;
          if (current) setState({ outcome, error: null });
        })
        .catch((error: unknown) => current && setState({ outcome: null, error }));
    }, WAIT_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [number, wanted, cores, prefetch]);
  return state;
}

const place = (stage: Stage): string => {
  const written = stage.code.find((one) => one.file !== null);
  return written ? `${written.file}:${written.line}` : "";
};

/** What a recording is called by: its folder rather than the one that the profiler made in it. */
export function recordingOf(path: string): string {
  const parts = path.split("/");
  const at = parts.lastIndexOf("plugins");
  return at > 0
    ? `${parts[at - 1]} (${parts[parts.length - 1]!.replace(/\.xplane\.pb$/, "")})`
    : parts.slice(-2).join("/");
}

/** How many steps in a second a stage could feed. */
const rate = (servicePs: number): string =>
  servicePs > 0 ? `${(1e12 / servicePs).toLocaleString("en", { maximumSignificantDigits: 3 })} steps/s` : "–";

interface Look {
  pipeline: Pipeline;
  placed: Placed[];
  labels: string[];
  wanted: Map<number, Wanted>;
  outcome: Outcome | null;
  onWant: (stage: Stage, change: Partial<Wanted>) => void;
}

/** The stages as a diagram: the program first, each stage below what it feeds, its time per step as a bar
 * beside the step's. */
function Diagram({ pipeline, placed, labels, wanted, outcome, onWant }: Look): JSX.Element {
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
  const own =
    pipeline.step_ps !== null && pipeline.traced_step_ps !== null && pipeline.wait_ps !== null
      ? Math.max(pipeline.traced_step_ps - pipeline.wait_ps, 0)
      : null;
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
          <tr>
            <td class="branch">
              <b>program</b>
            </td>
            <td class="wide">
              <svg class="need" height="22" role="img" aria-label="the program's own time">
                {own !== null && (
                  <rect class="class-compute" width={percent(own)} y="4" height="14">
                    <title>{`the program itself: ${duration(own)} of a step`}</title>
                  </rect>
                )}
                {own !== null && (
                  <rect
                    class="class-input"
                    x={percent(own)}
                    width={percent(pipeline.wait_ps!)}
                    y="4"
                    height="14"
                  >
                    <title>{`waiting for input: ${duration(pipeline.wait_ps!)}`}</title>
                  </rect>
                )}
              </svg>
            </td>
            <td class="number">{own === null ? "–" : duration(own)}</td>
            <td />
            <td colSpan={2} class="quiet">
              {own === null ? (
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
          {placed.map(({ stage }, i) => {
            const worst = pipeline.bottleneck?.number === stage.number;
            const now = wanted.get(stage.number) ?? { width: stage.width, work: 1 };
            const next = then.get(stage.number)?.service_ps;
            const name = plain(labels[i]!, 100);
            return (
              <tr class={worst ? "marked" : ""}>
                <td class="branch">
                  {before[i + 1]}
                  <span title={plain(stage.branch_name, 400)}>{name}</span>
                  {worst && <mark>bottleneck</mark>}
                  {place(stage) && (
                    <div
                      class="at quiet"
                      title={plain(stage.code.map((one) => one.text ?? "").join("\n"), 400)}
                    >
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
                    <rect
                      class={worst ? "worst" : "need-bar"}
                      width={percent(stage.service_ps)}
                      y="4"
                      height="14"
                    />
                    {next !== undefined && next !== stage.service_ps && (
                      <rect class="then" width={percent(next)} y="2" height="18">
                        <title>{`then ${duration(next)}`}</title>
                      </rect>
                    )}
                    {step > 0 && (
                      <line class="step-line" x1={percent(step)} x2={percent(step)} y1="0" y2="22" />
                    )}
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
                    {next !== undefined && next !== stage.service_ps
                      ? ` → ${now.work ? duration(next) : "gone"}`
                      : ""}
                  </span>
                </td>
                <td class="number">{duration(stage.work_ps)}</td>
                <td class="number">{stage.queue_ps ? duration(stage.queue_ps) : "–"}</td>
                <td>
                  <label class="slide">
                    <input
                      type="range"
                      name={`width-${stage.number}`}
                      aria-label={`Threads of ${name}`}
                      min={1}
                      max={most_threads}
                      value={now.width}
                      disabled={pipeline.step_ps === null}
                      onInput={(e) => onWant(stage, { width: Number(e.currentTarget.value) })}
                    />{" "}
                    <output>{now.width}</output>
                  </label>
                </td>
                <td>
                  <label class="slide">
                    <input
                      type="range"
                      name={`work-${stage.number}`}
                      aria-label={`Work left of ${name}, percent`}
                      min={0}
                      max={200}
                      step={5}
                      value={Math.round(100 * now.work)}
                      disabled={pipeline.step_ps === null}
                      onInput={(e) => onWant(stage, { work: Number(e.currentTarget.value) / 100 })}
                    />{" "}
                    <output>{now.work ? `${Math.round(100 * now.work)} %` : "gone"}</output>
                  </label>
                </td>
              </tr>
            );
          })}
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

/** What the model says of the sliders, beside the step as it is. */
function Predicted({
  pipeline,
  outcome,
  error,
  changed,
}: {
  pipeline: Pipeline;
  outcome: Outcome | null;
  error: unknown;
  changed: boolean;
}): JSX.Element {
  if (error !== null) return <Problem error={error} />;
  const most = Math.max(pipeline.step_ps ?? 1, outcome?.high ?? outcome?.step_ps ?? 0);
  const bounds =
    outcome && outcome.low !== null && outcome.high !== null ? [outcome.low, outcome.high] : null;
  const percent = (ps: number) => `${(100 * ps) / most}%`;
  return (
    <dl class="facts predicted" aria-live="polite">
      <div>
        <dt>A step now</dt>
        <dd>{pipeline.step_ps === null ? "unknown" : duration(pipeline.step_ps)}</dd>
      </div>
      {outcome ? (
        <>
          <div>
            <dt>Predicted</dt>
            <dd class="big">{duration(outcome.step_ps)}</dd>
          </div>
          <div>
            <dt>Between</dt>
            <dd>{bounds ? `${duration(bounds[0]!)} and ${duration(bounds[1]!)}` : "bounds too far apart"}</dd>
          </div>
          <div>
            <dt>{outcome.step_ps <= outcome.now_ps ? "Saves" : "Costs"}</dt>
            <dd>
              {Math.abs(outcome.now_ps - outcome.step_ps) < NOTHING * outcome.now_ps
                ? "nothing"
                : duration(Math.abs(outcome.now_ps - outcome.step_ps))}
            </dd>
          </div>
          <div>
            <dt>Then limited by</dt>
            <dd>{plain(outcome.limit, 120)}</dd>
          </div>
          <div class="grow">
            <svg class="need" height="22" role="img" aria-label="predicted step beside the step now">
              <rect class="need-bar" width={percent(outcome.now_ps)} y="1" height="8">
                <title>now</title>
              </rect>
              <rect class="worst" width={percent(outcome.step_ps)} y="12" height="8">
                <title>predicted</title>
              </rect>
              {bounds && (
                <line class="whisker" x1={percent(bounds[0]!)} x2={percent(bounds[1]!)} y1="16" y2="16" />
              )}
            </svg>
            <small class="quiet">
              above: now; below: predicted{bounds && ", with its bounds"}; from 0 to {duration(most)}
            </small>
          </div>
        </>
      ) : (
        <div>
          <dt>What if?</dt>
          <dd class="quiet">
            {changed ? "Asking …" : "Move a slider: the model of the recording predicts the step."}
          </dd>
        </div>
      )}
    </dl>
  );
}

function One({
  pipeline,
  number,
  parts,
}: {
  pipeline: Pipeline;
  number: number;
  parts: Section[];
}): JSX.Element {
  const [wanted, setWanted] = useState<Map<number, Wanted>>(new Map());
  const [cores, setCores] = useState<number | null>(null);
  const [prefetch, setPrefetch] = useState(false);
  const { outcome, error } = useOutcome(number, wanted, cores, prefetch);
  const placed = useMemo(() => ordered(pipeline.stages), [pipeline]);
  const nodes = parts.find((part) => part.tree)?.tree?.nodes ?? [];
  const labels = labelsOf(placed, nodes);
  const want = (stage: Stage, change: Partial<Wanted>) => {
    const next = { width: stage.width, work: 1, ...wanted.get(stage.number), ...change };
    const all = new Map(wanted);
    if (next.width === stage.width && next.work === 1) all.delete(stage.number);
    else all.set(stage.number, next);
    setWanted(all);
  };
  const changed = wanted.size > 0 || cores !== null || prefetch;
  const reset = () => {
    setWanted(new Map());
    setCores(null);
    setPrefetch(false);
  };
  return (
    <>
      {pipeline.stages.length > 0 && (
        <section aria-label="Stages and what if">
          <h2>
            Stages{" "}
            <span class="quiet">
              from the sources to the program; the foot of a box is the part of the step that it needs
            </span>
          </h2>
          <Predicted pipeline={pipeline} outcome={outcome} error={error} changed={changed} />
          <Flow
            placed={placed}
            labels={labels}
            worst={pipeline.bottleneck?.number ?? null}
            step={outcome?.step_ps ?? pipeline.step_ps ?? 0}
            needs={new Map(outcome?.stages.map((one) => [one.number, one.service_ps]))}
            rate={rate}
            place={place}
          />
          <Diagram
            pipeline={pipeline}
            placed={placed}
            labels={labels}
            wanted={wanted}
            outcome={outcome}
            onWant={want}
          />
          <p class="whatif">
            <label class="slide">
              Cores{" "}
              <input
                type="range"
                name="cores"
                min={1}
                max={Math.max(4 * pipeline.cores, 8)}
                value={cores ?? pipeline.cores}
                disabled={pipeline.step_ps === null}
                onInput={(e) => {
                  const value = Number(e.currentTarget.value);
                  setCores(value === pipeline.cores ? null : value);
                }}
              />{" "}
              <output>{cores ?? pipeline.cores}</output>
            </label>
            <label>
              <input
                type="checkbox"
                name="prefetch"
                checked={prefetch}
                onInput={(e) => setPrefetch(e.currentTarget.checked)}
              />{" "}
              prefetch at the end
            </label>
            <button type="button" disabled={!changed} onClick={reset}>
              As recorded
            </button>
          </p>
        </section>
      )}
      {parts
        .filter((part) => part.diff)
        .map((part) => (
          <Open section={part} />
        ))}
      {parts
        .filter((part) => !part.diff && !part.tree)
        .map((part) => (
          <Open section={part} />
        ))}
    </>
  );
}

function Shown({ report }: { report: PipelineReport }): JSX.Element {
  const [number, setNumber] = useState(0);
  const all = allOf(report);
  if (!report.sections.length)
    return (
      <Empty title="No input pipeline" commands={["stepscope train.py"]}>
        {report.headline.map((sentence) => (
          <p>
            <Prose text={sentence} />
          </p>
        ))}
        <p>The stages of tf.data are in XPlane profiles, recorded with TensorFlow's profiler or with</p>
      </Empty>
    );
  const pipeline = all[number] ?? all[0]!;
  return (
    <>
      <h1>
        <Prose text={report.headline[0] ?? report.title} />
      </h1>
      {all.length > 1 && (
        <Choice
          label={`${counted(all.length, "pipeline")}:`}
          name="pipeline"
          value={number}
          options={places(
            all.map((one) => `${plain(recordingOf(one.path), 60)}: ${one.verdict.replaceAll("_", " ")}`),
          )}
          onChoice={(at) => setNumber(Number(at))}
          wide
        />
      )}
      <One key={number} pipeline={pipeline} number={number} parts={partsOf(report, number)} />
    </>
  );
}

const PipelineView = (): JSX.Element => (
  <Loaded<PipelineReport> from="/api/report/pipeline">{(report) => <Shown report={report} />}</Loaded>
);

export const view: View = {
  name: "pipeline",
  title: "Input pipeline",
  order: 4,
  key: "4",
  Component: PipelineView,
};
