// The programs that run while their recordings are served: asked again every second while somebody looks.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { get } from "./api";

const EVERY = 1000; // milliseconds between an answer and the next question

interface Part {
  label: string;
  share: number;
  place: string | null;
  about: string;
}
/** A moment of a program, as `stepscope top` shows it. Sentences are the server's. */
export interface Job {
  folder: string;
  began: boolean;
  running: boolean;
  /** Of its recording: none is there yet; it is open; or there is another than the one that is open. */
  recording: "none" | "open" | "new";
  sentence: string;
  now: string;
  pace: string;
  recent_ps: number[];
  parts: Part[];
  process: string;
  recent_rss_bytes: number[];
  recent_rss_ps: number;
  hangs: string[];
  kept: string[];
  lines: { place: string; share: number | null }[];
  slow: string[];
}
export interface Live {
  /** Whether nothing else can be shown until a program has recorded something. */
  waits: boolean;
  jobs: Job[];
}

/** What ran when the page was loaded: whether there is a view of it. */
export const atFirst = signal<Live>({ waits: false, jobs: [] });

/** Asks for the first time. Where that fails, the views say why. */
export async function askFirst(): Promise<void> {
  try {
    atFirst.value = await get<Live>("/api/live");
  } catch {
    return;
  }
}

/** What runs, again every second until all has ended. A hidden page asks nothing. */
export function useLive(): { live: Live; error: unknown } {
  const [state, setState] = useState<{ live: Live; error: unknown }>({ live: atFirst.value, error: null });
  useEffect(() => {
    const leave = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let asking = false;
    const ask = async () => {
      clearTimeout(timer);
      if (document.hidden || asking) return;
      asking = true;
      let over = false;
      try {
        const live = await get<Live>("/api/live", leave.signal);
        setState({ live, error: null });
        over = live.jobs.every((job) => !job.running);
      } catch (error) {
        if (!leave.signal.aborted) setState((before) => ({ ...before, error }));
      }
      asking = false;
      if (!leave.signal.aborted && !over) timer = setTimeout(() => void ask(), EVERY);
    };
    void ask();
    const shown = () => void ask();
    document.addEventListener("visibilitychange", shown);
    return () => {
      leave.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", shown);
    };
  }, []);
  return state;
}
