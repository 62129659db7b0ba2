// Names in a recording may hold anything. Text that this page shows has its hidden characters as escapes, as
// on the terminal (stepscope/escapes.py).

import listed from "../../src/stepscope/hidden_characters.txt?raw";

const ranges = listed.replace(/^(\w+)-(\w+).*\n/gm, "\\u{$1}-\\u{$2}");
const HIDDEN = new RegExp(`[${ranges}]`, "gu");
const NAMED = new Map([
  ["\t", "\\t"],
  ["\n", "\\n"],
  ["\r", "\\r"],
]);

function escaped(character: string): string {
  const code = character.codePointAt(0)!;
  return (
    NAMED.get(character) ??
    (code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`)
  );
}

/** Text on one line without hidden characters, cut in the middle to `most` characters: names differ at both
 * ends. */
export function plain(text: string, most = 4000): string {
  const near = text.length > most * 2 + 16 ? `${text.slice(0, most)}…${text.slice(-most)}` : text;
  const whole = near.replace(HIDDEN, escaped);
  if (whole.length <= most) return whole;
  const characters = [...whole]; // not in the middle of one that is two units long
  if (characters.length <= most) return whole;
  const tail = Math.floor(((most - 1) * 2) / 5);
  return [...characters.slice(0, most - 1 - tail), "…", ...characters.slice(characters.length - tail)].join(
    "",
  );
}

/** Text of several lines: the line ends and tabs stay. */
export const block = (text: string): string =>
  text
    .split(/\r?\n/)
    .map((line) => plain(line, 20_000).replaceAll("\\t", "    "))
    .join("\n");
