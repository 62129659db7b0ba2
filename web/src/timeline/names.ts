// Names of slices as they are painted.
import { plain } from "../plain";

export interface Names {
  names: string[];
  classes: number[];
  op_types: (string | null)[];
}

const HALF = /[\ud800-\udbff]$/; // of a character that is two units long
const LONGEST = 400; // characters of a label: no screen has room for more
const written = new WeakMap<Names, Map<number, string>>();

/** The name of a slice as it is painted: hidden characters are escapes. Worked out once, for it is painted
 * each frame. */
export function labelOf(names: Names, name: number): string {
  let known = written.get(names);
  if (!known) {
    known = new Map();
    written.set(names, known);
  }
  let text = known.get(name);
  if (text === undefined) {
    text = plain((names.names[name] ?? "").slice(0, LONGEST), LONGEST);
    known.set(name, text);
  }
  return text;
}

/** As much of a text as fits; "" when that would be less than three characters. */
export function fitted(
  context: { measureText(text: string): { width: number } },
  text: string,
  room: number,
): string {
  // Most names are longer than their slices: measure a guess first.
  const guess = Math.floor(room / 5);
  if (guess < 3) return "";
  let cut = text.length > guess ? text.slice(0, guess) : text;
  let wide = context.measureText(cut).width;
  while (wide > room && cut.length > 2) {
    cut = cut.slice(0, Math.max(2, Math.floor((cut.length * room) / wide)));
    wide = context.measureText(cut).width;
  }
  return cut.length === text.length ? text : cut.length > 3 ? `${cut.slice(0, -1).replace(HALF, "")}…` : "";
}
