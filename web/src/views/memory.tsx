import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Choice, places } from "../choice";
import { Empty } from "../empty";
import { counted } from "../format";
import { type Block, Lifetimes, type Point } from "../lifetimes";
import { Loaded } from "../loading";
import { plain } from "../plain";
import { Headline, Paragraphs } from "../prose";
import { show } from "../scale";
import { Open, Sections } from "../sections";
import type { Report, Section, View } from "../types";

interface Allocator {
  path: string;
  run_id: string;
  host_id: string;
  allocator: string;
  device: string;
  peak_bytes: number;
  peak_ps: number | null;
  curve: Point[];
  complete: boolean;
}
type MemoryReport = Report & { allocators?: Allocator[] }; // reports on compiled programs have none

/** An allocator and its peak; its run and host only where there are several, after what differs first. */
function named(allocator: Allocator, all: Allocator[]): string {
  const where = (["run_id", "host_id"] as const)
    .filter((key) => all.some((other) => other[key] !== allocator[key]))
    .map((key) => allocator[key]);
  const what = [...new Set([allocator.allocator, allocator.device])].filter(Boolean).join(" on ");
  return `${[what, ...where]
    .filter(Boolean)
    .map((part) => plain(part, 60))
    .join(" / ")}: ${show(allocator.peak_bytes, "bytes")}`;
}

const isWhy = (section: Section): boolean => section.name === "why";

const isOf =
  (allocator: Allocator) =>
  (block: Block): boolean =>
    block.path === allocator.path &&
    block.run_id === allocator.run_id &&
    block.allocator === allocator.allocator &&
    block.device === allocator.device;

function One({
  report,
  allocators,
  number,
}: {
  report: MemoryReport;
  allocators: Allocator[];
  number: number;
}): JSX.Element {
  const allocator = allocators[number]!;
  const section = report.sections[number];
  const parts =
    allocators.length > 1
      ? [...(section?.parts ?? []), ...report.sections.filter((s) => s.name === "process")]
      : report.sections;
  // What was held at one moment has no course.
  const overTime = new Set(allocator.curve.map((point) => point.ts_ps)).size > 1;
  return (
    <>
      {allocators.length > 1 && <Paragraphs of={section ? saidOnce(section, report).answer : []} />}
      {overTime && (
        <section aria-label="Memory over time">
          <h2>
            Memory over time{" "}
            <span class="quiet">
              {plain([allocator.allocator, allocator.device].filter(Boolean).join(" on "), 160)}: at most{" "}
              {show(allocator.peak_bytes, "bytes")}
            </span>
          </h2>
          <Loaded<{ rows: Block[] }> from="/api/memory/buffers">
            {({ rows }) => {
              const blocks = rows.filter(isOf(allocator));
              const shift = blocks[0]?.shift_ps ?? 0;
              const points = allocator.curve.map((point) => ({
                ts_ps: point.ts_ps + shift,
                bytes: point.bytes,
              }));
              if (!points.length && !blocks.length)
                return <p class="quiet">No moments were recorded: only what was held is known.</p>;
              return (
                <Lifetimes
                  key={number}
                  points={points}
                  blocks={blocks}
                  peakPs={allocator.peak_ps === null ? null : allocator.peak_ps + shift}
                  peakBytes={allocator.peak_bytes}
                  linked
                />
              );
            }}
          </Loaded>
        </section>
      )}
      {[...parts.filter((part) => !["curve", "why"].includes(part.name)), ...parts.filter(isWhy)].map(
        (part) => (
          <Open section={part} />
        ),
      )}
    </>
  );
}

function Shown({ report }: { report: MemoryReport }): JSX.Element {
  const [number, setNumber] = useState(0);
  const { allocators = [] } = report;
  if (!allocators.length && report.sections.length)
    return (
      <>
        <Headline of={report.headline} />
        <Sections of={{ ...report, sections: report.sections.map((one) => saidOnce(one, report)) }} />
      </>
    );
  if (!allocators.length)
    return (
      <Empty title="No memory" commands={["stepscope train.py"]}>
        <Paragraphs of={report.headline} />
        <p>
          The variables that hold arrays, and the memory of the process over time, are recorded for
          TensorFlow, Keras, JAX and PyTorch with
        </p>
      </Empty>
    );
  return (
    <>
      <Paragraphs of={report.headline} look="headline" />
      {allocators.length > 1 && (
        <Choice
          label={`${counted(allocators.length, "allocator")}:`}
          name="allocator"
          value={number}
          options={places(allocators.map((allocator) => named(allocator, allocators)))}
          onChoice={(at) => setNumber(Number(at))}
          wide
        />
      )}
      <One key={number} report={report} allocators={allocators} number={number} />
    </>
  );
}

/** A section that does not say again what the headline of its report says. */
const saidOnce = (section: Section, { headline }: Report): Section => ({
  ...section,
  answer: section.answer.filter((sentence) => !headline.includes(sentence)),
});

const Memory = (): JSX.Element => (
  <Loaded<MemoryReport> from="/api/report/memory">{(report) => <Shown report={report} />}</Loaded>
);

export const view: View = { name: "memory", title: "Memory", order: 5, key: "5", Component: Memory };
