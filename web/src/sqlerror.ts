// Where in a statement an error lies, as far as the engine's words tell.

export interface Span {
  from: number;
  to: number;
}

const escaped = (word: string): string => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The place of the word that an error names, in the line that it names; that line where it names no word,
 * null where it tells neither. */
export function placeIn(sql: string, seen: string): Span | null {
  const number = Number(/\bLINE (\d+):/.exec(seen)?.[1] ?? 0);
  const lines = sql.split("\n");
  const text = number ? lines[number - 1] : sql;
  if (text === undefined) return null;
  const begin = lines.slice(0, Math.max(number - 1, 0)).reduce((sum, line) => sum + line.length + 1, 0);
  const words = [...seen.matchAll(/"([^"]+)"|\b(?:name|Function) (\w+)/g)].map((one) => one[1] ?? one[2]!);
  for (const word of words) {
    const at = new RegExp(`(?<!\\w)${escaped(word)}(?!\\w)`, "i").exec(text);
    if (at) return { from: begin + at.index, to: begin + at.index + word.length };
  }
  return number && text ? { from: begin, to: begin + text.length } : null;
}
