// The address of a view: what is in the window, what is selected.
import type { Window } from "./scale";

export interface Place {
  window: Window | null;
  slice: string | null;
  range: Window | null;
  search: string;
  /** Whether all recordings begin together. */
  together: boolean;
}

const span = (text: string | null): Window | null => {
  const [from, to] = (text ?? "").split("~").map(Number);
  return from !== undefined && to !== undefined && Number.isFinite(from) && Number.isFinite(to) && from < to
    ? { from, to }
    : null;
};

/** Reads the part of an address after #timeline; what makes no sense is left out. `from` and `to` are
 * moments of the axis, as the server counts, and `sum` adds up what lies between them; everything else is ps after the first moment, the origin. */
export function read(hash: string, origin: bigint): Place {
  const query = new URLSearchParams(hash.slice(1).split("?")[1] ?? "");
  const slice = query.get("slice");
  const [from, to] = ["from", "to"]
    .map((key) => /^-?\d{1,19}$/.exec(query.get(key) ?? "")?.[0])
    .map((text) => text && Number(BigInt(text) - origin));
  const asked = span(`${from}~${to}`);
  return {
    window: span(query.get("window")) ?? asked,
    slice: slice !== null && /^-?\d{1,19}$/.test(slice) ? slice : null,
    range: span(query.get("range")) ?? (query.get("sum") === "1" ? asked : null),
    search: query.get("search") ?? "",
    together: query.get("aligned") === "1",
  };
}

export function write({ window, slice, range, search, together }: Place): string {
  const text = ({ from, to }: Window) => `${Math.round(from)}~${Math.round(to)}`;
  const query = [
    window && `window=${text(window)}`,
    slice !== null && `slice=${slice}`,
    range && `range=${text(range)}`,
    search && `search=${encodeURIComponent(search)}`,
    together && "aligned=1",
  ].filter(Boolean);
  return `#timeline${query.length ? `?${query.join("&")}` : ""}`;
}
