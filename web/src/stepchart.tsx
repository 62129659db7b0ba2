import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { go } from "./address";
import { ceiling } from "./axis";
import { colourOf } from "./colours";
import { counted, duration } from "./format";
import { groupsOf } from "./groups";
import { plain } from "./plain";
import { HIGH, Plot, WIDE } from "./stepplot";
import type { Row, Section, Step } from "./types";

const MOST = 250; // columns of the chart
const LEAST = 10; // places for columns: a few steps do not fill the width
const MOST_NUMBERS = 20; // of steps below the chart
const HOSTS = 4; // charts that are seen without a click

/** Some steps of one host, one after the other. */
export interface Brushed {
  place: string;
  steps: Step[];
}

export interface StepColumn {
  longest: Step;
  count: number;
  from: number;
  until: number;
}

/** Steps one by one: a bar each, or the longest of each column where there are more steps than columns. */
export function columnsOf(steps: Step[], most: number): StepColumn[] {
  const columns = Math.min(steps.length, most);
  return Array.from({ length: columns }, (_, i) => {
    const from = Math.floor((i * steps.length) / columns);
    const until = Math.floor(((i + 1) * steps.length) / columns);
    const within = steps.slice(from, until);
    return {
      longest: within.reduce((a, b) => (Number(b.dur_ps) > Number(a.dur_ps) ? b : a)),
      count: within.length,
      from,
      until,
    };
  });
}

export const placeOf = (row: { run_id?: unknown; host_id?: unknown }): string =>
  [row.run_id, row.host_id === "unknown" ? "" : row.host_id].filter(Boolean).join(" / ");
const keyOf = (place: string, step: unknown): string => JSON.stringify([place, String(step)]);

/** The parts of each step, by host and number. A number that occurs twice says nothing of either. */
export function partsByStep(section: Section | undefined): Map<string, Row> {
  const found = new Map<string, Row>();
  const twice = new Set<string>();
  for (const row of section?.table?.rows ?? []) {
    const key = keyOf(placeOf(row), row.what);
    if (found.has(key)) twice.add(key);
    found.set(key, row);
  }
  for (const key of twice) found.delete(key);
  return found;
}

export const partsOf = (parts: Map<string, Row>, step: Step): Row | undefined =>
  parts.get(keyOf(placeOf(step), step.step));

/** The window of some steps, added up, as the timeline takes it: whole picoseconds, without an exponent. */
export function timelineLink(steps: Step[]): string {
  const begin = steps.reduce((least, s) => Math.min(least, Number(s.ts_ps)), Infinity);
  const end = steps.reduce((most, s) => Math.max(most, Number(s.ts_ps) + Number(s.dur_ps)), -Infinity);
  return `#timeline?from=${BigInt(Math.floor(begin))}&to=${BigInt(Math.ceil(end))}&sum=1`;
}

interface Options {
  steps: Step[];
  section: Section | undefined;
  brushed: Brushed | null;
  onBrush: (brushed: Brushed | null) => void;
  linked: boolean;
}

/** All steps, a chart for each host, to brush: the bar above then shows the brushed steps. */
export function StepChart(options: Options): JSX.Element {
  const hosts = [...groupsOf(options.steps, placeOf)];
  const parts = partsByStep(options.section);
  const card = ([place, own]: [string, Step[]], i: number) => (
    <Host key={place} place={place} own={own} parts={parts} hint={i === 0} {...options} />
  );
  return (
    <section class="steps-card" aria-label="Steps, one by one">
      <h2>Steps, one by one</h2>
      {hosts.slice(0, HOSTS).map(card)}
      {hosts.length > HOSTS && (
        <details>
          <summary>{counted(hosts.length - HOSTS, "more host")}</summary>
          {hosts.slice(HOSTS).map((host) => card(host, HOSTS))}
        </details>
      )}
    </section>
  );
}

