// Light or dark, as the system has it or as the reader chose.

import { signal } from "@preact/signals";

const THEMES = ["auto", "light", "dark"];
const KEY = "stepscope.theme";

/** What was kept from an earlier visit; a page in a sandbox, as in a notebook, may keep nothing. */
export function recall(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function keep(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    /* the choice lasts as long as the page */
  }
}

const stored = recall(KEY);
export const theme = signal(THEMES.includes(stored ?? "") ? stored! : "auto");

export function setTheme(next: string): void {
  theme.value = next;
  document.documentElement.dataset.theme = next;
  keep(KEY, next);
}

/** The next of the three, that which looks different first. */
export function turnTheme(): void {
  const order = matchMedia("(prefers-color-scheme: dark)").matches ? THEMES : ["auto", "dark", "light"];
  setTheme(order[(order.indexOf(theme.value) + 1) % order.length]!);
}
