import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { counted } from "../format";
import { Lifetimes, type Block, type Point } from "../lifetimes";
import { Empty } from "../empty";
import { Loaded } from "../loading";
import { plain } from "../plain";
import { Prose } from "../prose";
import { show } from "../scale";
import { Open } from "../sections";
import type { Report, View } from "../types";

interface Allocator { path: string; run_id: string; host_id: string; allocator: string; device: string; peak_bytes: number; peak_ps: number | null; curve: Point[]; complete: boolean }
type MemoryReport = Report & { allocators: Allocator[] };

const isOf = (one: Allocator) => (block: Block): boolean => block.path === one.path && block.run_id === one.run_id && block.allocator === one.allocator && block.device === one.device;

function One({ report, number }: { report: MemoryReport; number: number }): JSX.Element {
  const one = report.allocators[number]!;
  const section = report.sections[number];
  const parts = report.allocators.length > 1 ? section?.parts ?? [] : report.sections;
  return <>
    {report.allocators.length > 1 && section?.answer.map((sentence) => <p><Prose text={sentence} /></p>)}
    <section aria-label="Memory over time"><h2>Memory over time <span class="quiet">{plain([one.allocator, one.device].filter(Boolean).join(" on "), 160)}: at most {show(one.peak_bytes, "bytes")}</span></h2>
      <Loaded<{ rows: Block[] }> from="/api/memory/buffers">{({ rows }) => {
        const blocks = rows.filter(isOf(one));
        const shift = blocks[0]?.shift_ps ?? 0;
        const points = one.curve.map((point) => ({ ts_ps: point.ts_ps + shift, bytes: point.bytes }));
        if (!points.length && !blocks.length) return <p class="quiet">No moments were recorded: only what was held is known.</p>;
        return <Lifetimes key={number} points={points} blocks={blocks} peakPs={one.peak_ps === null ? null : one.peak_ps + shift} peakBytes={one.peak_bytes} linked />;
      }}</Loaded></section>
    {parts.filter((part) => part.name !== "curve" && part.name !== "why").map((part) => <Open section={part} />)}
    {parts.filter((part) => part.name === "why").map((part) => <Open section={part} />)}
  </>;
}

function Shown({ report }: { report: MemoryReport }): JSX.Element {
  const [number, setNumber] = useState(0);
  if (!report.allocators.length) return <Empty title="No memory" commands={["stepscope record -- python train.py"]}>{report.headline.map((sentence) => <p><Prose text={sentence} /></p>)}<p>Allocations are in the profiles of TensorFlow and JAX and in PyTorch's with profile_memory, and TensorFlow's are recorded with</p></Empty>;
  return <>{report.headline.map((sentence) => <p class="headline"><Prose text={sentence} /></p>)}
    {report.allocators.length > 1 && <label>{counted(report.allocators.length, "allocator")}: <select name="allocator" value={number} onInput={(e) => setNumber(Number(e.currentTarget.value))}>
      {report.allocators.map((one, i) => <option value={i}>{plain([one.run_id, one.host_id, one.allocator, one.device].filter(Boolean).join(" / "), 120)}: {show(one.peak_bytes, "bytes")}</option>)}</select></label>}
    <One key={number} report={report} number={number} /></>;
}

const Memory = (): JSX.Element => <Loaded<MemoryReport> from="/api/report/memory">{(report) => <Shown report={report} />}</Loaded>;

export const view: View = { name: "memory", title: "Memory", order: 5, key: "5", Component: Memory };
