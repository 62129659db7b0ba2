import type { JSX } from "preact";
import { Grid } from "./table";
import type { Report, Section } from "./types";

function One({ section }: { section: Section }): JSX.Element {
  return <section id={section.name} aria-label={section.title}><h2>{section.title}</h2>
    {section.question && <p class="quiet">{section.question}</p>}
    {section.answer.map((sentence) => <p>{sentence}</p>)}
    {section.table && section.table.rows.length > 0 && <Grid table={section.table} />}
    {section.parts.map((part) => <One section={part} key={part.name} />)}
    {section.sql && <details><summary>SQL</summary><pre>{section.sql}</pre></details>}</section>;
}

/** Every section of a report as sentences and a table; a new analysis shows up here by itself. */
export const Sections = ({ of }: { of: Report }): JSX.Element => <>{of.sections.map((section) => <One section={section} key={section.name} />)}</>;
