import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Choice, places } from "../choice";
import { Empty } from "../empty";
import { Flow } from "../flow";
import { counted } from "../format";
import { Check, Slider } from "../inputs";
import { Loaded } from "../loading";
import { Diagram, place, rate } from "../pipeline/diagram";
import { useOutcome, type Wanted } from "../pipeline/outcome";
import { Predicted } from "../pipeline/predicted";
import { plain } from "../plain";
import { Paragraphs, Prose } from "../prose";
import { Open } from "../sections";
import { allOf, labelsOf, ordered, type Pipeline, type PipelineReport, partsOf, type Stage } from "../stages";
import type { Section, View } from "../types";
import "../pipeline/pipeline.css";

/** What a recording is called by: its folder rather than the one that the profiler made in it. */
export function recordingOf(path: string): string {
  const parts = path.split("/");
  const at = parts.lastIndexOf("plugins");
  return at > 0
    ? `${parts[at - 1]} (${parts[parts.length - 1]!.replace(/\.xplane\.pb$/, "")})`
    : parts.slice(-2).join("/");
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
            <Slider
              name="cores"
              min={1}
              max={Math.max(4 * pipeline.cores, 8)}
              value={cores ?? pipeline.cores}
              disabled={pipeline.step_ps === null}
              onSlide={(value) => setCores(value === pipeline.cores ? null : value)}
            >
              Cores{" "}
            </Slider>
            <Check name="prefetch" checked={prefetch} onCheck={setPrefetch}>
              prefetch at the end
            </Check>
            <button type="button" disabled={!changed} onClick={reset}>
              As recorded
            </button>
          </p>
        </section>
      )}
      {[...parts.filter((part) => part.diff), ...parts.filter((part) => !part.diff && !part.tree)].map(
        (part) => (
          <Open section={part} />
        ),
      )}
    </>
  );
}

function Shown({ report }: { report: PipelineReport }): JSX.Element {
  const [number, setNumber] = useState(0);
  const all = allOf(report);
  if (!report.sections.length)
    return (
      <Empty title="No input pipeline" commands={["stepscope train.py"]}>
        <Paragraphs of={report.headline} />
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
