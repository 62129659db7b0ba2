// The tables and statements beside the SQL editor.

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Words } from "./editor";

export interface Schema {
  tables: Words[];
  analyses: { name: string; title: string; question: string; sql: string }[];
}

/** Tables with what their columns mean, and the statements of all other views. A click puts a name into the
 * query. */
export function Names({
  schema,
  onInsert,
  onQuery,
}: {
  schema: Schema;
  onInsert: (word: string) => void;
  onQuery: (sql: string) => void;
}): JSX.Element {
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const fits = (...words: (string | null)[]) =>
    !wanted || words.some((word) => word?.toLowerCase().includes(wanted));
  const tables = schema.tables.filter((table) =>
    fits(table.name, table.comment, ...table.columns.flatMap((c) => [c.name, c.comment])),
  );
  const analyses = schema.analyses
    .filter((one) => fits(one.name, one.title, one.question))
    .sort((a, b) => a.title.localeCompare(b.title));
  return (
    <aside aria-label="Tables and statements">
      <input
        type="search"
        name="schema"
        class="schema-filter"
        placeholder="Find a table, column or meaning"
        aria-label="Find a table, column or meaning"
        value={text}
        onInput={(e) => setText(e.currentTarget.value)}
      />
      <details open>
        <summary>
          <h2>Statements of the views</h2> <span class="quiet">{analyses.length}</span>
        </summary>
        <div class="listed">
          {analyses.map((one) => (
            <button
              type="button"
              class="link"
              key={one.name}
              title={one.question}
              onClick={() => onQuery(one.sql)}
            >
              {one.title || one.name}
            </button>
          ))}
        </div>
      </details>
      <details open>
        <summary>
          <h2>Tables and views</h2> <span class="quiet">{tables.length}</span>
        </summary>
        <div class="listed">
          {tables.map((table) => (
            <details key={table.name} class="relation" open={wanted !== "" && tables.length < 4}>
              <summary title={table.comment ?? ""}>
                <code>{table.name}</code>
              </summary>
              <p class="quiet">{table.comment}</p>
              <p>
                <button type="button" class="plain" onClick={() => onInsert(table.name)}>
                  Insert name
                </button>{" "}
                ·{" "}
                <button
                  type="button"
                  class="plain"
                  onClick={() => onQuery(`SELECT *\nFROM ${table.name}\nLIMIT 100`)}
                >
                  First rows
                </button>
              </p>
              <dl>
                {table.columns.map((c) => (
                  <>
                    <dt>
                      <button type="button" class="plain" onClick={() => onInsert(c.name)}>
                        <code>{c.name}</code>
                      </button>{" "}
                      <span class="quiet">{c.type}</span>
                    </dt>
                    <dd class="quiet">{c.comment}</dd>
                  </>
                ))}
              </dl>
            </details>
          ))}
        </div>
      </details>
      {!tables.length && !analyses.length && <p class="quiet">Nothing has this in its name or meaning.</p>}
    </aside>
  );
}
