// Which rows there are, from top to bottom, and how high each is.
import { counted } from "../format";
import { groupsOf } from "../groups";
import { plain } from "../plain";
import type { Step, Track } from "../types";

/** What people changed about the rows; kept for each recording. */
export interface Arrangement {
  /** Tracks on top, by number. */
  pinned: number[];
  /** Tracks, and groups by their key, of which one lane or the title is shown. */
  closed: (number | string)[];
  /** Tracks moved before another: pairs of numbers, the latest last. */
  moved: [number, number][];
  filter: string;
}

export const UNARRANGED: Arrangement = { pinned: [], closed: [], moved: [], filter: "" };

export interface Lane {
  kind: "group" | "track" | "counter";
  /** Key of a group or a counter; number of a track. */
  key: number | string;
  title: string;
  /** The title as it stands beside the row. */
  short: string;
  about: string;
  y: number;
  height: number;
  closed: boolean;
  track: Track | null;
}

export const LANE = 16;
const GROUP = 22;
const COUNTER = 40;
const GAP = 4;

export const groupOf = (track: Track): string => [track.run_id, track.host_id, track.group].join("\u001f");

/** What a track is, in words; most are threads, and nobody has to be told. */
export function aboutTrack(track: Track): string {
  const what = [
    track.kind === "stacks" || track.kind === "thread" ? null : track.kind.replaceAll("_", " "),
    track.device && !track.group.includes(track.device) ? track.device : null,
  ]
    .filter(Boolean)
    .join(", ");
  const slices = counted(track.slices, track.kind === "stacks" ? "sample" : "slice");
  return what ? `${slices} · ${what}` : slices;
}

const titleOf = (track: Track): string => track.name || track.device || `track ${track.track}`;

/** A number that a system gave a thread, at the end of its name: nobody tells such apart. */
const ID = /[\s/_:#-]*-?\d{9,}$/;

/** What tracks are called beside their rows: without the numbers of the system, and counted where several
 * of a group are called alike then. */
export function shortTitles(tracks: Track[]): Map<number, string> {
  const short = (track: Track) => titleOf(track).replace(ID, "") || titleOf(track);
  const found = new Map<number, string>();
  for (const alike of groupsOf(tracks, (t) => `${groupOf(t)}\u001f${short(t)}`).values())
    alike.forEach((track, i) => {
      const cut = short(track) !== titleOf(track);
      found.set(track.track, cut && alike.length > 1 ? `${short(track)} ${i + 1}` : short(track));
    });
  return found;
}

/** A title in two pieces, of which the second stays where there is no room for both: threads of a pool differ
 * in the number at their end. */
export function pieces(title: string): [string, string] {
  const tail = /[\s/_:#.-]+\d{1,6}\)?$/.exec(title)?.[0] ?? "";
  return [title.slice(0, title.length - tail.length), tail];
}

const WHOLE = "whole capture"; // the only one, where nothing marks steps

/** A step by name and number; names that end in the number (ProfilerStep#5) say it once. */
export function titleOfStep(step: Pick<Step, "name" | "step">): string {
  const name = plain(step.name ?? "step", 80);
  if (name === WHOLE) return name;
  return new RegExp(`(^|\\D)${step.step}$`).test(name) ? name : `${name} ${step.step}`;
}

/** Runs and hosts are named where there are several. */
function titleOfGroup(track: Track, tracks: Track[]): string {
  const several = (key: "run_id" | "host_id") => tracks.some((other) => other[key] !== track[key]);
  const names = [several("run_id") && track.run_id, several("host_id") && track.host_id, track.group];
  // What the recording does not tell takes no room of what it does.
  return [...new Set(names.filter((one) => one && one !== "unknown"))].join(" / ") || track.group;
}

function ordered(tracks: Track[], moved: [number, number][]): Track[] {
  const list = [...tracks];
  for (const [who, before] of moved) {
    const from = list.findIndex((t) => t.track === who);
    const [one] = from < 0 ? [] : list.splice(from, 1);
    const to = list.findIndex((t) => t.track === before);
    if (one) list.splice(to < 0 ? from : to, 0, one);
  }
  return list;
}

/** Rows from top to bottom. counters: key and title of each. */
export function lanes(
  tracks: Track[],
  counters: { key: string; title: string; about?: string }[],
  arrangement: Arrangement,
): Lane[] {
  const { pinned, closed, filter } = arrangement;
  const text = filter.toLowerCase();
  const fits = (track: Track) =>
    !text ||
    `${titleOf(track)} ${track.group} ${track.host_id} ${track.run_id} ${track.kind}`
      .toLowerCase()
      .includes(text);
  const shown = ordered(
    tracks.filter((t) => t.slices > 0 && fits(t)),
    arrangement.moved,
  );
  const found: Lane[] = [];
  const named = shortTitles(tracks);
  let y = 0;
  const add = (lane: Omit<Lane, "y" | "short">) => {
    const short = lane.track ? named.get(lane.track.track)! : lane.title;
    found.push({ ...lane, short, y });
    y += lane.height;
  };
  const addTrack = (track: Track) => {
    const shut = closed.includes(track.track);
    const height = (shut ? 1 : Math.max(1, track.depths)) * LANE + GAP;
    add({
      kind: "track",
      key: track.track,
      title: titleOf(track),
      about: aboutTrack(track),
      height,
      closed: shut,
      track,
    });
  };
  const addGroup = (key: string, title: string, about: string): boolean => {
    const shut = closed.includes(key);
    add({ kind: "group", key, title, about, height: GROUP, closed: shut, track: null });
    return !shut;
  };
  const onTop = pinned.map((n) => shown.find((t) => t.track === n)).filter((t) => t !== undefined);
  if (onTop.length && addGroup("pinned", "Pinned", "")) onTop.forEach(addTrack);
  const others = shown.filter((t) => !pinned.includes(t.track));
  for (const [key, members] of groupsOf(others, groupOf))
    if (addGroup(key, titleOfGroup(members[0]!, tracks), counted(members.length, "track")))
      members.forEach(addTrack);
  const series = counters.filter((c) => !text || `${c.title} ${c.about ?? ""}`.toLowerCase().includes(text));
  if (series.length && addGroup("counters", "Counters", `${series.length}`)) {
    for (const { key, title, about = "" } of series)
      add({ kind: "counter", key, title, about, height: COUNTER, closed: false, track: null });
  }
  return found;
}

export const heightOf = (rows: Lane[]): number => {
  const last = rows[rows.length - 1];
  return last ? last.y + last.height : 0;
};

/** The rows that are at least partly within a stretch of the page. */
export function visible(rows: Lane[], top: number, height: number): Lane[] {
  let low = 0;
  for (let high = rows.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (rows[middle]!.y + rows[middle]!.height <= top) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < rows.length && rows[end]!.y < top + height) end++;
  return rows.slice(low, end);
}
