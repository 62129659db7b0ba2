// Slices whose names have a text in them, on and off the screen.
import { batch, computed, type ReadonlySignal, signal } from "@preact/signals";
import type { Found } from "./answers";
import type { Names } from "./names";
import type { Questions } from "./questions";

const MOST_FOUND = 500;

export class Search {
  readonly text = signal("");
  readonly found = signal<Found | null>(null);
  /** Which of the slices found is shown; -1 for none. */
  readonly at = signal(-1);
  /** Names with the text in them, by their numbers. */
  readonly names: ReadonlySignal<ReadonlySet<number> | null>;

  constructor(
    names: Names,
    private readonly questions: Questions,
  ) {
    this.names = computed(() => {
      const text = this.found.value ? this.text.value.toLowerCase() : "";
      return text
        ? new Set(names.names.flatMap((name, i) => (name.toLowerCase().includes(text) ? [i] : [])))
        : null;
    });
  }

  /** Looks for a text in the names of all slices. */
  async look(text: string): Promise<void> {
    batch(() => {
      this.text.value = text;
      this.at.value = -1;
    });
    if (!text) {
      this.found.value = null;
      return;
    }
    const path = `/api/search?q=${encodeURIComponent(text)}&limit=${MOST_FOUND}`;
    const found = await this.questions.ask<Found>(path);
    if (found && this.text.value === text) this.found.value = found;
  }

  /** Goes to the next or the previous slice that was found, and returns its id. */
  turn(by: number): string | null {
    const slices = this.found.value?.slices ?? [];
    if (!slices.length) return null;
    const before = this.at.value;
    this.at.value = (before + by + slices.length + (before < 0 && by < 0 ? 1 : 0)) % slices.length;
    return slices[this.at.value]!.id;
  }
}
