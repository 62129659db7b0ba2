import type { JSX } from "preact";
import { Changes } from "./changes";
import { Drawn } from "./chart";
import { Findings } from "./findings";
import { counted } from "./format";
import { plain } from "./plain";
import { Paragraphs, Prose, Sql } from "./prose";
import { Grid } from "./table";
import { boxes, Flame, TreeTable } from "./tree";
import type { Report, Section } from "./types";
import "./sections.css";

/** A picture with its table behind a click; the table alone where nothing is drawn. */
function Pictured(props: { drawn: JSX.Element | null; rows: number; table: JSX.Element }): JSX.Element {
  if (!props.drawn) return props.table;
  return (
    <>
      {props.drawn}
      <details class="rows">
        <summary>Table of {counted(props.rows, "row")}</summary>
        {props.table}
      </details>
    </>
  );
}

/** What a section holds besides its heading. */
function Inside({ section }: { section: Section }): JSX.Element {
  const { table, chart, tree } = section;
  const flame = tree !== null && tree.size !== "" && boxes(tree).length > 0;
  return (
    <>
      {section.question && !section.title.endsWith(section.question) && (
        <p class="quiet question">
          <Prose text={section.question} />
        </p>
      )}
      <Paragraphs of={section.answer} />
      {table && table.rows.length > 0 && (
        <Pictured
          drawn={chart && Drawn({ table, chart })}
          rows={table.rows.length}
          table={<Grid table={table} first={12} />}
        />
      )}
      {tree && (
        <Pictured
          drawn={flame ? <Flame tree={tree} /> : null}
          rows={tree.nodes.length}
          table={<TreeTable tree={tree} />}
        />
      )}
      {section.diff && <Changes diff={section.diff} />}
      <Findings findings={section.findings} first={Infinity} />
      <Sql sql={section.sql} />
      {section.parts.map((part) => (
        <Open section={part} key={part.name} level={3} />
      ))}
    </>
  );
}

const Heading = ({ section }: { section: Section }): JSX.Element => (
  <>
    {plain(section.title, 300)}
    {section.subject && (
      <>
        {" "}
        <span class="quiet">{plain(section.subject, 300)}</span>
      </>
    )}
  </>
);

/** A section that is seen at once. */
export function Open({ section, level = 2 }: { section: Section; level?: 2 | 3 }): JSX.Element {
  const Title = `h${level}` as "h2" | "h3";
  return (
    <section id={section.name} class={level === 3 ? "part" : ""} aria-label={plain(section.title, 300)}>
      <Title>
        <Heading section={section} />
      </Title>
      <Inside section={section} />
    </section>
  );
}

/** A section behind its title, with the first sentence of its answer, or its question, beside it. */
function Folded({ section, id, open }: { section: Section; id: string; open: boolean }): JSX.Element {
  return (
    <details class="section" id={id} open={open}>
      <summary>
        <h2>
          <Heading section={section} />
        </h2>{" "}
        <span class="quiet">
          <Prose
            text={section.answer[0] ?? (section.title.endsWith(section.question) ? "" : section.question)}
          />
        </span>
      </summary>
      <Inside section={section} />
    </details>
  );
}

/** Every section of a report as sentences, charts and tables; a new analysis shows up here by itself. */
export const Sections = ({ of }: { of: Report }): JSX.Element => (
  <>
    {of.sections.map((section) => (
      <Open section={section} key={section.name} />
    ))}
  </>
);

/** Whether a section, or a part of it, is a flame graph. */
const isFlame = (section: Section): boolean => Boolean(section.tree?.size) || section.parts.some(isFlame);

/** The same, each a click away. flames: flame graphs are open, as in a file, which has no views. */
export const FoldedSections = ({
  sections,
  flames = false,
}: {
  sections: Section[];
  flames?: boolean;
}): JSX.Element => (
  <div class="sections">
    {sections.map((section, i) => (
      <Folded
        section={section}
        id={`s${i}`}
        key={`${section.name} ${section.subject}`}
        open={flames && isFlame(section)}
      />
    ))}
  </div>
);
