// The same page as one file: what it shows is embedded, and there is no server to ask.

import "./style.css";
import type { JSX } from "preact";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { place } from "./address";
import { embedded } from "./api";
import { Findings, One } from "./findings";
import { Problem } from "./loading";
import { Summary, stepsOf } from "./overview";
import { plain } from "./plain";
import { Paragraphs, Prose } from "./prose";
import { Grid } from "./table";
import { setTheme, theme, turnTheme } from "./theme";
import type { Report } from "./types";
import "./print.css";

/** Opens the section that the address names, and what it is inside of. */
function goTo(): void {
  const found = place.value.length > 1 ? document.getElementById(place.value.slice(1)) : null;
  for (let at: Element | null = found; at; at = at.parentElement)
    if (at instanceof HTMLDetailsElement) at.open = true;
  found?.scrollIntoView();
}

function Page({ report }: { report: Report }): JSX.Element {
  useEffect(() => place.subscribe(goTo), []);
  return (
    <>
      <header class="file">
        <b class="brand">stepscope</b>
        <nav aria-label="Sections">
          {report.sections.map((s, i) => (
            <a href={`#s${i}`}>{plain(s.title, 60)}</a>
          ))}
        </nav>
        <button type="button" onClick={turnTheme}>
          Theme: {theme.value}
        </button>
      </header>
      <main class="overview">
        <Summary report={report} steps={stepsOf(report)} linked={false} />
      </main>
      <footer class="quiet">
        Made by stepscope {report.version}. This file is complete: it needs neither network nor server.
      </footer>
    </>
  );
}

/** A few things of a report and nothing else, as a notebook shows them. */
const Part = ({ report }: { report: Report }): JSX.Element => (
  <main class="few">
    {report.title && (
      <h2>
        <Prose text={report.title} />
      </h2>
    )}
    <Paragraphs of={report.headline} />
    {report.sections.map((section) => section.table && <Grid table={section.table} first={12} />)}
    {report.findings.length === 1 ? (
      <One finding={report.findings[0]!} open />
    ) : (
      <Findings findings={report.findings} first={Infinity} />
    )}
    <Paragraphs of={report.sections.flatMap((section) => section.answer)} look="quiet" />
  </main>
);

const page = document.getElementById("page")!;
const whole = embedded?.get("/api/report/summary") as Report | undefined;
const part = embedded?.get("part") as Report | undefined;
setTheme(theme.value);
if (whole) render(<Page report={whole} />, page);
else if (part) render(<Part report={part} />, page);
else render(<Problem error="The file holds no report." />, page);
