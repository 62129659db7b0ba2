import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { once, Refused, Stopped } from "./api";
import { Waiting } from "./waiting";

interface State<T> {
  value: T | null;
  error: unknown;
}
const NOTHING = { value: null, error: null };

/** What the server answers, asked again when one of `when` changes: until then the value of before stays, and a
 * failure is beside it. `ask` gives null where nothing is to be asked; again() forgets and asks once more. */
export function useAnswer<T>(
  ask: () => Promise<T> | null,
  when: readonly unknown[],
): State<T> & { again: () => void } {
  const [state, setState] = useState<State<T>>(NOTHING);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let current = true;
    ask()?.then(
      (value) => current && setState({ value, error: null }),
      (error: unknown) => current && setState((before) => ({ ...before, error })),
    );
    return () => {
      current = false;
    };
  }, [...when, tries]);
  const again = () => {
    setState(NOTHING);
    setTries((n) => n + 1);
  };
  return { ...state, again };
}

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
  const { value, error, again } = useAnswer(() => once<T>(from), [from]);
  if (error instanceof Stopped)
    return (
      <p class="quiet">
        You stopped this.{" "}
        <button type="button" onClick={again}>
          Ask again
        </button>
      </p>
    );
  if (refused && error instanceof Refused) return <>{refused(error)}</>;
  if (error !== null) return <Problem error={error} />;
  if (value === null) return <Waiting of={from} />;
  return <>{children(value)}</>;
}
