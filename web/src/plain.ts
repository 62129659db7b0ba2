// Names in a recording may hold anything. Text that this page shows has its hidden characters as escapes, as
// on the terminal (stepscope/escapes.py): control characters, marks that turn the direction, and what nobody
// can see.

const HIDDEN = new RegExp(
  "[\\x00-\\x1f\\x7f-\\x9f\\u00ad\\u180e\\u200b\\u2060-\\u2064\\ufeff\\u061c" +
    "\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u206f" +
    "\\u2028\\u2029\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]|\\p{Cs}",
  "gu",
);
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
