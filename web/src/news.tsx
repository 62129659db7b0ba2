import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { framed } from "./address";
import { embedded, get, post } from "./api";
import { counted } from "./format";

const EVERY = 5000; // milliseconds between two questions

interface Told {
  sources: number;
  opened: number;
}

/** Tells when other processes have added recordings to the lake that is served, and opens it again on
 * demand. */
export function News(): JSX.Element | null {
  const [sources, setSources] = useState(0);
  const [first, setFirst] = useState<number | null>(null);
  const [again, setAgain] = useState(false);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (framed || embedded) return undefined;
    const ask = () => {
      if (document.hidden) return;
      get<Told>("/api/news").then(
        (told) => {
          setSources(told.sources);
          setFirst((known) => known ?? told.opened);
          setAgain(first !== null && told.opened !== first);
        },
        () => undefined,
      ); // the views say when the server does not answer
    };
    ask();
    const timer = setInterval(ask, EVERY);
    document.addEventListener("visibilitychange", ask);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", ask);
    };
  }, [first]);
  if (!sources && !again) return null;
  const reload = () => {
    setBusy(true);
    const opened = sources ? post("/api/reload", {}) : Promise.resolve(null);
    void opened.finally(() => location.reload());
  };
  return (
    <p class="news" role="status">
      {sources
        ? `${counted(sources, "new recording is", "new recordings are")} in the lake.`
        : "Another window opened the recordings again."}{" "}
      <button type="button" disabled={busy} onClick={reload}>
        Reload
      </button>
    </p>
  );
}
