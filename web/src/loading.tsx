import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { once, Refused, Stopped } from "./api";
import { Waiting } from "./waiting";

type State<T> = { value: T } | { error: unknown } | null;

/** The three parts of an error. */
export function Problem({ error }: { error: unknown }): JSX.Element {
  const [what, seen, toDo] =
    error instanceof Refused
      ? [error.what, error.seen, error.toDo]
      : [
          "The page met an error of its own.",
          String(error),
          "Reload the page; if it comes back, report it with the text above.",
        ];
  return (
    <div class="problem" role="alert">
      <strong>{what}</strong>
      <p>{seen}</p>
      <p class="todo">{toDo}</p>
    </div>
  );
}

/** Asks once, and shows what came of it: waiting, an error in three parts, or the children made from the
 * answer. refused: what to show of a refusal, where that says that there is nothing to see. */
export function Loaded<T>({
  from,
  children,
  refused,
}: {
  from: string;
  children: (answer: T) => ComponentChildren;
  refused?: (error: Refused) => ComponentChildren;
}): JSX.Element {
  const [state, setState] = useState<State<T>>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let current = true;
    once<T>(from).then(
      (value) => current && setState({ value }),
      (error: unknown) => current && setState({ error }),
    );
    return () => {
      current = false;
    };
  }, [from, tries]);
  if (state === null) return <Waiting of={from} />;
  if ("error" in state && state.error instanceof Stopped)
    return (
      <p class="quiet">
        You stopped this.{" "}
        <button
          type="button"
          onClick={() => {
            setState(null);
            setTries(tries + 1);
          }}
        >
          Ask again
        </button>
      </p>
    );
  if ("error" in state && refused && state.error instanceof Refused) return <>{refused(state.error)}</>;
  if ("error" in state) return <Problem error={state.error} />;
  return <>{children(state.value)}</>;
}
