// Colours of the page as a canvas understands them: what the style sheet says, resolved for the theme.

export interface Ink {
  classes: string[];
  text: string;
  quiet: string;
  edge: string;
  paper: string;
  card: string;
  accent: string;
  font: string;
}

/** Reads the colours of the element's children: one i for each class, then text, quiet, edge, paper, card,
 * accent. */
export function inkOf(probe: HTMLElement): Ink {
  const colours = [...probe.children].map((child) => getComputedStyle(child).backgroundColor);
  const [text = "", quiet = "", edge = "", paper = "", card = "", accent = ""] = colours.slice(-6);
  const font = `11px ${getComputedStyle(probe).fontFamily}`;
  return { classes: colours.slice(0, -6), text, quiet, edge, paper, card, accent, font };
}

/** Calls back when the theme changes, by the page or by the system; returns what stops that. */
export function onTheme(changed: () => void): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const watch = new MutationObserver(changed);
  watch.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  system.addEventListener("change", changed);
  return () => {
    watch.disconnect();
    system.removeEventListener("change", changed);
  };
}
