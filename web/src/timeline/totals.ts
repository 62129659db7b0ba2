// A range of time, and what its slices add up to.
import { batch, signal } from "@preact/signals";
import { getBytes } from "../api";
import type { Track } from "../types";
import type { Longest, Parts, Ranged } from "./answers";
import type { Lay } from "./axis";
import { decode } from "./frame";
import type { Questions } from "./questions";
import type { Window } from "./scale";

export class RangeTotals {
  readonly range = signal<Window | null>(null);
  readonly totals = signal<Ranged | null>(null);
  /** Of how many tracks they are. */
  readonly tracks = signal(0);
  /** Slices of the range, which are known before they are added up. */
  readonly slices = signal<number | null>(null);
  private asked: AbortController | null = null;

  constructor(
    private readonly lay: Lay,
    private readonly catalog: readonly Track[],
    private readonly questions: Questions,
  ) {}

  clear(): void {
    this.range.value = this.totals.value = null;
  }

  /** Adds up no further. */
  giveUp(): void {
    this.asked?.abort();
    this.range.value = null;
  }

  /** Adds up a range of tracks. */
  async choose(range: Window, tracks: readonly number[]): Promise<void> {
    batch(() => {
      this.totals.value = this.slices.value = null;
      this.range.value = range;
    });
    // Stacks have no slices to add up.
    const slices = tracks.filter((track) => this.catalog[track]!.kind !== "stacks");
    const some = slices.length ? slices : tracks;
    if (!some.length) return;
    // Recordings that begin together have no time in common: the first of them is added up.
    const shift = this.lay.shiftOf(some[0]!),
      every = some.filter((track) => this.lay.shiftOf(track) === shift);
    this.asked?.abort();
    this.asked = new AbortController();
    const abort = this.asked.signal,
      from = Math.round(range.from),
      to = Math.round(Math.max(range.to, range.from + 1)), // a picosecond at least
      span = this.lay.query({ from, to }, shift),
      of = `tracks=${every.join(",")}`;
    const later = this.questions.ask<Parts>(`/api/range/parts?${span}`, abort);
    const most = this.questions.ask<Longest>(`/api/range/longest?${span}`, abort);
    void this.count(range, `${span}&px=1&${of}`, abort);
    const totals = await this.questions.ask<Ranged>(`/api/range?${span}&${of}`, abort);
    if (!totals || this.range.value !== range) return;
    batch(() => {
      this.totals.value = totals;
      this.tracks.value = every.length;
    });
    const add = (more: Partial<Ranged>) => {
      if (this.range.value === range && this.totals.value)
        this.totals.value = { ...this.totals.value, ...more };
    };
    await Promise.all([
      later.then((parts) => add({ parts: parts ?? { steps: 0, step_parts: [] } })),
      most.then((longest) => longest && add({ longest })),
    ]);
  }

  private async count(range: Window, query: string, abort: AbortSignal): Promise<void> {
    const cells = await getBytes(`/api/timeline?${query}`, abort)
      .then(decode)
      .catch(() => null); // what is asked beside it tells what is wrong
    if (cells && this.range.value === range) this.slices.value = cells.events;
  }
}
