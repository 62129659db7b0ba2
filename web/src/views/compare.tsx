import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { framed } from "../address";
import { post } from "../api";
import { Choice, places } from "../choice";
import { Empty } from "../empty";
import { Loaded, Problem } from "../loading";
import { plain } from "../plain";
import { Headline } from "../prose";
import { Sections } from "../sections";
import type { Report, View } from "../types";

const Compare = (): JSX.Element => (
  <Loaded<{ sides: string[] }> from="/api/sides">
    {({ sides }) => (sides.length > 1 ? <Two sides={sides} /> : <Alone />)}
  </Loaded>
);

const Alone = (): JSX.Element => (
  <Empty title="One recording" commands={["stepscope serve A B", "stepscope diff A B"]}>
    {!framed && <Add />}
    <p>{framed ? "Serve two" : "You can also serve both"}, or print the same in a terminal:</p>
  </Empty>
);

/** Opens one of the recordings that lie beside those that are open. */
const Add = (): JSX.Element => (
  <Loaded<{ offered: string[] }> from="/api/beside">
    {({ offered }) =>
      offered.length ? <Offered offered={offered} /> : <p class="quiet">Nothing lies beside what is open.</p>
    }
  </Loaded>
);

function Offered({ offered }: { offered: string[] }): JSX.Element {
  const [number, setNumber] = useState(0);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const add = () => {
    setBusy(true);
    setError(null);
    post("/api/add", { number }).then(
      () => location.reload(),
      (failure: unknown) => {
        setBusy(false);
        setError(failure);
      },
    );
  };
  return (
    <>
      <p class="toolbar">
        <Choice
          label="Add a recording"
          name="beside"
          value={number}
          options={places(offered.map((name) => plain(name, 120)))}
          onChoice={(at) => setNumber(Number(at))}
          wide
          above
        />
        <button type="button" class="main" disabled={busy} onClick={add}>
          {busy ? "Opening …" : "Open"}
        </button>
        <span class="quiet">These lie in the same folder.</span>
      </p>
      {error !== null && <Problem error={error} />}
    </>
  );
}

function Two({ sides }: { sides: string[] }): JSX.Element {
  const [a, setA] = useState(0);
  const [b, setB] = useState(1);
  const choice = (name: string, at: number, set: (at: number) => void) => (
    <Choice
      label={name}
      name={name}
      value={at}
      options={places(sides.map((side) => plain(side, 120)))}
      onChoice={(chosen) => set(Number(chosen))}
      wide
      above
    />
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
      {!framed && (
        <details class="more">
          <summary>Add a recording</summary>
          <Add />
        </details>
      )}
      {a === b ? (
        <p class="quiet">Choose two different recordings.</p>
      ) : (
        <Loaded<Report> from={`/api/compare?a=${a}&b=${b}`} key={`${a} ${b}`}>
          {(report) => (
            <>
              <Headline of={report.headline} />
              <Sections of={report} />
            </>
          )}
        </Loaded>
      )}
    </>
  );
}

export const view: View = { name: "compare", title: "Compare", order: 8, key: "8", Component: Compare };
