import type { JSX } from "preact";
import { counted } from "./format";
import { plain } from "./plain";
import type { Note } from "./types";

const HARMLESS = new Set(["info", "recorder"]);

/** What is lost, repaired, capped or missing, and the statements that it weakens. */
export function Notes({ notes }: { notes: Note[] }): JSX.Element | null {
  if (!notes.length) return null;
  const weak = notes.some((note) => !HARMLESS.has(note.effect));
  // Several sources may say the same: in short it is said once.
  const sentences = [...new Set(notes.map((note) => plain(note.detail, 160).replace(/\.$/, "")))];
  const shown = sentences.slice(0, 2);
  return (
    <details class={weak ? "notes weak" : "notes"}>
      <summary>
        <strong>{weak ? "Incomplete" : "About the recording"}:</strong> {shown.join("; ")}
        {sentences.length > shown.length ? `; ${counted(sentences.length - shown.length, "more note")}` : ""}
      </summary>
      <ul>
        {notes.map((note) => (
          <li>
            <strong>{plain(note.effect)}</strong> {plain(note.detail.replace(/\.$/, ""))}{" "}
            <span class="quiet">
              ({plain(note.slug)}, {plain(note.path ?? "", 300)}
              {note.events ? `, ${counted(note.events, "event")}` : ""})
            </span>
            .
            {note.weakens.length > 0 && (
              <>
                {" "}
                <strong>Weakens:</strong> {plain(note.weakens.join("; "))}.
              </>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
