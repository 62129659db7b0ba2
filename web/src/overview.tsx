import type { ComponentChildren, JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { useCommands } from "./commands";
import { Findings } from "./findings";
import { Notes } from "./notes";
import { Prose } from "./prose";
import { FoldedSections, Open } from "./sections";
import { hasSteps, StepBars } from "./stepbar";
import { StepChart } from "./stepchart";
import type { Brushed } from "./stepcolumns";
import type { Report, Row, Section, Step } from "./types";

/** Steps as the section step_list tells them, for a page without a server; their times are those of their
 * source. */
export function stepsOf(report: Report): Step[] {
  const rows = report.sections.find((s) => s.name === "step_list")?.table?.rows ?? [];
  return rows
    .filter((row): row is Row & { dur_ps: number } => typeof row.dur_ps === "number")
    .map((row) => ({ ...row, id: "" }) as unknown as Step);
}

const PICTURES = ["op_types", "ops", "curve"];
const RECORDING = "runs_and_hosts"; // what it says is at the top of the page
const FEW = 3; // up to so many sections need no choosing: the first is open

/** What to draw first where no steps are known: what took the time, or what memory was held. */
function pictureOf(sections: Section[]): Section | null {
  const all = sections.flatMap((section) => [section, ...section.parts]);
  const drawn = all.filter((section) => section.chart && (section.table?.rows.length ?? 0) > 1);
  const first = sections.length <= FEW ? sections.find((section) => section.table?.rows.length) : undefined;
  return (
    PICTURES.map((name) => drawn.find((section) => section.name === name)).find(Boolean) ??
    drawn[0] ??
    first ??
    null
  );
}

/** Opens a folded section and brings it into view. */
function show(id: string): void {
  const found = document.getElementById(id);
  if (found instanceof HTMLDetailsElement) found.open = true;
  found?.scrollIntoView();
}

/** Sentences in one paragraph; nothing where there are none. */
function Sentences(props: { told: readonly string[]; class: string }): JSX.Element | null {
  if (props.told.length === 0) return null;
  return (
    <p class={props.class}>
      {props.told.map((sentence) => (
        <span>
          <Prose text={sentence} />{" "}
        </span>
      ))}
    </p>
  );
}

/** The first screen answers: where a step goes, why, what to do. The rest is a click away. coming: whether
 * a report that tells more is on its way. */
export function Summary({
  report,
  steps,
  linked,
  coming = false,
  below,
}: {
  report: Report;
  steps: Step[];
  linked: boolean;
  coming?: boolean;
  below?: ComponentChildren;
}): JSX.Element {
  const [brushed, setBrushed] = useState<Brushed | null>(null);
  const parts = report.sections.find((s) => s.name === "step_parts");
  const recording = report.sections.find((s) => s.name === RECORDING)?.answer ?? [];
  const [first, ...more] = report.headline;
  // Of the parts the bars above are the picture.
  const picture =
    parts && steps.length > 1 ? null : pictureOf(report.sections.filter((section) => section !== parts));
  const folded = useMemo(
    () =>
      report.sections
        .filter((section) => section !== picture)
        .map((section) => (section.name === RECORDING ? { ...section, answer: [] } : section)),
    [report, picture],
  );
  useCommands(
    useMemo(
      () =>
        folded.map((section, i) => ({ title: `Open ${section.title}`, key: "", run: () => show(`s${i}`) })),
      [folded],
    ),
  );
  return (
    <>
      <h1>
        <Prose text={report.title} />
      </h1>
      <Sentences told={recording} class="quiet recording" />
      {first !== undefined && (
        <p class="headline">
          <Prose text={first} />
        </p>
      )}
      <Sentences told={more} class="also" />
      {parts && (
        <StepBars section={parts} brushed={brushed} coming={coming} known={hasSteps(report, steps)} />
      )}
      {steps.length > 1 && (
        <StepChart steps={steps} section={parts} brushed={brushed} onBrush={setBrushed} linked={linked} />
      )}
      <Findings findings={report.findings} />
      <Notes notes={report.notes} />
      {picture && <Open section={picture} />}
      {folded.length > 0 && <FoldedSections sections={folded} flames={!linked} />}
      {below}
      {report.next_commands.length > 0 && (
        <details class="section">
          <summary>
            <h2>Commands</h2> <span class="quiet">What shows more, in a terminal</span>
          </summary>
          <pre>
            {report.next_commands.map((command) => (
              <>
                <Prose text={command.replaceAll("`", "'")} />
                {"\n"}
              </>
            ))}
          </pre>
        </details>
      )}
    </>
  );
}
