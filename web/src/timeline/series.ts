// Counters within the window.
import { signal } from "@preact/signals";
import type { Track } from "../types";
import type { Lay } from "./axis";
import { most, titleOfCounter } from "./counters";
import type { Series } from "./paint";
import type { Questions } from "./questions";
import type { Window } from "./scale";

const MOST_COUNTERS_PX = 2000;

interface Counters {
  series: {
    name: string;
    series: string;
    track: number | null;
    points: [number | string, number | null][];
  }[];
}

export class CounterSeries {
  readonly series = signal<Map<string, Series>>(new Map());
  private counted: Window | null = null;

  constructor(
    private readonly lay: Lay,
    private readonly catalog: readonly Track[],
    private readonly questions: Questions,
  ) {}

  /** Asks for the same window again when it is read next. */
  forget(): void {
    this.counted = null;
  }

  /** Asks for the points of a window that is so many pixels wide. */
  async read(window: Window, width: number): Promise<void> {
    if (this.counted === window) return; // the selection changed, not the window
    this.counted = window;
    const px = Math.min(MOST_COUNTERS_PX, Math.max(1, Math.round(width)));
    const shifts = this.lay.together ? new Set(this.lay.shifts) : new Set([0]);
    const answers = await Promise.all(
      [...shifts].map(async (shift) => {
        const span = this.lay.query(window, shift);
        const answer = await this.questions.ask<Counters>(`/api/counters?${span}&px=${px}`);
        return answer?.series.filter(({ track }) => this.lay.shiftOf(track) === shift) ?? null;
      }),
    );
    if (this.counted !== window || answers.includes(null)) return;
    this.series.value = new Map(answers.flatMap((some) => some ?? []).map((one) => this.placed(one)));
  }

  private placed({ name, series, track, points }: Counters["series"][number]): [string, Series] {
    const several = new Set(this.catalog.map((one) => one.host_id)).size > 1;
    const of = track === null ? undefined : this.catalog[track],
      placed = points.map(([ps, value]): [number, number | null] => [this.lay.at(ps, track), value]);
    const about = [several && of?.host_id, of?.process, most(placed, series)].filter(Boolean).join(", ");
    return [
      `${track}\u001f${name}\u001f${series}`,
      { title: titleOfCounter(name, series), about, points: placed },
    ];
  }
}
