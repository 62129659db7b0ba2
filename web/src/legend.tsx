import type { ComponentChildren, JSX } from "preact";

/** What the colours of a picture mean: the class of each and its title. `children`: more entries. */
export const Legend = ({
  of,
  children,
}: {
  of: readonly (readonly [look: string, title: string])[];
  children?: ComponentChildren;
}): JSX.Element => (
  <ul class="legend">
    {of.map(([look, title]) => (
      <li>
        <i class={`swatch ${look}`} />
        {title}
      </li>
    ))}
    {children}
  </ul>
);
