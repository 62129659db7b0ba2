import type { JSX } from "preact";
import { ofRow } from "./colours";
import { duration } from "./format";
import { type Group, squarified } from "./opgroups";
import { plain } from "./plain";
import { show } from "./scale";

const WIDE = 1000;
const HIGH = 220;
const MOST = 150; // boxes; the smaller ones could not be told apart

/** Groups as areas by their self time, coloured by class. A click goes into one. */
export function Treemap({ groups, onPick }: { groups: Group[]; onPick: (key: string) => void }): JSX.Element {
  const cells = squarified(groups.slice(0, MOST), (group) => group.self_ps, WIDE, HIGH);
  const percent = (part: number, whole: number) => `${(100 * part) / whole}%`;
  return (
    <svg class="treemap" height={HIGH} role="group" aria-label="self times as areas">
      {cells.map(({ item, x, y, w, h }) => {
        const told = [
          duration(item.self_ps),
          show(item.share, "ratio"),
          `${item.slices.toLocaleString("en")}×`,
        ];
        const title = `${plain(item.key, 200)}\n${told.join(", ")}`;
        return (
          <svg
            class="box"
            key={item.key}
            x={percent(x, WIDE)}
            y={y}
            width={percent(w, WIDE)}
            height={Math.max(h, 0)}
            tabIndex={0}
            role="button"
            aria-label={title}
            onClick={() => onPick(item.key)}
            onKeyDown={(e) => {
              if (e.key === "Enter" || e.key === " ") {
                e.preventDefault();
                onPick(item.key);
              }
            }}
          >
            <title>{title}</title>
            <rect class={ofRow(item.class)} width="100%" height="100%" />
            {h > 16 && w > 24 && (
              <foreignObject width="100%" height="100%">
                <p>
                  {plain(item.key.split("/").pop() || item.key, 60)}
                  {h > 32 && <small>{show(item.share, "ratio")}</small>}
                </p>
              </foreignObject>
            )}
          </svg>
        );
      })}
    </svg>
  );
}
