import type { JSX } from "preact";
import { plain } from "./plain";
import { Prose } from "./prose";
import { show } from "./scale";
import type { Diff, Edit } from "./types";
import "./changes.css";

function Lines({ edit }: { edit: Edit }): JSX.Element {
  return (
    <>
      <p class="quiet where">{plain(`${edit.at.file}:${edit.at.line}`, 300)}</p>
      {edit.after !== null && (
        <pre class="diff">
          <del>- {plain(edit.before)}</del>
          {"\n"}
          <ins>+ {plain(edit.after)}</ins>
        </pre>
      )}
    </>
  );
}

/** What could be changed in the program, each with its predicted effect and the line to edit. */
export const Changes = ({ diff }: { diff: Diff }): JSX.Element => (
  <div class="changes">
    {diff.changes.map((change) => {
      const values = diff.columns.filter((c) => (change.values[c.name] ?? null) !== null);
      return (
        <div class={`change${change.helps ? "" : " unsure"}${values.length ? "" : " bare"}`}>
          {values.length > 0 && (
            <dl class="facts">
              {values.map((c) => (
                <div title={plain(c.about || c.title, 400)}>
                  <dt>{plain(c.title, 80)}</dt>
                  <dd>{show(change.values[c.name], c.unit)}</dd>
                </div>
              ))}
            </dl>
          )}
          <div>
            <p>
              <Prose text={change.what} />
              {change.outcome && (
                <>
                  ;{" "}
                  <span class="quiet">
                    <Prose text={change.outcome} />
                  </span>
                </>
              )}
              .
            </p>
            {change.edit && <Lines edit={change.edit} />}
          </div>
        </div>
      );
    })}
  </div>
);
