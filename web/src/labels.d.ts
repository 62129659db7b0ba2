declare module "*?raw" {
  const text: string;
  export default text;
}
/** What the time of a step goes to, from step_labels.json. */
declare const STEP_LABELS: readonly string[];
/** Labels whose colours other series have, in the order in which they are taken. */
declare const SERIES: readonly string[];
