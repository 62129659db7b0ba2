import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Empty } from "../empty";
import { Loaded } from "../loading";
import { plain } from "../plain";
import { Prose } from "../prose";
import { Sections } from "../sections";
import type { Report, View } from "../types";

const Compare = (): JSX.Element => (
  <Loaded<{ sides: string[] }> from="/api/sides">
    {({ sides }) => (sides.length > 1 ? <Two sides={sides} /> : <Alone />)}
  </Loaded>
);

const Alone = (): JSX.Element => (
  <Empty title="One recording" commands={["stepscope serve A B", "stepscope diff A B"]}>
    <p>To see two recordings side by side, serve both, or print the same in a terminal:</p>
  </Empty>
);

function Two({ sides }: { sides: string[] }): JSX.Element {
  const [a, setA] = useState(0);
  const [b, setB] = useState(1);
  const choice = (name: string, at: number, set: (at: number) => void) => (
    <label class="option">
      <span>{name}</span>
      <select name={name} value={at} onChange={(e) => set(Number(e.currentTarget.value))}>
        {sides.map((side, i) => (
          <option value={i}>{plain(side, 120)}</option>
        ))}
      </select>
    </label>
  );
  return (
    <>
      <h1>Compare</h1>
      <div class="options">
        {choice("A", a, setA)}
        {choice("B", b, setB)}
        <button
          type="button"
          onClick={() => {
            setA(b);
            setB(a);
          }}
        >
          Swap
        </button>
      </div>
      {a === b ? (
        <p class="quiet">Choose two different recordings.</p>
      ) : (
        <Loaded<Report> from={`/api/compare?a=${a}&b=${b}`} key={`${a} ${b}`}>
          {(report) => (
            <>
              {report.headline.map((sentence, i) => (
                <p class={i ? "" : "headline"}>
                  <Prose text={sentence} />
                </p>
              ))}
              <Sections of={report} />
            </>
          )}
        </Loaded>
      )}
    </>
  );
}

export const view: View = { name: "compare", title: "Compare", order: 8, key: "8", Component: Compare };
