// What the model of the server answers to the sliders of a pipeline.
import { useEffect, useState } from "preact/hooks";
import { post } from "../api";

const WAIT_MS = 120; // a slider is asked about when it rests so long

export interface Wanted {
  width: number;
  work: number;
}
export interface Outcome {
  now_ps: number;
  step_ps: number;
  /** The bounds of `step_ps`; null where they are too far apart to be useful. */
  low: number | null;
  high: number | null;
  limit: string;
  stages: { number: number; width: number; service_ps: number }[];
}

/** The answer of the server's model to what the sliders say; null while they say what is. */
export function useOutcome(
  number: number,
  wanted: Map<number, Wanted>,
  cores: number | null,
  prefetch: boolean,
): { outcome: Outcome | null; error: unknown } {
  const [state, setState] = useState<{ outcome: Outcome | null; error: unknown }>({
    outcome: null,
    error: null,
  });
  const changed = wanted.size > 0 || cores !== null || prefetch;
  useEffect(() => {
    if (!changed) {
      setState({ outcome: null, error: null });
      return;
    }
    let current = true;
    const stages = [...wanted].map(([stage, one]) => ({ number: stage, width: one.width, work: one.work }));
    const timer = setTimeout(() => {
      post("/api/pipeline/whatif", { pipeline: number, cores, prefetch, stages })
        .then(async (reply) => {
          const outcome = (await reply.json()) as Outcome;
          if (current) setState({ outcome, error: null });
        })
        .catch((error: unknown) => current && setState({ outcome: null, error }));
    }, WAIT_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [number, wanted, cores, prefetch]);
  return state;
}
