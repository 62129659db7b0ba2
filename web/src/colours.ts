// Which colour something has: that of its class where it has one, else one of six in order.

const CLASSES = new Set([...STEP_LABELS, "other"]);

/** The class that a column is about: compute_ps, idle_share; null for others. */
function classOf(name: string): string | null {
  const word = name.replace(/_(ps|share|ratio|bytes)$/, "");
  return CLASSES.has(word) ? word : null;
}

/** The CSS class of a series, by its name and its place among the others. */
export function colourOf(name: string, number: number): string {
  const known = classOf(name);
  return known ? `class-${known}` : `series-${number % SERIES.length}`;
}

/** Hue of a kind without an order, far apart for texts that are alike: degrees for oklch(). */
export function hueOf(text: string): string {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) | 0;
  return (((hash >>> 0) * 137.508) % 360).toFixed(0);
}

/** The CSS class of a row: that of its value in the column class. */
export function ofRow(value: unknown): string {
  return typeof value === "string" && CLASSES.has(value) ? `class-${value}` : "class-other";
}
