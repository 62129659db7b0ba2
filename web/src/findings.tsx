import type { JSX } from "preact";
import { Grid } from "./table";
import type { Finding } from "./types";

/** Findings, most severe first as the server orders them; evidence, reasoning and SQL unfold. */
export function Findings({ findings }: { findings: Finding[] }): JSX.Element {
  return <>{findings.map((finding) => <details class={`finding ${finding.severity}`} key={finding.slug}>
    <summary><span class="severity">{finding.severity}</span> <strong>{finding.title}</strong>
      <span class="impact"> {finding.impact}</span></summary>
    <p class="todo">{finding.action}</p>
    {finding.reasoning && <p>{finding.reasoning}</p>}
    {finding.weakened_by.map((text) => <p class="quiet">{text}</p>)}
    {finding.evidence && <Grid table={finding.evidence} />}
    {finding.formula && <p class="quiet">{finding.formula}</p>}
    {finding.sql && <details><summary>SQL</summary><pre>{finding.sql}</pre></details>}
  </details>)}</>;
}
