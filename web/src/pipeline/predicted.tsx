import type { JSX } from "preact";
import { duration } from "../format";
import { Problem } from "../loading";
import { plain } from "../plain";
import type { Pipeline } from "../stages";
import type { Outcome } from "./outcome";

const NOTHING = 0.005; // of a step: what changes less changes nothing

/** What the model says of the sliders, beside the step as it is. */
export function Predicted({
  pipeline,
  outcome,
  error,
  changed,
}: {
  pipeline: Pipeline;
  outcome: Outcome | null;
  error: unknown;
  changed: boolean;
}): JSX.Element {
  if (error !== null) return <Problem error={error} />;
  const most = Math.max(pipeline.step_ps ?? 1, outcome?.high ?? outcome?.step_ps ?? 0);
  const bounds =
    outcome && outcome.low !== null && outcome.high !== null ? [outcome.low, outcome.high] : null;
  const percent = (ps: number) => `${(100 * ps) / most}%`;
  return (
    <dl class="facts predicted" aria-live="polite">
      <div>
        <dt>A step now</dt>
        <dd>{pipeline.step_ps === null ? "unknown" : duration(pipeline.step_ps)}</dd>
      </div>
      {outcome ? (
        <>
          <div>
            <dt>Predicted</dt>
            <dd class="big">{duration(outcome.step_ps)}</dd>
          </div>
          <div>
            <dt>Between</dt>
            <dd>{bounds ? `${duration(bounds[0]!)} and ${duration(bounds[1]!)}` : "bounds too far apart"}</dd>
          </div>
          <div>
            <dt>{outcome.step_ps <= outcome.now_ps ? "Saves" : "Costs"}</dt>
            <dd>
              {Math.abs(outcome.now_ps - outcome.step_ps) < NOTHING * outcome.now_ps
                ? "nothing"
                : duration(Math.abs(outcome.now_ps - outcome.step_ps))}
            </dd>
          </div>
          <div>
            <dt>Then limited by</dt>
            <dd>{plain(outcome.limit, 120)}</dd>
          </div>
          <div class="grow">
            <svg class="need" height="22" role="img" aria-label="predicted step beside the step now">
              <rect class="need-bar" width={percent(outcome.now_ps)} y="1" height="8">
                <title>now</title>
              </rect>
              <rect class="worst" width={percent(outcome.step_ps)} y="12" height="8">
                <title>predicted</title>
              </rect>
              {bounds && (
                <line class="whisker" x1={percent(bounds[0]!)} x2={percent(bounds[1]!)} y1="16" y2="16" />
              )}
            </svg>
            <small class="quiet">
              above: now; below: predicted{bounds && ", with its bounds"}; from 0 to {duration(most)}
            </small>
          </div>
        </>
      ) : (
        <div>
          <dt>What if?</dt>
          <dd class="quiet">
            {changed ? "Asking …" : "Move a slider: the model of the recording predicts the step."}
          </dd>
        </div>
      )}
    </dl>
  );
}
