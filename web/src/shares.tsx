import type { JSX } from "preact";

/** A part of a whole. */
export interface Share {
  title: string;
  /** The class of its colour. */
  look: string;
  part: number;
  /** Its part, as people read it. */
  share: string;
  /** What that is in time, where that is known. */
  long?: string;
  about?: string | undefined;
}

const NAMED = 0.12; // a part as wide has its name written on it

/** A bar of parts coloured by their class, and what they are below. */
export function SharesBar({ title, shares }: { title: string; shares: Share[] }): JSX.Element {
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <div class="bar" role="img" aria-label={shares.map((one) => `${one.title} ${one.share}`).join(", ")}>
        {shares.map((one) => (
          <i
            class={one.look}
            style={{ width: `${100 * one.part}%` }}
            title={`${one.title}: ${one.long ?? one.share}`}
          >
            {one.part > NAMED && <span>{one.title}</span>}
          </i>
        ))}
      </div>
      <ul class="legend">
        {shares.map((one) => (
          <li title={one.about}>
            <i class={`swatch ${one.look}`} />
            {one.title} <b>{one.share}</b> {one.long && <span class="quiet">{one.long}</span>}
          </li>
        ))}
      </ul>
    </figure>
  );
}
