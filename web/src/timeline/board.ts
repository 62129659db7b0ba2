// What the timeline shows: the window, the rows and what is chosen in them. The view shows it, the canvas is drawn
// from it.
import { batch, computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import { here, note, place } from "../address";
import type { Catalog, Track } from "../types";
import { Lay } from "./axis";
import type { Colouring } from "./colours";
import { cellAt, type Hit } from "./hit";
import type { Ink } from "./ink";
import { keepOf, recallOf } from "./kept";
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
import type { Names } from "./names";
import { type Arrow, paint } from "./paint";
import { Questions } from "./questions";
import { RULER } from "./ruler";
import { moved, psAt, showing, spanOf, type Window, within, zoomed } from "./scale";
import { Search } from "./search";
import { Selection } from "./selection";
import { CounterSeries } from "./series";
import { Store } from "./store";
import { RangeTotals } from "./totals";

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
  readonly hover = signal<{ hit: Hit; x: number; y: number } | null>(null);
  private readonly arrived = signal(0);
  /** Counts what the overview has to be drawn again for. */
  readonly drawn = signal(0);
  readonly rows: ReadonlySignal<Lane[]>;
  readonly shown: ReadonlySignal<Lane[]>;
  readonly store: Store;
  readonly questions = new Questions();
  readonly selection: Selection;
  readonly totals: RangeTotals;
  readonly search: Search;
  private readonly counters: CounterSeries;
  private readonly key: string;
  private noted = "";
  private frame = 0;
  private later = 0;
  private stop: (() => void)[] = [];

  constructor(
    readonly catalog: Catalog,
    readonly names: Names,
  ) {
    this.lay = new Lay(catalog);
    this.store = new Store(this.lay, () => {
      this.arrived.value++;
      this.questions.error.value = this.store.error;
    });
    this.selection = new Selection(this.lay, this.questions, () => this.totals.clear());
    this.totals = new RangeTotals(this.lay, catalog.tracks, this.questions);
    this.search = new Search(names, this.questions);
    this.counters = new CounterSeries(this.lay, catalog.tracks, this.questions);
    this.titles = shortTitles(catalog.tracks);
    this.rows = computed(() =>
      lanes(
        catalog.tracks,
        [...this.counters.series.value].map(([key, { title, about }]) => ({ key, title, about })),
        this.arrangement.value,
      ),
    );
    this.shown = computed(() => visible(this.rows.value, this.top.value, this.size.value.height - RULER));
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
      this.counters.forget();
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
          series: this.counters.series.value,
          bands: this.lay.steps(),
          bandsOf: this.together.value ? (track) => this.lay.recording(track) : null,
          names: this.names,
          colouring: this.colouring.value,
          selected: this.selection.id.value === null ? null : BigInt(this.selection.id.value),
          found: this.search.names.value,
          range: this.totals.range.value,
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
      this.selection.id,
      this.selection.ends,
      this.totals.range,
      this.search.names,
      this.arrived,
      this.counters.series,
    ];
    this.stop = [
      effect(() => {
        for (const part of parts) part.value; // asked, so that it is drawn again when one changes
        if (!this.frame) this.frame = requestAnimationFrame(draw);
      }),
      effect(() => {
        const tracks = tracksOf(this.shown.value);
        this.arrived.value;
        this.store.want(this.window.value, tracks, this.size.value.width);
      }),
      effect(() => {
        this.window.value;
        this.selection.id.value;
        this.totals.range.value;
        this.search.text.value;
        this.together.value;
        this.settle();
      }),
      effect(() => {
        this.window.value;
        this.top.value;
        this.selection.id.value;
        this.hover.value = null; // what it told of has moved away from under the mouse
      }),
      effect(() =>
        keepOf(this.key, {
          arrangement: this.arrangement.value,
          marks: this.marks.value,
          colouring: this.colouring.value,
        }),
      ),
    ];
    let came = place.peek(); // followed when the board was made
    const unfollow = place.subscribe((to) => {
      if (to !== came && to !== this.noted) this.follow(to);
      came = to;
    });
    this.readCounters();
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
        slice: this.selection.id.value,
        range: this.totals.range.value,
        search: this.search.text.value,
        together: this.together.value,
      });
      if (here().startsWith("#timeline")) {
        this.noted = found;
        note(found);
      }
      this.readCounters();
    }, 250);
  }

  private remember(): void {
    const stored = recallOf(this.key);
    this.arrangement.value = stored.arrangement;
    this.marks.value = stored.marks;
    this.colouring.value = stored.colouring;
  }

  private follow(hash: string): void {
    const asked = read(hash, this.lay.origin);
    batch(() => {
      const together = asked.together || (asked.window === null && this.lay.apart);
      if (together !== this.together.value && this.lay.recordings.length > 1) this.align(together);
      if (asked.window) this.window.value = within(asked.window, this.whole);
      else this.recorded();
      if (asked.slice !== this.selection.id.value)
        void this.select(asked.slice, asked.slice !== null && asked.window === null);
      if (asked.range) void this.choose(asked.range);
      if (asked.search && asked.search !== this.search.text.value) void this.search.look(asked.search);
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
    const span = this.selection.span() ?? this.totals.range.value;
    if (span) this.window.value = showing(span.from, span.to, this.whole);
  }

  /** Keeps the range, or the span of the selected slice, as a mark. */
  mark(): void {
    const span = this.totals.range.value ?? this.selection.span();
    if (span && span.to > span.from) this.marks.value = [...this.marks.value, span];
  }

  clear(): void {
    batch(() => {
      this.selection.clear();
      this.totals.clear();
      this.questions.error.value = null;
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
  select(id: string | null, reveal: boolean): Promise<void> {
    return this.selection.select(id, (detail) => {
      const begin = this.selection.beginOf(detail);
      if (reveal) this.reveal(begin, Number(detail.slice.dur_ps), detail.track?.track ?? null);
    });
  }

  private reveal(from: number, long: number, track: number | null): void {
    const window = this.window.value;
    if (from < window.from || from + long > window.to || long < spanOf(window) / 200)
      this.window.value = showing(from, from + long, this.whole);
    const row = this.rowOf(track);
    const { height } = this.size.value;
    if (row && (row.y < this.top.value || row.y + LANE > this.top.value + height - RULER))
      this.top.value = Math.max(0, Math.min(row.y - 60, heightOf(this.rows.value) - height + RULER));
  }

  /** Moves the rows so that the selected slice is among those that there is room for. */
  keepInView(): void {
    const detail = this.selection.detail.value;
    const row = this.rowOf(detail?.track?.track);
    if (!detail || !row) return;
    const lane = row.y + (row.closed ? 0 : Number(detail.slice.depth ?? 0)) * LANE;
    const room = this.size.value.height - RULER;
    if (lane < this.top.value) this.top.value = lane;
    else if (lane + 2 * LANE > this.top.value + room) this.top.value = lane + 2 * LANE - room;
  }

  private rowOf(track: number | null | undefined): Lane | undefined {
    return this.rows.value.find((row) => row.track !== null && row.track.track === track);
  }

  private drawnArrows(): Arrow[] {
    return this.selection.arrows((track, depth) => {
      const row = this.rowOf(track);
      return row ? RULER + row.y - this.top.value + (row.closed ? 0 : depth) * LANE + LANE / 2 : null;
    });
  }

  /** Totals of a range, of the tracks on the screen or between two heights of it. */
  choose(range: Window, tracks = tracksOf(this.shown.value)): Promise<void> {
    this.selection.clear();
    return this.totals.choose(range, tracks.length ? tracks : tracksOf(this.rows.value));
  }

  /** Goes to the next or the previous slice that was found. */
  async turn(by: number): Promise<void> {
    const id = this.search.turn(by);
    if (id !== null) await this.select(id, true);
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
    const tracks = tracksOf(this.rows.value),
      above = tracks[tracks.indexOf(track) - 1];
    if (above !== undefined)
      this.arrange({ moved: [...this.arrangement.value.moved.slice(-200), [track, above]] });
  }
  closeAll(shut: boolean): void {
    this.arrange({ closed: shut ? this.catalog.tracks.map((track) => track.track) : [] });
  }

  private readCounters(): void {
    void this.counters.read(this.window.value, this.size.value.width);
  }
}

function tracksOf(rows: readonly Lane[]): number[] {
  return rows.flatMap((row) => (row.track ? [row.track.track] : []));
}