function Host({
  place,
  own,
  parts,
  hint,
  section,
  brushed,
  onBrush,
  linked,
}: Options & { place: string; own: Step[]; parts: Map<string, Row>; hint: boolean }): JSX.Element {
  const columns = columnsOf(own, MOST);
  const [anchor, setAnchor] = useState<number | null>(null);
  const [cursor, setCursor] = useState<number | null>(null);
  const svg = useRef<SVGSVGElement>(null);
  const slowest = columns.reduce((a, b) =>
    Number(b.longest.dur_ps) > Number(a.longest.dur_ps) ? b : a,
  ).longest;
  const slowestName = `step ${slowest.step}`;
  // One that compiles is a thousand times as long as the others: it is cut, and says so.
  const top = ceiling(columns.map((c) => Number(c.longest.dur_ps))) || 1;
  const cut = columns.filter((c) => Number(c.longest.dur_ps) > top);
  const places = Math.max(columns.length, LEAST),
    wide = WIDE / places;
  const chosen = brushed?.place === place ? brushed.steps : [];
  const first = chosen.length
    ? columns.findIndex((c) => own.slice(c.from, c.until).includes(chosen[0]!))
    : -1;
  const last = chosen.length
    ? columns.findLastIndex((c) => own.slice(c.from, c.until).includes(chosen[chosen.length - 1]!))
    : -1;
  const at = (e: PointerEvent) => {
    const box = svg.current!.getBoundingClientRect();
    return Math.min(
      Math.max(Math.floor(((e.clientX - box.left) / box.width) * places), 0),
      columns.length - 1,
    );
  };
  const choose = (a: number, b: number) => {
    const [from, until] = [columns[Math.min(a, b)]!.from, columns[Math.max(a, b)]!.until];
    onBrush({ place, steps: own.slice(from, until) });
  };
  const onKey = (e: KeyboardEvent) => {
    const moved = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (moved !== undefined) {
      const next = Math.min(
        Math.max((cursor ?? (moved > 0 ? -1 : columns.length)) + moved, 0),
        columns.length - 1,
      );
      const from = e.shiftKey ? (anchor ?? next) : next;
      setCursor(next);
      setAnchor(from);
      choose(from, next);
    } else if (e.key === "Escape" && chosen.length) onBrush(null);
    else if (e.key === "Enter" && chosen.length && linked) go(timelineLink(chosen));
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const leftOut = own.filter((step) => !step.averaged).length;
  const every = Math.ceil(columns.length / MOST_NUMBERS);
  return (
    <figure>
      <figcaption>
        {place && `${plain(place, 120)}: `}
        {counted(own.length, "step")}, the longest{" "}
        {linked ? (
          <a href={timelineLink([slowest])} title="What it holds, in the timeline">
            {slowestName}
          </a>
        ) : (
          slowestName
        )}{" "}
        with {duration(Number(slowest.dur_ps))}.{" "}
        {chosen.length ? (
          <>
            Selected:{" "}
            {chosen.length === 1
              ? `step ${chosen[0]!.step}`
              : `steps ${chosen[0]!.step} to ${chosen[chosen.length - 1]!.step}`}
            . {linked && <a href={timelineLink(chosen)}>Show in the timeline</a>}{" "}
            <button type="button" class="plain" onClick={() => onBrush(null)}>
              Clear
            </button>
          </>
        ) : (
          hint && (
            <span class="on-screen">
              Drag over steps, or use the arrow keys, to see where their time goes.
            </span>
          )
        )}
      </figcaption>
      {(leftOut > 0 || cut.length > 0) && (
        <p class="quiet pale">
          {cut.length > 0 && (
            <>
              <i class="swatch cut-off" /> {counted(cut.length, "step")} longer than the chart is high.{" "}
            </>
          )}
          {leftOut > 0 && (
            <>
              <i class="swatch class-unknown faint" /> Pale: {counted(leftOut, "step")} that averages leave
              out.
            </>
          )}
        </p>
      )}
      <Plot
        top={top}
        unit="ps"
        label={`${counted(own.length, "step")} by duration; arrow keys select`}
        drawing={svg}
        role="application"
        tabIndex={0}
        onKeyDown={onKey}
        onPointerDown={(e) => {
          if (e.button) return;
          svg.current!.setPointerCapture(e.pointerId);
          const i = at(e);
          setAnchor(i);
          setCursor(i);
          choose(i, i);
        }}
        onPointerMove={(e) => {
          if (anchor !== null && e.buttons) {
            const i = at(e);
            if (i !== cursor) {
              setCursor(i);
              choose(anchor, i);
            }
          }
        }}
        below={
          <div class="steps-numbers" aria-hidden="true">
            <span class="what">step</span>
            {columns.map(({ longest }, i) =>
              i % every === 0 ? (
                <span style={{ left: `${(100 * (i + 0.425)) / places}%` }}>{longest.step}</span>
              ) : null,
            )}
          </div>
        }
      >
        {chosen.length > 0 && (
          <rect class="brushed" x={first * wide} width={(last - first + 1) * wide} y={0} height={HIGH} />
        )}
        {columns.map(({ longest, count }, i) => {
          const long = Number(longest.dur_ps);
          const high = Math.min(HIGH, Math.max(1, (HIGH * long) / top));
          const known = partsOf(parts, longest);
          const title = (
            <title>
              {`${longest.kind ?? "step"} ${longest.step}: ${duration(long)}`}
              {longest.averaged ? "" : ", not averaged"}
              {count > 1 ? ` (longest of ${count})` : ""}
            </title>
          );
          const box = { x: i * wide, width: Math.max(wide * 0.85, 0.5) };
          if (!known)
            return (
              <rect
                {...box}
                y={HIGH - high}
                height={high}
                class={longest.averaged ? "kept step" : "left-out step"}
              >
                {title}
              </rect>
            );
          let level = HIGH;
          return (
            <g class={longest.averaged ? "step" : "step faint"}>
              {title}
              {section!.chart!.y.map((name, k) => {
                const part = (high * Number(known[name] ?? 0)) / Math.max(long, 1);
                level -= part;
                return part > 0 && <rect {...box} y={level} height={part} class={colourOf(name, k)} />;
              })}
            </g>
          );
        })}
        {columns.map(
          ({ longest }, i) =>
            cut.some((column) => column.longest === longest) && (
              <rect class="cut" x={i * wide} width={Math.max(wide * 0.85, 0.5)} y={0} height={5} />
            ),
        )}
      </Plot>
    </figure>
  );
}
