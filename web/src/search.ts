// What the palette finds besides commands: ops, tables, findings, recordings. Asked of the server when first
// searched for.
import { go } from "./address";
import { once } from "./api";
import type { Command } from "./commands";
import type { OpRow } from "./opgroups";
import { plain } from "./plain";
import { sqlLink } from "./prose";
import type { Catalog, Report } from "./types";

/** A command with all that it can be found by. */
export interface Item extends Command {
  kind: string;
  words: string;
}
interface Tables {
  tables: { name: string; comment: string | null }[];
}

const MOST_EACH = 8; // of one kind that are listed

const item = (kind: string, title: string, to: string, words = ""): Item => ({
  kind,
  title: plain(title, 120),
  key: "",
  words: `${title} ${words}`.toLowerCase(),
  run: () => go(to),
});

const KINDS: (() => Promise<Item[]>)[] = [
  async () =>
    (await once<Report>("/api/report/first")).findings.map((one) =>
      item("finding", one.title, `#overview?finding=${one.slug}`, `${one.slug} ${one.impact} ${one.action}`),
    ),
  async () => {
    const { sources, start_ps: start } = await once<Catalog>("/api/catalog");
    return sources.map((one) => {
      const known = one.first_ps !== null && one.last_ps !== null;
      const to = known ? `#timeline?from=${one.first_ps}&to=${one.last_ps}` : `#timeline?from=${start}`;
      return item("recording", one.name, known ? to : "#overview", `${one.run_id} ${one.host_id}`);
    });
  },
  async () =>
    (await once<Tables>("/api/schema")).tables.map((one) =>
      item("table", one.name, sqlLink(`SELECT *\nFROM ${one.name}\nLIMIT 100`), one.comment ?? ""),
    ),
  async () => {
    const { rows } = await once<{ rows: OpRow[] }>("/api/ops");
    const names = new Map<string, number>();
    for (const row of rows)
      for (const name of new Set([row.op_type, row.op]))
        if (name) names.set(name, (names.get(name) ?? 0) + row.self_ps);
    return [...names]
      .sort((a, b) => b[1] - a[1])
      .map(([name]) => item("op", name, `#timeline?search=${encodeURIComponent(name)}`));
  },
];

/** Everything that can be found, kind by kind as answers come. A kind that cannot be had is left out: its
 * view says why. */
export function found(come: (items: Item[]) => void): () => void {
  let current = true;
  for (const kind of KINDS)
    kind().then(
      (items) => current && come(items),
      () => undefined,
    );
  return () => {
    current = false;
  };
}

/** Those that have all words of a text, of each kind the first. */
export function fitting(items: readonly Item[], text: string): Item[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const counts = new Map<string, number>();
  return items.filter((one) => {
    if (!words.every((word) => one.words.includes(word))) return false;
    const count = (counts.get(one.kind) ?? 0) + 1;
    counts.set(one.kind, count);
    return count <= MOST_EACH;
  });
}
