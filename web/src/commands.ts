// What the palette (Ctrl-K) and the keys can do. A view adds its own while it is shown.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export interface Command {
  title: string;
  key: string;
  run: () => void;
}

export const added = signal<readonly Command[]>([]);

/** Commands that exist while the component is shown. A key of "" is none. Make the list once (useMemo, or
 * outside). */
export function useCommands(list: readonly Command[]): void {
  useEffect(() => {
    added.value = [...added.value, ...list];
    return () => {
      added.value = added.value.filter((command) => !list.includes(command));
    };
  }, [list]);
}
