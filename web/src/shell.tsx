import { computed, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { go, place } from "./address";
import { embedded, once } from "./api";
import { added, type Command } from "./commands";
import { Empty } from "./empty";
import { atFirst } from "./live";
import { News } from "./news";
import { plain } from "./plain";
import { fitting, found as foundAll, type Item } from "./search";
import { setTheme, theme, turnTheme } from "./theme";
import type { Catalog, View } from "./types";
import "./shell.css";

const found = import.meta.glob<{ view: View }>("./views/*.tsx", { eager: true });
/** Every view, in its order: a file in views/ is a view. */
const views: View[] = Object.values(found)
  .map((file) => file.view)
  .sort((a, b) => a.order - b.order);

const overlay = signal<"palette" | "help" | null>(null);

/** What there is to look at, once that is known. */
const known = signal<Catalog | null>(null);
/** The views that have something to show. */
const offered = computed(() =>
  views.filter((v) =>
    v.runs ? v.runs() : !atFirst.value.waits && (known.value === null || !v.hasAny || v.hasAny(known.value)),
  ),
);

const named = computed(() => place.value.slice(1).split("?")[0]!);
/** The view that the address names; the first one where it names none, or while there is nothing else to see,
 * null where there is no such view. */
const current = computed(() =>
  named.value && !atFirst.value.waits
    ? (views.find((v) => v.name === named.value && (!v.runs || v.runs())) ?? null)
    : (offered.value[0] ?? null),
);

const commands = (): Command[] => [
  ...offered.value.map((v) => ({ title: `Show ${v.title}`, key: v.key, run: () => go(`#${v.name}`) })),
  { title: "Change light or dark", key: "t", run: turnTheme },
  {
    title: "Show the keys",
    key: "?",
    run: () => {
      overlay.value = "help";
    },
  },
  ...added.value,
];

/** Closes the dialog, and then does something: what is behind a dialog takes no focus. */
function leave(then: () => void): void {
  const open = overlay.value !== null;
  overlay.value = null;
  if (open) setTimeout(then);
  else then();
}

/** Whether a dialog is open. Where the focus was is where it goes back to. */
function useDialog(): boolean {
  const before = useRef<Element | null>(null);
  const open = overlay.value !== null;
  if (open) before.current ??= document.activeElement;
  useLayoutEffect(() => {
    if (open) return;
    if (before.current instanceof HTMLElement) before.current.focus({ preventScroll: true });
    before.current = null;
  }, [open]);
  return open;
}

function Palette(): JSX.Element {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const [items, setItems] = useState<readonly Item[]>([]);
  useEffect(
    () =>
      embedded || atFirst.value.waits ? undefined : foundAll((some) => setItems((all) => [...all, ...some])),
    [],
  );
  const fits: (Command & { kind?: string })[] = [
    ...commands().filter((c) => c.title.toLowerCase().includes(text.toLowerCase())),
    ...fitting(items, text),
  ];
  const go = (command: Command | undefined) => leave(() => command?.run());
  const onKey = (e: KeyboardEvent) => {
    if (e.key === "ArrowDown") setAt(Math.min(at + 1, fits.length - 1));
    else if (e.key === "ArrowUp") setAt(Math.max(at - 1, 0));
    else if (e.key === "Enter") go(fits[at]);
    else return;
    e.preventDefault();
  };
  return (
    <div class="overlay" role="dialog" aria-modal="true" aria-label="Commands">
      <input
        name="command"
        ref={(e) => e?.focus()}
        role="combobox"
        aria-label="Command"
        aria-expanded
        aria-controls="commands"
        aria-activedescendant={fits.length ? `command-${at}` : undefined}
        autocomplete="off"
        placeholder="Type a command, an op, a table, a finding, a recording"
        value={text}
        onKeyDown={onKey}
        onInput={(e) => {
          setText(e.currentTarget.value);
          setAt(0);
        }}
      />
      <div id="commands" class="commands" role="listbox" aria-label="Commands">
        {fits.map((c, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys go to the combobox, as ARIA has it.
          <div id={`command-${i}`} role="option" tabIndex={-1} aria-selected={i === at} onClick={() => go(c)}>
            <span>{c.title}</span> {c.kind && <span class="kind">{c.kind}</span>}
            {c.key && <kbd>{c.key}</kbd>}
          </div>
        ))}
      </div>
      {fits.length === 0 && <p class="quiet">Nothing has this in its name.</p>}
    </div>
  );
}

const Help = (): JSX.Element => (
  <div
    class="overlay"
    role="dialog"
    aria-modal="true"
    aria-label="Keys"
    tabIndex={-1}
    ref={(e) => e?.focus()}
  >
    <h2>Keys</h2>
    <dl class="keys">
      <dt>
        <kbd>Ctrl</kbd> <kbd>K</kbd>
      </dt>
      <dd>Find a command</dd>
      {commands()
        .filter((c) => c.key)
        .map((c) => (
          <>
            <dt>
              <kbd>{c.key}</kbd>
            </dt>
            <dd>{c.title}</dd>
          </>
        ))}
      <dt>
        <kbd>Esc</kbd>
      </dt>
      <dd>Close</dd>
    </dl>
  </div>
);

/** Whether a key goes into a text: the SQL editor is in a shadow root, whose host would be the event's
 * target. */
function typing(e: KeyboardEvent): boolean {
  const [at] = e.composedPath();
  return (
    e.defaultPrevented ||
    (at instanceof HTMLElement &&
      (at.isContentEditable || at.closest("input, textarea, select, [contenteditable]") !== null))
  );
}

function onKey(e: KeyboardEvent): void {
  if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") {
    e.preventDefault();
    overlay.value = overlay.value === "palette" ? null : "palette";
  } else if (e.key === "Escape" && overlay.value !== null) overlay.value = null;
  else if (!e.ctrlKey && !e.metaKey && !e.altKey && !typing(e)) {
    const command = commands().find((c) => c.key === e.key);
    if (command) {
      e.preventDefault();
      leave(command.run);
    }
  }
}

