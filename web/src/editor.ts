// The SQL editor: CodeMirror in a shadow root, where its styles are sheets that a strict policy allows.
// Loaded when the SQL view is first shown.

import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
  completionKeymap,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { PostgreSQL, sql } from "@codemirror/lang-sql";
import { bracketMatching, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState, Prec, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Span } from "./sqlerror";

export interface Words {
  name: string;
  comment: string | null;
  columns: { name: string; type: string; comment: string | null }[];
}
export interface Editor {
  text: () => string;
  set: (text: string) => void;
  insert: (text: string) => void;
  focus: () => void;
  /** Marks where an error lies, until the text changes; null marks nothing. */
  mark: (span: Span | null) => void;
  /** Closes what is open over the text. */
  settle: () => void;
  close: () => void;
}

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--accent)", fontWeight: "600" },
  { tag: tags.string, color: "var(--python)" },
  { tag: tags.number, color: "var(--copy)" },
  { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
  { tag: [tags.typeName, tags.standard(tags.name)], color: "var(--communication)" },
]);

const look = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--card)", fontSize: "13px", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-content": {
    fontFamily: 'ui-monospace, "Cascadia Code", Menlo, Consolas, monospace',
    caretColor: "var(--ink)",
  },
  ".cm-scroller": { overflow: "auto" },
  ".cm-gutters": { backgroundColor: "var(--code)", color: "var(--quiet)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": {
    backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)",
  },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent) !important",
  },
  ".cm-matchingBracket": { backgroundColor: "color-mix(in srgb, var(--accent) 30%, transparent) !important" },
  ".cm-tooltip": {
    backgroundColor: "var(--card)",
    color: "var(--ink)",
    border: "1px solid var(--edge)",
    borderRadius: "6px",
    overflow: "hidden",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--paper)",
  },
  ".cm-wrong": {
    textDecoration: "underline wavy var(--high) 1.5px",
    textUnderlineOffset: "3px",
    backgroundColor: "color-mix(in srgb, var(--high) 12%, transparent)",
  },
  ".cm-completionDetail": { color: "var(--quiet)", fontStyle: "normal" },
  ".cm-completionInfo": { padding: ".4rem .6rem", maxWidth: "22rem", whiteSpace: "normal" },
});

const wrong = StateEffect.define<Span | null>();
const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, change) {
    for (const effect of change.effects)
      if (effect.is(wrong)) {
        const span = effect.value;
        return span
          ? Decoration.set(Decoration.mark({ class: "cm-wrong" }).range(span.from, span.to))
          : Decoration.none;
      }
    return change.docChanged ? Decoration.none : marks;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Puts an editor into an element. `words`: tables and columns to complete, with what they mean. */
export function mount(
  host: HTMLElement,
  text: string,
  words: Words[],
  on: { run: () => void; change: (text: string) => void },
): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  root.replaceChildren();
  const schema = Object.fromEntries(
    words.map((table) => [
      table.name,
      {
        self: { label: table.name, type: "class", ...(table.comment && { info: table.comment }) },
        children: table.columns.map((c) => ({
          label: c.name,
          type: "property",
          detail: c.type,
          ...(c.comment && { info: c.comment }),
        })),
      },
    ]),
  );
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        autocompletion({ icons: false }),
        marked,
        look,
        syntaxHighlighting(colours),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": "SQL query" }),
        placeholder("SELECT …"),
        sql({ dialect: PostgreSQL, schema, upperCaseKeywords: true }),
        Prec.highest(
          keymap.of([
            {
              key: "Mod-Enter",
              run: () => {
                closeCompletion(view);
                on.run();
                return true;
              },
            },
            { key: "Tab", run: acceptCompletion },
          ]),
        ),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) on.change(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    text: () => view.state.doc.toString(),
    set: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
    insert: (word) => {
      view.dispatch(view.state.replaceSelection(word));
      view.focus();
    },
    focus: () => view.focus(),
    mark: (span) => {
      const end = view.state.doc.length;
      const within = span && { from: Math.min(span.from, end), to: Math.min(span.to, end) };
      view.dispatch({
        effects: wrong.of(within && within.from < within.to ? within : null),
        ...(within && { selection: { anchor: within.from }, scrollIntoView: true }),
      });
    },
    settle: () => {
      closeCompletion(view);
    },
    close: () => view.destroy(),
  };
}
