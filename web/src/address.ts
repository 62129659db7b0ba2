// Where the reader is: the fragment of the address. A frame of a notebook has no address of its own and
// remembers it.
import { signal } from "@preact/signals";

const inBrowser = typeof location !== "undefined";
/** Whether the page is a frame within another page. */
export const framed = inBrowser && location.protocol === "about:";
/** "#view?…", as links have it. */
export const place = signal(inBrowser && !framed ? location.hash : "");

/** Goes to a view, or to a place in it. */
export function go(to: string): void {
  if (framed) place.value = to;
  else location.hash = to;
}

/** Where the reader has gone by now: the address changes before `place` hears of it. */
export function here(): string {
  return framed ? place.peek() : location.hash;
}

/** Keeps the place in the address for a reload, without going anywhere. */
export function note(to: string): void {
  if (!framed) history.replaceState(null, "", to);
  place.value = to;
}

if (inBrowser && !framed)
  addEventListener("hashchange", () => {
    place.value = location.hash;
  });
// A link of a frame would lead the frame to a part of the page around it.
if (framed)
  document.addEventListener("click", (e) => {
    const link = e.target instanceof Element ? e.target.closest("a[href^='#']") : null;
    if (!link) return;
    e.preventDefault();
    go(link.getAttribute("href")!);
  });