/** What an address leads to that names no view: an old or a mistyped link. */
const Unknown = (): JSX.Element => (
  <Empty title="There is no such view">
    <p>
      The address names “{plain(named.value, 80)}”. There are:{" "}
      {offered.value.map((v, i) => (
        <>
          {i > 0 && ", "}
          <a href={`#${v.name}`}>{v.title}</a>
        </>
      ))}
      .
    </p>
  </Empty>
);

export function Shell(): JSX.Element {
  useEffect(() => {
    setTheme(theme.value);
    addEventListener("keydown", onKey);
    if (!atFirst.value.waits)
      once<Catalog>("/api/catalog").then(
        (catalog) => {
          known.value = catalog;
        },
        () => undefined, // the views say what is wrong
      );
    return () => removeEventListener("keydown", onKey);
  }, []);
  const { Component, name, title } = current.value ?? { Component: Unknown, name: "", title: "No such view" };
  useEffect(() => {
    document.title = `${title} - stepscope`;
  }, [title]);
  const open = useDialog();
  return (
    <>
      <header inert={open}>
        <b class="brand">stepscope</b>
        <nav aria-label="Views">
          {offered.value.map((v) => (
            <a href={`#${v.name}`} aria-current={v.name === name ? "page" : undefined}>
              {v.title}
            </a>
          ))}
        </nav>
        <button
          type="button"
          onClick={() => {
            overlay.value = "palette";
          }}
        >
          Commands <kbd>Ctrl K</kbd>
        </button>
        <button type="button" onClick={turnTheme}>
          Theme: {theme.value}
        </button>
        <button
          type="button"
          aria-label="Show the keys"
          onClick={() => {
            overlay.value = "help";
          }}
        >
          ?
        </button>
      </header>
      <News />
      <main key={name} class={name} inert={open}>
        <Component />
      </main>
      {overlay.value !== null && (
        // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes it, too, wherever the focus is.
        // biome-ignore lint/a11y/useKeyWithClickEvents: as above.
        <div
          class="veil"
          onClick={(e) => {
            if (e.target === e.currentTarget) overlay.value = null;
          }}
        >
          {overlay.value === "palette" ? <Palette /> : <Help />}
        </div>
      )}
    </>
  );
}
