import type { ComponentChildren, JSX } from "preact";

/** What a view says that has nothing to show: why, and the commands that would change it. */
export function Empty({
  title,
  commands = [],
  children,
}: {
  title: string;
  commands?: string[];
  children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="empty">
      <h1>{title}</h1>
      {children}
      {commands.map((command) => (
        <pre>{command}</pre>
      ))}
    </section>
  );
}
