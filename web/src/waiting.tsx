import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { framed } from "./address";
import { get, stop } from "./api";
import { plain } from "./plain";
import { show } from "./scale";

const EVERY = 1000; // milliseconds before the first question of how far it is, and between two

/** What the server does for an answer: it reads bytes of a file, asks a statement, or others come first. */
export interface Now {
  doing: "reading" | "asking" | "waiting";
  what: string;
  done: number;
  total: number;
}

/** What is being done, in words. */
export function told({ doing, what, done, total }: Now): string {
  if (doing === "waiting") return "Other answers come first";
  const of =
    doing === "reading" ? `${show(done, "bytes")} of ${show(total, "bytes")}` : `${done} of ${total}`;
  const name = plain(
    doing === "reading" ? (what.split("/").pop() ?? what) : what.replaceAll("_", " ").trim(),
    80,
  );
  return [doing === "reading" ? "Reading" : "Asking", name, total > 0 ? `(${of})` : ""]
    .filter(Boolean)
    .join(" ");
}

/** Says that something is on its way; after a second also how far it is, with a way to stop it. */
export function Waiting({ of, words = "Reading …" }: { of: string; words?: string }): JSX.Element {
  const [long, setLong] = useState(false);
  const [now, setNow] = useState<Now | null>(null);
  useEffect(() => {
    const leave = new AbortController();
    const timer = setInterval(() => {
      setLong(true);
      get<{ now: Now | null }>(`/api/doing?of=${encodeURIComponent(of)}`, leave.signal).then(
        (answer) => setNow(answer.now),
        () => undefined, // who waits for the answer itself hears what is wrong
      );
    }, EVERY);
    return () => {
      clearInterval(timer);
      leave.abort();
    };
  }, [of]);
  return (
    <div class="waiting">
      <p class="quiet" role="status">
        {words}
      </p>
      {long && (
        <p class="quiet toolbar">
          {now && (
            <>
              <progress
                {...(now.total > 0 && { value: now.done, max: now.total })}
                aria-label="how far it is"
              />
              <span>{told(now)}</span>
            </>
          )}
          {!framed && (
            <button type="button" onClick={() => stop(of)}>
              Stop
            </button>
          )}
        </p>
      )}
    </div>
  );
}
