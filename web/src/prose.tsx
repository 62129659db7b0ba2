import type { JSX } from "preact";
import { embedded } from "./api";
import { block, plain } from "./plain";

/** A sentence, in which words between backticks are code. */
export function Prose({ text }: { text: string }): JSX.Element {
  const parts = plain(text).split(/`([^`]+)`/);
  return <>{parts.map((part, i) => (i % 2 ? <code>{part}</code> : part))}</>;
}

/** Sentences, a paragraph each. */
export const Paragraphs = ({ of, look }: { of: readonly string[]; look?: string }): JSX.Element => (
  <>
    {of.map((sentence) => (
      <p class={look}>
        <Prose text={sentence} />
      </p>
    ))}
  </>
);

/** The headline of a report, its first sentence large. */
export const Headline = ({ of: [first, ...more] }: { of: readonly string[] }): JSX.Element => (
  <>
    <Paragraphs of={first === undefined ? [] : [first]} look="headline" />
    <Paragraphs of={more} />
  </>
);

/** The address of the SQL view with a query in its editor. */
export const sqlLink = (sql: string): string => `#sql?sql=${encodeURIComponent(sql.trim())}`;

/** The SQL behind something, folded away; where there is a server a click takes it to the editor. */
export function Sql({ sql }: { sql: string | null }): JSX.Element | null {
  if (!sql?.trim()) return null;
  return (
    <details class="sql">
      <summary>SQL</summary>
      {!embedded && (
        <p>
          <a href={sqlLink(sql)}>Open in the SQL view</a>
        </p>
      )}
      <pre>
        <code>{block(sql.trim())}</code>
      </pre>
    </details>
  );
}
