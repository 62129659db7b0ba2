// The slice or sampled stack that is selected, and where its arrows lead.
import { batch, signal } from "@preact/signals";
import type { Detail, Stack } from "./answers";
import type { Lay } from "./axis";
import type { Arrow } from "./paint";
import type { Questions } from "./questions";
import type { Window } from "./scale";

const MOST_ARROWS = 12;

interface End {
  from: boolean;
  ps: number;
  track: number;
  depth: number;
}

export class Selection {
  readonly id = signal<string | null>(null);
  readonly detail = signal<Detail | null>(null);
  readonly stack = signal<Stack | null>(null);
  readonly ends = signal<End[]>([]);

  /** replace: clears what is shown in the place of a selection. */
  constructor(
    private readonly lay: Lay,
    private readonly questions: Questions,
    private readonly replace: () => void,
  ) {}

  clear(): void {
    this.id.value = this.detail.value = this.stack.value = null;
    this.ends.value = [];
  }

  /** Selects a slice by its id. found: called with the slice, before its arrows are looked for. */
  async select(id: string | null, found: (detail: Detail) => void): Promise<void> {
    this.id.value = id;
    this.ends.value = [];
    if (id === null) {
      this.detail.value = this.stack.value = null;
      return;
    }
    const sampled = id.startsWith("-"); // a sampled stack: see _stack_bar.sql
    const stack = sampled ? await this.questions.ask<Stack>(`/api/stack/${-1n - BigInt(id)}`) : null;
    const detail = sampled ? null : await this.questions.ask<Detail>(`/api/slice/${id}`);
    if (!(stack ?? detail) || this.id.value !== id) return;
    batch(() => {
      this.detail.value = detail;
      this.stack.value = stack;
      this.replace();
    });
    if (!detail) return;
    found(detail);
    await this.connect(id, detail);
  }

  /** When a slice begins on the axis. */
  beginOf(detail: Detail): number {
    return this.lay.at(detail.slice.ts_ps, detail.track?.track ?? null);
  }

  /** The span of the selected slice on the axis. */
  span(): Window | null {
    const detail = this.detail.value;
    if (!detail?.slice) return null;
    const from = this.beginOf(detail);
    return { from, to: from + Number(detail.slice.dur_ps) };
  }

  /** Where the arrows of the selected slice lead. */
  private async connect(id: string, detail: Detail): Promise<void> {
    const ends = await Promise.all(
      detail.flows.slice(0, MOST_ARROWS).map(async (flow): Promise<End[]> => {
        const other = await this.questions.ask<Detail>(`/api/slice/${flow.other_id}`);
        if (!other?.track) return [];
        const from = flow.direction === "from",
          begin = this.beginOf(other),
          depth = Number(other.slice.depth ?? 0);
        const ps = from ? begin + Number(other.slice.dur_ps) : begin;
        return [{ from, ps, track: other.track.track, depth }];
      }),
    );
    if (this.id.value === id) this.ends.value = ends.flat();
  }

  /** The arrows. middle: the height of a slice of a track; null where it has no row. */
  arrows(middle: (track: number, depth: number) => number | null): Arrow[] {
    const detail = this.detail.value,
      span = this.span();
    if (!detail?.track || !span || !this.ends.value.length) return [];
    const mine = middle(detail.track.track, Number(detail.slice.depth ?? 0));
    return this.ends.value.flatMap((end) => {
      const other = middle(end.track, end.depth);
      if (mine === null || other === null) return [];
      return [
        end.from
          ? { fromPs: end.ps, fromY: other, toPs: span.from, toY: mine }
          : { fromPs: span.to, fromY: mine, toPs: end.ps, toY: other },
      ];
    });
  }
}
