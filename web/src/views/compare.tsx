import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { framed } from "../address";
import { post } from "../api";
import { Empty } from "../empty";
import { Loaded, Problem } from "../loading";
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
    {!framed && <Add />}
    <p>You can also serve both, or print the same in a terminal:</p>
  </Empty>
);

/** Opens another recording of this machine beside those that are open. */
function Add(): JSX.Element {
  const [path, setPath] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const add = () => {
    if (!path.trim()) return;
    setBusy(true);
    setError(null);
    post("/api/add", { path: path.trim() }).then(
      () => location.reload(),
      (failure: unknown) => {
        setBusy(false);
        setError(failure);
      },
    );
  };
  return (
    <form
      class="toolbar"
      onSubmit={(e) => {
        e.preventDefault();
        add();
      }}
    >
      <label class="grow">
        Add a recording{" "}
        <input
          type="text"
          name="path"
          placeholder="Path of a file or folder on this machine"
          value={path}
          onInput={(e) => setPath(e.currentTarget.value)}
        />
      </label>
      <button type="submit" class="main" disabled={busy}>
        {busy ? "Opening …" : "Open"}
      </button>
      {error !== null && <Problem error={error} />}
    </form>
  );
}

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
