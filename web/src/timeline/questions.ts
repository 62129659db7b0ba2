// What the timeline asks the server, and what went wrong.
import { signal } from "@preact/signals";
import { get } from "../api";

export class Questions {
  readonly error = signal<unknown>(null);

  /** Asks; what the server refuses is shown, what was dropped on purpose is not. */
  async ask<T>(path: string, abort?: AbortSignal): Promise<T | null> {
    try {
      return await get<T>(path, abort);
    } catch (failure) {
      if (!(failure instanceof DOMException && failure.name === "AbortError")) this.error.value = failure;
      return null;
    }
  }
}
