import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { place } from "./address";
import { counted } from "./format";
import { Prose, Sql } from "./prose";
import { Grid } from "./table";
import type { Finding } from "./types";
import "./findings.css";

const FIRST = 3; // findings that are seen without a click

/** A finding: what it costs and what to do in a line each; evidence, reasoning and SQL unfold. */
export function One({ finding, open = false }: { finding: Finding; open?: boolean }): JSX.Element {
  const card = useRef<HTMLDetailsElement>(null);
  const meant = new URLSearchParams(place.value.split("?")[1]).get("finding") === finding.slug;
  useEffect(() => {
    if (!meant || !card.current) return;
    for (let at: Element | null = card.current; at; at = at.parentElement)
      if (at instanceof HTMLDetailsElement) at.open = true;
    card.current.scrollIntoView({ block: "nearest" });
  }, [meant, place.value]);
  const evidence = finding.evidence && {
    ...finding.evidence,
    columns: finding.evidence.columns.filter((c) => c.name !== "severity"), // its mark says it
  };
  return (
    <details class={`finding ${finding.severity}`} open={open} ref={card}>
      <summary>
        <p class="line">
          <span class="severity">{finding.severity}</span>{" "}
          <strong>
            <Prose text={finding.title} />
          </strong>{" "}
          <span class="impact">
            <Prose text={finding.impact} />
          </span>
        </p>
        <p class="todo">
          <Prose text={finding.action} />
        </p>
      </summary>
      {finding.weakened_by.length > 0 && (
        <p class="quiet">
          Weakened by: <Prose text={finding.weakened_by.join(", ")} />
        </p>
      )}
      {finding.reasoning && (
        <p>
          <Prose text={finding.reasoning} />
        </p>
      )}
      {finding.formula && (
        <p class="quiet">
          Formula: <Prose text={finding.formula} />
        </p>
      )}
      {evidence && evidence.rows.length > 0 && <Grid table={evidence} filter={false} first={12} />}
      <Sql sql={finding.sql} />
    </details>
  );
}

/** Findings, most severe first as the report orders them; the later ones behind a click. */
export function Findings({ findings, first = FIRST }: { findings: Finding[]; first?: number }): JSX.Element {
  const later = findings.slice(first);
  return (
    <>
      {findings.slice(0, first).map((finding) => (
        <One finding={finding} key={finding.slug} />
      ))}
      {later.length > 0 && (
        <details class="more">
          <summary>
            {counted(later.length, "more finding")}:{" "}
            {later.map((f) => <Prose text={f.title} />).flatMap((title, i) => (i ? ["; ", title] : [title]))}
          </summary>
          {later.map((finding) => (
            <One finding={finding} key={finding.slug} />
          ))}
        </details>
      )}
    </>
  );
}
