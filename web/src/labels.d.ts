/** What the time of a step goes to, from step_labels.json. */
declare const STEP_LABELS: readonly string[];
