// Where recordings, tracks and steps lie on the axis of time: as they were recorded, or all from its begin.
import { groupsOf } from "../groups";
import type { Catalog } from "../types";
import { titleOfStep } from "./lanes";
import { covered, type Stretch, stretchesOf, type Window } from "./scale";
import type { Band } from "./steps";

const FULL = 0.2; // part of the axis that recordings cover, below which not all of it is shown at first
const ROOM = 0.02; // of the steps, on both sides of them in the first view

/** What was recorded in one go of one run. */
export interface Recording extends Stretch {
  run: string;
}

/** The recordings of a catalog. Ranks of one run that were recorded together are one. */
function recordingsOf(catalog: Catalog, offset: (ps: number | string) => number): Recording[] {
  const sources = catalog.sources.flatMap((one) =>
    one.first_ps === null || one.last_ps === null
      ? []
      : [
          {
            run: one.run_id,
            from: offset(one.first_ps),
            to: offset(one.last_ps),
            title: [...new Set([one.run_id, one.host_id])].join(" / "),
          },
        ],
  );
  return [...groupsOf(sources, (one) => one.run)]
    .flatMap(([run, own]) => stretchesOf(own).map((one) => ({ ...one, run })))
    .sort((a, b) => a.from - b.from);
}

export class Lay {
  /** The first moment of all, as the server counts. */
  readonly origin: bigint;
  readonly recordings: Recording[];
  /** The same, those that overlap as one. */
  readonly stretches: Stretch[];
  readonly bands: Band[];
  /** Whether not all of them are shown at first. */
  readonly apart: boolean;
  /** What is taken off the times of each recording where all begin together: their first steps then lie at
   * one place, behind the longest that comes before them. */
  readonly shifts: number[];
  private readonly placed: Band[];
  private readonly full: number;
  private readonly recordingOf: (number | null)[];
  together = false;

  constructor(readonly catalog: Catalog) {
    this.origin = BigInt(catalog.start_ps);
    this.full = Math.max(Number(BigInt(catalog.end_ps) - this.origin), 1);
    this.recordings = recordingsOf(catalog, (ps) => this.offset(ps));
    this.stretches = stretchesOf(this.recordings);
    const sources = new Map(catalog.sources.map((one) => [one.source_id, one]));
    this.recordingOf = catalog.tracks.map((track) => {
      const source = sources.get(track.source_id);
      if (!source || source.first_ps === null) return null;
      return this.recordingAt(source.run_id, this.offset(source.first_ps));
    });
    this.bands = catalog.steps
      .map((step) => {
        const from = this.offset(step.ts_ps),
          to = from + Number(step.dur_ps);
        return {
          from,
          to,
          step: step.step,
          title: titleOfStep(step),
          short: String(step.step),
          averaged: step.averaged,
          recording: this.recordingAt(step.run_id, (from + to) / 2),
        };
      })
      .sort((a, b) => a.from - b.from);
    this.apart = this.isApart();
    const leads = this.recordings.map((one, i) => {
      const first = this.bands.find((band) => band.recording === i);
      return first ? first.from - one.from : 0;
    });
    const longest = leads.reduce((most, one) => Math.max(most, one), 0);
    this.shifts = this.recordings.map((one, i) => (leads[i] ? one.from + leads[i] - longest : one.from));
    this.placed = this.bands
      .map((band) => {
        const by = this.shifts[band.recording ?? -1] ?? 0;
        return { ...band, from: band.from - by, to: band.to - by };
      })
      .sort((a, b) => a.from - b.from);
  }

  private recordingAt(run: string, ps: number): number | null {
    const at = this.recordings.findIndex((one) => one.run === run && one.from <= ps && ps <= one.to);
    return at < 0 ? null : at;
  }

  /** Picoseconds after the first moment. */
  offset(ps: number | string): number {
    return Number(BigInt(ps) - this.origin);
  }

  /** What is taken off the times of a track. */
  shiftOf = (track: number | null): number => {
    const recording = this.together && track !== null ? this.recording(track) : null;
    return recording === null ? 0 : this.shifts[recording]!;
  };

  /** A moment of a track on the axis. */
  at(ps: number | string, track: number | null): number {
    return this.offset(ps) - this.shiftOf(track);
  }

  /** A window of tracks with such a shift, as the server is asked for it. */
  query({ from, to }: Window, shift: number): string {
    const at = (ps: number) => (this.origin + BigInt(Math.trunc(ps + shift))).toString();
    return `from=${at(from)}&to=${at(to)}`;
  }

  length = (): number =>
    this.together
      ? this.recordings.reduce((most, one, i) => Math.max(most, one.to - this.shifts[i]!), 1)
      : this.full;

  /** The recording of a track; null where it is not known. */
  recording(track: number): number | null {
    return this.recordingOf[track] ?? null;
  }

  steps(): Band[] {
    return this.together ? this.placed : this.bands;
  }

  /** Whether recordings lie so far from each other that their steps would be slivers on one axis. */
  private isApart(): boolean {
    const steps = groupsOf(this.bands, (band) => band.recording);
    const seen = this.recordings.map((one, i) => ({ ...one, ...extentOf(steps.get(i) ?? [one]) }));
    const all = extentOf(seen);
    return this.stretches.length > 1 && covered(stretchesOf(seen), all.to - all.from) < FULL;
  }

  /** What is seen first: the steps, with a little room at both ends; without steps all. Recordings of
   * different days are slivers on one axis: the others are a choice away. */
  first(): Window {
    const apart = !this.together && this.apart;
    const within = apart
      ? (this.stretches.find((one) => this.bands.some((band) => inside(band, one))) ?? this.stretches[0]!)
      : { from: -Infinity, to: Infinity };
    const bands = this.steps().filter((band) => inside(band, within));
    if (!bands.length) return apart ? within : { from: 0, to: this.length() };
    const { from, to } = extentOf(bands);
    const room = ROOM * (to - from);
    return { from: from - room, to: to + room };
  }
}

/** From the first begin to the last end. */
const extentOf = (windows: Window[]): Window => ({
  from: windows.reduce((least, one) => Math.min(least, one.from), Infinity),
  to: windows.reduce((most, one) => Math.max(most, one.to), -Infinity),
});

const inside = (band: Band, window: Window): boolean =>
  (band.from + band.to) / 2 >= window.from && (band.from + band.to) / 2 <= window.to;
