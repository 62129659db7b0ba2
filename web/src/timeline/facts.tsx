// What the panels below the timeline are made of: facts, and slices to go to.

import type { ComponentChildren, JSX } from "preact";
import { plain } from "../plain";

export type Fact = [name: string, value: ComponentChildren];

export const Facts = ({ of }: { of: Fact[] }): JSX.Element => (
  <dl class="facts">
    {of.map(([name, value]) => (
      <>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </>
    ))}
  </dl>
);

export type Go = (id: string) => void;

export const Link = ({ id, name, go }: { id: string; name: string; go: Go }): JSX.Element => (
  <button type="button" class="link" onClick={() => go(id)}>
    {plain(name, 200)}
  </button>
);

/** A slice of a list, and what is said of it. */
export interface Item {
  id: string;
  name: string;
  about?: ComponentChildren;
}

/** A list of slices under its title; nothing where there are none. `most`: those that are seen without a click. */
export function Slices({
  title,
  of,
  go,
  most = Infinity,
}: {
  title: string;
  of: Item[];
  go: Go;
  most?: number;
}): JSX.Element | null {
  if (!of.length) return null;
  const list = (some: Item[]) => (
    <ul class="plain">
      {some.map(({ id, name, about }) => (
        <li>
          <Link id={id} name={name} go={go} />
          {about !== undefined && (
            <>
              {" "}
              <span class="quiet">{about}</span>
            </>
          )}
        </li>
      ))}
    </ul>
  );
  return (
    <>
      <h3>{title}</h3>
      {list(of.slice(0, most))}
      {of.length > most && (
        <details>
          <summary class="quiet">{of.length - most} more around these</summary>
          {list(of.slice(most))}
        </details>
      )}
    </>
  );
}
