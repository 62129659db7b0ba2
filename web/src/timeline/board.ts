// The state of the timeline and everything that changes it; the view shows it, the canvas is drawn from it. Over 400
// lines because each change may touch any part of that state.
import { batch, computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { here, note, place } from "../address";
import { get, getBytes } from "../api";
import { keep, recall } from "../theme";
import type { Catalog, Track } from "../types";
import { Lay } from "./axis";
import { most, titleOfCounter } from "./counters";
import { decode } from "./frame";
import { cellAt, type Hit } from "./hit";
import {
  type Arrangement,
  heightOf,
  LANE,
  type Lane,
  lanes,
  shortTitles,
  UNARRANGED,
  visible,
} from "./lanes";
import { read, write } from "./link";
import { type Arrow, type Colouring, type Ink, type Names, paint, RULER, type Series } from "./paint";
import type { Detail, Found, Longest, Parts, Ranged, Stack } from "./panel";
import { moved, psAt, showing, spanOf, type Window, within, zoomed } from "./scale";
import { Store } from "./store";

const MOST_FOUND = 500;
const MOST_ARROWS = 12;
const MOST_COUNTERS_PX = 2000;

interface Kept {
  arrangement: Arrangement;
  marks: Window[];
  colouring: Colouring;
}
interface Counters {
  series: {
    name: string;
    series: string;
    track: number | null;
    points: [number | string, number | null][];
  }[];
}

export class Board {
  readonly lay: Lay;
  /** Whether all recordings begin together. */
  readonly together = signal(false);
  /** Where the mouse is over the tracks, in pixels from their left; null elsewhere. */
  pointer: number | null = null;
  readonly window = signal<Window>({ from: 0, to: 1 });
  readonly size = signal({ width: 800, height: 400 });
  readonly top = signal(0);
  readonly arrangement = signal<Arrangement>(UNARRANGED);
  readonly colouring = signal<Colouring>("class");
  readonly marks = signal<Window[]>([]);
  readonly selected = signal<string | null>(null);
  readonly detail = signal<Detail | null>(null);
  readonly stack = signal<Stack | null>(null);
  readonly range = signal<Window | null>(null);
  readonly ranged = signal<Ranged | null>(null);
  readonly text = signal("");
  readonly found = signal<Found | null>(null);
  readonly foundAt = signal(-1);
  readonly hover = signal<{ hit: Hit; x: number; y: number } | null>(null);
  readonly error = signal<unknown>(null);
  readonly series = signal<Map<string, Series>>(new Map());
  private readonly arrows = signal<{ id: string; from: boolean; ps: number; track: number; depth: number }[]>(
    [],
  );
  private readonly arrived = signal(0);
  /** Counts what the overview has to be drawn again for. */
  readonly drawn = signal(0);
  readonly rows: ReadonlySignal<Lane[]>;
  readonly shown: ReadonlySignal<Lane[]>;
  readonly foundNames: ReadonlySignal<ReadonlySet<number> | null>;
  readonly store: Store;
  private readonly key: string;
  private noted = "";
  private frame = 0;
  private later = 0;
  private counted: Window | null = null;
  private asked: AbortController | null = null;
  private stop: (() => void)[] = [];

  constructor(
    readonly catalog: Catalog,
    readonly names: Names,
  ) {
    this.lay = new Lay(catalog);
    this.store = new Store(this.lay, () => {
      this.arrived.value++;
      this.error.value = this.store.error;
    });
    this.titles = shortTitles(catalog.tracks);
    this.rows = computed(() =>
      lanes(
        catalog.tracks,
        [...this.series.value].map(([key, { title, about }]) => ({ key, title, about })),
        this.arrangement.value,
      ),
    );
    this.shown = computed(() => visible(this.rows.value, this.top.value, this.size.value.height - RULER));
    this.foundNames = computed(() => {
      const text = this.found.value ? this.text.value.toLowerCase() : "";
      return text
        ? new Set(names.names.flatMap((name, i) => (name.toLowerCase().includes(text) ? [i] : [])))
        : null;
    });
    this.key = `stepscope.timeline.${catalog.title}`;
    this.remember();
    this.follow(place.peek());
  }

  /** Shows a stretch of time with a little room at both ends. */
  show({ from, to }: Window): void {
    const room = 0.02 * (to - from);
    this.window.value = within({ from: from - room, to: to + room }, this.whole);
  }

  /** What a track is called beside its row. */
  nameOf(track: Track | null): string {
    return track ? (this.titles.get(track.track) ?? "") : "";
  }
  private readonly titles: Map<number, string>;

  /** How long the axis is. */
  get whole(): number {
    return this.lay.length();
  }

  /** Lets the first steps of all recordings lie at one place, or puts these where they were recorded. */
  align(together: boolean): void {
    this.clear();
    batch(() => {
      this.lay.together = this.together.value = together;
      this.store.clear();
      this.counted = null;
      this.recorded();
    });
  }

  /** Draws whenever something has changed, at most once a frame, and asks for what is missing. */
  begin(canvas: HTMLCanvasElement, ink: () => Ink): () => void {
    const context = canvas.getContext("2d")!;
    const draw = () => {
      this.frame = 0;
      const { width, height } = this.size.value,
        ratio = devicePixelRatio || 1;
      if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
      }
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      paint(
        context,
        {
          width,
          height,
          top: this.top.value,
          window: this.window.value,
          rows: this.shown.value,
          pieces: this.store.kept,
          series: this.series.value,
          bands: this.lay.steps(),
          bandsOf: this.together.value ? (track) => this.lay.recording(track) : null,
          names: this.names,
          colouring: this.colouring.value,
          selected: this.selected.value === null ? null : BigInt(this.selected.value),
          found: this.foundNames.value,
          range: this.range.value,
          marks: this.marks.value,
          arrows: this.drawnArrows(),
        },
        ink(),
      );
    };
    const parts = [
      this.window,
      this.size,
      this.top,
      this.shown,
      this.colouring,
      this.marks,
      this.selected,
      this.range,
      this.foundNames,
      this.arrived,
      this.series,
      this.arrows,
    ];
    this.stop = [
      effect(() => {
        for (const part of parts) part.value; // asked, so that it is drawn again when one changes
        if (!this.frame) this.frame = requestAnimationFrame(draw);
      }),
      effect(() => {
        const tracks = this.shown.value.flatMap((row) => (row.track ? [row.track.track] : []));
        this.arrived.value;
        this.store.want(this.window.value, tracks, this.size.value.width);
      }),
      effect(() => {
        this.window.value;
        this.selected.value;
        this.range.value;
        this.text.value;
        this.together.value;
        this.settle();
      }),
      effect(() => {
        this.window.value;
        this.top.value;
        this.selected.value;
        this.hover.value = null; // what it told of has moved away from under the mouse
      }),
      effect(() =>
        keep(
          this.key,
          JSON.stringify({
            arrangement: this.arrangement.value,
            marks: this.marks.value,
            colouring: this.colouring.value,
          } satisfies Kept),
        ),
      ),
    ];
    let came = place.peek(); // followed when the board was made
    const unfollow = place.subscribe((to) => {
      if (to !== came && to !== this.noted) this.follow(to);
      came = to;
    });
    void this.readCounters();
    return () => {
      unfollow();
      cancelAnimationFrame(this.frame);
      clearTimeout(this.later);
      this.frame = 0;
      for (const end of this.stop) end();
    };
  }

  redraw(): void {
    this.arrived.value++;
    this.drawn.value++;
  }

  /** What waits until the window rests: the address, and the counters of the new window. */
  private settle(): void {
    clearTimeout(this.later);
    this.later = window.setTimeout(() => {
      const found = write({
        window: this.window.value,
        slice: this.selected.value,
        range: this.range.value,
        search: this.text.value,
        together: this.together.value,
      });
      if (here().startsWith("#timeline")) {
        this.noted = found;
        note(found);
      }
      void this.readCounters();
    }, 250);
  }

  private remember(): void {
    let kept: Partial<Kept>;
    try {
      kept = JSON.parse(recall(this.key) ?? "{}") as Partial<Kept>;
    } catch {
      return;
    } // what was kept is not ours any more
    this.arrangement.value = { ...UNARRANGED, ...kept.arrangement };
    this.marks.value = Array.isArray(kept.marks) ? kept.marks.filter((mark) => mark.from < mark.to) : [];
    this.colouring.value = kept.colouring ?? "class";
  }

  private follow(hash: string): void {
    const asked = read(hash, this.lay.origin);
    batch(() => {
      const together = asked.together || (asked.window === null && this.lay.apart);
      if (together !== this.together.value && this.lay.recordings.length > 1) this.align(together);
      if (asked.window) this.window.value = within(asked.window, this.whole);
      else this.recorded();
      if (asked.slice !== this.selected.value)
        void this.select(asked.slice, asked.slice !== null && asked.window === null);
      if (asked.range) void this.choose(asked.range);
      if (asked.search && asked.search !== this.text.value) void this.search(asked.search);
    });
  }

  zoom(around: number, factor: number): void {
    this.window.value = zoomed(this.window.value, around, factor, this.whole);
  }
  /** Zooms around the mouse where that is over the tracks, else around the middle. */
  zoomHere(factor: number): void {
    this.zoom(this.at(this.pointer ?? this.size.value.width / 2), factor);
  }
  pan(part: number): void {
    this.window.value = moved(this.window.value, part, this.whole);
  }
  home(): void {
    this.show({ from: 0, to: this.whole });
  }
  /** The steps. */
  recorded(): void {
    this.window.value = within(this.lay.first(), this.whole);
  }
  at(x: number): number {
    return psAt(this.window.value, this.size.value.width, x);
  }
  hitAt(x: number, y: number): Hit | null {
    return cellAt(
      this.shown.value,
      this.store.kept,
      this.window.value,
      this.size.value.width,
      this.top.value,
      x,
      y,
    );
  }

  /** Shows the selected slice, or else the range, in full. */
  zoomToSelection(): void {
    const slice = this.detail.value?.slice,
      range = this.range.value;
    if (slice) {
      const from = this.beginOf(this.detail.value!);
      this.window.value = showing(from, from + Number(slice.dur_ps), this.whole);
    } else if (range) this.window.value = showing(range.from, range.to, this.whole);
  }

  /** When a slice begins on the axis. */
  beginOf(detail: Detail): number {
    return this.lay.at(detail.slice.ts_ps, detail.track?.track ?? null);
  }

  /** Keeps the range, or the span of the selected slice, as a mark. */
  mark(): void {
    const slice = this.detail.value?.slice,
      range = this.range.value;
    const from = slice ? this.beginOf(this.detail.value!) : 0;
    const span = range ?? (slice ? { from, to: from + Number(slice.dur_ps) } : null);
    if (span && span.to > span.from) this.marks.value = [...this.marks.value, span];
  }

  clear(): void {
    batch(() => {
      this.selected.value =
        this.detail.value =
        this.stack.value =
        this.range.value =
        this.ranged.value =
          null;
      this.arrows.value = [];
      this.error.value = null;
    });
  }

  /** What is under a click: a slice is shown in full; a cell of several is opened. */
  async pick(hit: Hit | null): Promise<void> {
    if (!hit) return this.clear();
    const { piece, cell } = hit,
      { cells } = piece;
    if (cells.count[cell]! > 1) {
      const from = piece.from + cells.start[cell]!;
      this.window.value = showing(from, from + cells.width[cell]!, this.whole);
    } else await this.select(cells.id[cell]!.toString(), false);
  }

  /** Selects a slice by its id. reveal: moves the window and the rows to it. */
  async select(id: string | null, reveal: boolean): Promise<void> {
    this.selected.value = id;
    this.arrows.value = [];
    if (id === null) {
      this.detail.value = this.stack.value = null;
      return;
    }
    if (id.startsWith("-")) {
      // a sampled stack: see _stack_bar.sql
      const stack = await this.ask<Stack>(`/api/stack/${-1n - BigInt(id)}`);
      if (stack && this.selected.value === id)
        batch(() => {
          this.stack.value = stack;
          this.detail.value = this.range.value = this.ranged.value = null;
        });
      return;
    }
    const detail = await this.ask<Detail>(`/api/slice/${id}`);
    if (!detail || this.selected.value !== id) return;
    batch(() => {
      this.detail.value = detail;
      this.stack.value = this.range.value = this.ranged.value = null;
    });
    if (reveal) this.reveal(this.beginOf(detail), Number(detail.slice.dur_ps), detail.track?.track ?? null);
    await this.connect(id, detail);
  }

  private reveal(from: number, long: number, track: number | null): void {
    const window = this.window.value;
    if (from < window.from || from + long > window.to || long < spanOf(window) / 200)
      this.window.value = showing(from, from + long, this.whole);
    const row = this.rows.value.find((r) => r.track !== null && r.track.track === track);
    const { height } = this.size.value;
    if (row && (row.y < this.top.value || row.y + LANE > this.top.value + height - RULER))
      this.top.value = Math.max(0, Math.min(row.y - 60, heightOf(this.rows.value) - height + RULER));
  }

  /** Moves the rows so that the selected slice is among those that there is room for. */
  keepInView(): void {
    const detail = this.detail.value;
    const row = this.rows.value.find((r) => r.track !== null && r.track.track === detail?.track?.track);
    if (!detail || !row) return;
    const lane = row.y + (row.closed ? 0 : Number(detail.slice.depth ?? 0)) * LANE;
    const room = this.size.value.height - RULER;
    if (lane < this.top.value) this.top.value = lane;
    else if (lane + 2 * LANE > this.top.value + room) this.top.value = lane + 2 * LANE - room;
  }

  /** Where the arrows of the selected slice lead. */
  private async connect(id: string, detail: Detail): Promise<void> {
    const ends = await Promise.all(
      detail.flows.slice(0, MOST_ARROWS).map(async (flow) => {
        const other = await this.ask<Detail>(`/api/slice/${flow.other_id}`);
        if (!other?.track) return [];
        const from = flow.direction === "from",
          begin = this.beginOf(other);
        return [
          {
            id,
            from,
            ps: from ? begin + Number(other.slice.dur_ps) : begin,
            track: other.track.track,
            depth: Number(other.slice.depth ?? 0),
          },
        ];
      }),
    );
    if (this.selected.value === id) this.arrows.value = ends.flat();
  }

  private drawnArrows(): Arrow[] {
    const detail = this.detail.value;
    if (!detail?.track || !this.arrows.value.length) return [];
    const y = (track: number, depth: number) => {
      const row = this.rows.value.find((r) => r.track?.track === track);
      return row ? RULER + row.y - this.top.value + (row.closed ? 0 : depth) * LANE + LANE / 2 : null;
    };
    const mine = y(detail.track.track, Number(detail.slice.depth ?? 0)),
      begin = this.beginOf(detail),
      end = begin + Number(detail.slice.dur_ps);
    return this.arrows.value.flatMap((arrow) => {
      const other = y(arrow.track, arrow.depth);
      if (mine === null || other === null) return [];
      return [
        arrow.from
          ? { fromPs: arrow.ps, fromY: other, toPs: begin, toY: mine }
          : { fromPs: end, fromY: mine, toPs: arrow.ps, toY: other },
      ];
    });
  }

  /** Totals of a range, of the tracks on the screen or between two heights of it. */
  async choose(
    range: Window,
    tracks = this.shown.value.flatMap((row) => (row.track ? [row.track.track] : [])),
  ): Promise<void> {
    batch(() => {
      this.selected.value =
        this.detail.value =
        this.stack.value =
        this.ranged.value =
        this.rangedSlices.value =
          null;
      this.arrows.value = [];
      this.range.value = range;
    });
    const all = tracks.length
      ? tracks
      : this.rows.value.flatMap((row) => (row.track ? [row.track.track] : []));
    // Stacks have no slices to add up.
    const slices = all.filter((track) => this.catalog.tracks[track]!.kind !== "stacks");
    const some = slices.length ? slices : all;
    if (!some.length) return;
    // Recordings that begin together have no time in common: the first of them is added up.
    const shift = this.lay.shiftOf(some[0]!),
      every = some.filter((track) => this.lay.shiftOf(track) === shift);
    this.asked?.abort();
    this.asked = new AbortController();
    const at = (ps: number) => (this.lay.origin + BigInt(Math.round(ps + shift))).toString();
    const abort = this.asked.signal,
      span = `from=${at(range.from)}&to=${at(Math.max(range.to, range.from + 1))}`;
    const later = this.ask<Parts>(`/api/range/parts?${span}`, abort);
    const most = this.ask<Longest>(`/api/range/longest?${span}`, abort);
    void this.countRange(range, `${span}&px=1&tracks=${every.join(",")}`, abort);
    const ranged = await this.ask<Ranged>(`/api/range?${span}&tracks=${every.join(",")}`, abort);
    if (!ranged || this.range.value !== range) return;
    batch(() => {
      this.ranged.value = ranged;
      this.rangedTracks.value = every.length;
    });
    const add = (more: Partial<Ranged>) => {
      if (this.range.value === range && this.ranged.value)
        this.ranged.value = { ...this.ranged.value, ...more };
    };
    await Promise.all([
      later.then((parts) => add({ parts: parts ?? { steps: 0, step_parts: [] } })),
      most.then((longest) => longest && add({ longest })),
    ]);
  }
  readonly rangedTracks = signal(0);
  /** Slices of the range, which are known before they are added up. */
  readonly rangedSlices = signal<number | null>(null);

  private async countRange(range: Window, query: string, abort: AbortSignal): Promise<void> {
    const cells = await getBytes(`/api/timeline?${query}`, abort)
      .then(decode)
      .catch(() => null); // what is asked beside it tells what is wrong
    if (cells && this.range.value === range) this.rangedSlices.value = cells.events;
  }

  /** Adds up no further. */
  giveUp(): void {
    this.asked?.abort();
    this.range.value = null;
  }

  /** Looks for a text in the names of all slices, on and off the screen. */
  async search(text: string): Promise<void> {
    batch(() => {
      this.text.value = text;
      this.foundAt.value = -1;
    });
    if (!text) {
      this.found.value = null;
      return;
    }
    const found = await this.ask<Found>(`/api/search?q=${encodeURIComponent(text)}&limit=${MOST_FOUND}`);
    if (found && this.text.value === text) this.found.value = found;
  }

  /** Goes to the next or the previous slice that was found. */
  async turn(by: number): Promise<void> {
    const slices = this.found.value?.slices ?? [];
    if (!slices.length) return;
    this.foundAt.value =
      (this.foundAt.value + by + slices.length + (this.foundAt.value < 0 && by < 0 ? 1 : 0)) % slices.length;
    await this.select(slices[this.foundAt.value]!.id, true);
  }

  arrange(change: Partial<Arrangement>): void {
    this.arrangement.value = { ...this.arrangement.value, ...change };
  }
  toggle(list: "pinned" | "closed", key: number | string): void {
    const held = this.arrangement.value[list] as (number | string)[];
    this.arrange({ [list]: held.includes(key) ? held.filter((one) => one !== key) : [...held, key] });
  }
  /** Puts a track before its neighbour above. */
  raise(track: number): void {
    const tracks = this.rows.value.flatMap((row) => (row.track ? [row.track.track] : [])),
      above = tracks[tracks.indexOf(track) - 1];
    if (above !== undefined)
      this.arrange({ moved: [...this.arrangement.value.moved.slice(-200), [track, above]] });
  }
  closeAll(shut: boolean): void {
    this.arrange({ closed: shut ? this.catalog.tracks.map((track) => track.track) : [] });
  }

  private async readCounters(): Promise<void> {
    if (this.counted === this.window.value) return; // the selection changed, not the window
    this.counted = this.window.value;
    const window = this.counted;
    const px = Math.min(MOST_COUNTERS_PX, Math.max(1, Math.round(this.size.value.width)));
    const shifts = this.together.value ? new Set(this.lay.shifts) : new Set([0]);
    const answers = await Promise.all(
      [...shifts].map(async (shift) => {
        const at = (ps: number) => (this.lay.origin + BigInt(Math.trunc(ps + shift))).toString();
        const span = `from=${at(window.from)}&to=${at(window.to)}`;
        const told = await this.ask<Counters>(`/api/counters?${span}&px=${px}`);
        return told?.series.filter(({ track }) => this.lay.shiftOf(track) === shift) ?? null;
      }),
    );
    if (this.counted !== window || answers.includes(null)) return;
    const several = new Set(this.catalog.tracks.map((one) => one.host_id)).size > 1;
    this.series.value = new Map(
      answers
        .flatMap((some) => some ?? [])
        .map(({ name, series, track, points }) => {
          const of = track === null ? undefined : this.catalog.tracks[track],
            placed = points.map(([ps, value]): [number, number | null] => [this.lay.at(ps, track), value]);
          const about = [several && of?.host_id, of?.process, most(placed, series)]
            .filter(Boolean)
            .join(", ");
          return [
            `${track}\u001f${name}\u001f${series}`,
            { title: titleOfCounter(name, series), about, points: placed },
          ];
        }),
    );
  }

  /** Asks the server; what it refuses is shown, what was dropped on purpose is not. */
  private async ask<T>(path: string, abort?: AbortSignal): Promise<T | null> {
    try {
      return await get<T>(path, abort);
    } catch (failure) {
      if (!(failure instanceof DOMException && failure.name === "AbortError")) this.error.value = failure;
      return null;
    }
  }
}
