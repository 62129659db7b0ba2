import type { JSX } from "preact";
import { hueOf, ofRow } from "./colours";
import { counted, duration } from "./format";
import { type Group, scopeOf, squarified } from "./opgroups";
import { plain } from "./plain";
import { pressable } from "./press";
import { show } from "./scale";
import "./treemap.css";

const WIDE = 1000;
const HIGH = 220;
const MOST = 150; // boxes; the smaller ones could not be told apart
const LABEL = { wide: 44, high: 16, share: 32 }; // of a box that has room for its name, and for its share
const ALONE = 0.7; // a class with this part of the area tells nothing: its boxes differ by scope

/** A shade of the colour of its class, alike within a scope: by how many degrees its hue is off. */
export const turnOf = (key: string): number => (Number(hueOf(scopeOf(key) || key)) % 7) * 7 - 21;

/** The last part of what a group is called. A name of the recording may be that of a method of objects. */
const lastOf = (key: string, shortNames: Record<string, string>): string =>
  (Object.hasOwn(shortNames, key) ? shortNames[key]! : key).split("/").pop() || key;

/** Groups as areas by their self time, coloured by class, and shaded by scope where most are of one class.
 * A click goes into one. shortNames: of kernels. */
export function Treemap({
  groups,
  shortNames,
  onPick,
}: {
  groups: Group[];
  shortNames: Record<string, string>;
  onPick: (key: string) => void;
}): JSX.Element {
  const cells = squarified(groups.slice(0, MOST), (group) => group.self_ps, WIDE, HIGH);
  const percent = (part: number, whole: number) => `${(100 * part) / whole}%`;
  const of = new Map<string | null, number>();
  for (const group of groups) of.set(group.class, (of.get(group.class) ?? 0) + group.self_ps);
  const [first] = [...of].sort((a, b) => b[1] - a[1]);
  const whole = groups.reduce((sum, group) => sum + group.self_ps, 0);
  const shaded = first && first[1] >= ALONE * whole ? first[0] : undefined;
  const rest = groups.slice(MOST);
  const left = rest.reduce((sum, group) => sum + group.self_ps, 0);
  return (
    <>
      <svg class="treemap" height={HIGH} role="group" aria-label="self times as areas">
        {cells.map(({ item, x, y, w, h }) => {
          const facts = [
            duration(item.self_ps),
            show(item.share, "ratio"),
            `${item.slices.toLocaleString("en")}×`,
          ];
          const title = `${plain(item.key, 200)}\n${[...facts, ...(item.part === "input pipeline" ? ["for the input"] : [])].join(", ")}`;
          return (
            <svg
              class={item.part === "input pipeline" ? "box feeds" : "box"}
              key={item.key}
              x={percent(x, WIDE)}
              y={y}
              width={percent(w, WIDE)}
              height={Math.max(h, 0)}
              aria-label={title}
              {...pressable(() => onPick(item.key))}
            >
              <title>{title}</title>
              <rect
                class={ofRow(item.class)}
                width="100%"
                height="100%"
                {...(item.class === shaded && {
                  style: { "--turn": `${turnOf(item.key)}deg` },
                })}
              />
              {item.part === "input pipeline" && (
                <foreignObject width="100%" height="100%">
                  <div class="feeds" />
                </foreignObject>
              )}
              {h > LABEL.high && w > LABEL.wide && (
                <foreignObject width="100%" height="100%">
                  <p>
                    {plain(lastOf(item.key, shortNames), 60)}
                    {h > LABEL.share && <small>{show(item.share, "ratio")}</small>}
                  </p>
                </foreignObject>
              )}
            </svg>
          );
        })}
      </svg>
      {left > 0 && (
        <p class="quiet">
          The {MOST} largest of {counted(groups.length, "group")}; the others take {duration(left)} together.
        </p>
      )}
    </>
  );
}
