import type { JSX } from "preact";
import { Findings } from "../findings";
import { counted } from "../format";
import { Loaded } from "../loading";
import { StepBars } from "../stepbar";
import { StepChart } from "../stepchart";
import type { Catalog, Report, View } from "../types";

function Incomplete({ report }: { report: Report }): JSX.Element | null {
  if (!report.notes.length) return null;
  return <details class="notes"><summary>{counted(report.notes.length, "note")} on the recording: what is incomplete or odd</summary>
    <ul>{report.notes.map((note) => <li>{note.detail}{note.events !== null ? ` (${counted(note.events, "event")})` : ""} <span class="quiet">{note.path ?? ""}</span></li>)}</ul></details>;
}

function Overview(): JSX.Element {
  return <Loaded<Report> from="/api/report/summary">{(report) => {
    const parts = report.sections.find((s) => s.name === "step_parts");
    return <>
      <h1>{report.title}</h1>
      {report.headline.map((sentence) => <p class="headline">{sentence}</p>)}
      {parts && <StepBars section={parts} />}
      <Loaded<Catalog> from="/api/catalog">{(catalog) => (catalog.steps.length ? <StepChart steps={catalog.steps} /> : null)}</Loaded>
      <Findings findings={report.findings} />
      <Incomplete report={report} />
    </>;
  }}</Loaded>;
}

export const view: View = { name: "overview", title: "Overview", order: 1, key: "1", Component: Overview };
