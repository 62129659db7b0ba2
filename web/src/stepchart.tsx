import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import { go } from "./address";
import { ceiling } from "./axis";
import { colourOf } from "./colours";
import { counted, duration } from "./format";
import { groupsOf } from "./groups";
import { plain } from "./plain";
import {
  type Brushed,
  columnsOf,
  durationOf,
  nameOf,
  partsByStep,
  partsOf,
  placeOf,
  type StepColumn,
  timelineLink,
} from "./stepcolumns";
import { HIGH, Plot, WIDE } from "./stepplot";
import type { Row, Section, Step } from "./types";

const MOST = 250; // columns of the chart
const LEAST = 10; // places for columns: a few steps do not fill the width
const MOST_NUMBERS = 20; // of steps below the chart
const HOSTS = 4; // charts that are seen without a click

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

/** Which columns are selected, and how pointer and keys select others. */
function useBrush({
  place,
  own,
  columns,
  brushed,
  onBrush,
  linked,
}: Options & { place: string; own: Step[]; columns: StepColumn[] }) {
  const [anchor, setAnchor] = useState<number | null>(null);
  const [cursor, setCursor] = useState<number | null>(null);
  const steps = brushed?.place === place ? brushed.steps : [];
  const columnOf = (step: Step | undefined) => {
    const at = step ? own.indexOf(step) : -1;
    return columns.findIndex((c) => c.from <= at && at < c.until);
  };
  const choose = (from: number, to: number) => {
    setAnchor(from);
    setCursor(to);
    const [first, last] = [columns[Math.min(from, to)]!, columns[Math.max(from, to)]!];
    onBrush({ place, steps: own.slice(first.from, last.until) });
  };
  const onKey = (e: KeyboardEvent) => {
    const moved = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (moved !== undefined) {
      const next = (cursor ?? (moved > 0 ? -1 : columns.length)) + moved;
      const to = Math.min(Math.max(next, 0), columns.length - 1);
      choose(e.shiftKey ? (anchor ?? to) : to, to);
    } else if (e.key === "Escape" && steps.length) onBrush(null);
    else if (e.key === "Enter" && steps.length && linked) go(timelineLink(steps));
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const drag = (to: number) => {
    if (anchor !== null && to !== cursor) choose(anchor, to);
  };
  return { steps, first: columnOf(steps[0]), last: columnOf(steps[steps.length - 1]), choose, drag, onKey };
}

/** What the steps of a host are, and which of them are selected. */
function Caption({
  place,
  own,
  slowest,
  chosen,
  linked,
  hint,
  clear,
}: {
  place: string;
  own: Step[];
  slowest: Step;
  chosen: Step[];
  linked: boolean;
  hint: boolean;
  clear: () => void;
}): JSX.Element {
  return (
    <figcaption>
      {place && `${plain(place, 120)}: `}
      {counted(own.length, "step")}, the longest{" "}
      {linked ? (
        <a href={timelineLink([slowest])} title="What it holds, in the timeline">
          {nameOf([slowest])}
        </a>
      ) : (
        nameOf([slowest])
      )}{" "}
      with {duration(durationOf(slowest))}.{" "}
      {chosen.length ? (
        <>
          Selected: {nameOf(chosen)}. {linked && <a href={timelineLink(chosen)}>Show in the timeline</a>}{" "}
          <button type="button" class="plain" onClick={clear}>
            Clear
          </button>
        </>
      ) : (
        hint && (
          <span class="on-screen">Drag over steps, or use the arrow keys, to see where their time goes.</span>
        )
      )}
    </figcaption>
  );
}

/** The bar of a column: its longest step, divided into its parts where they are known. */
function StepBar({
  column: { longest, count },
  parts,
  labels,
  box,
  top,
}: {
  column: StepColumn;
  parts: Row | undefined;
  labels: string[];
  box: { x: number; width: number };
  top: number;
}): JSX.Element {
  const long = durationOf(longest);
  const high = Math.min(HIGH, Math.max(1, (HIGH * long) / top));
  const title = (
    <title>
      {`${longest.kind ?? "step"} ${longest.step}: ${duration(long)}`}
      {longest.averaged ? "" : ", not averaged"}
      {count > 1 ? ` (longest of ${count})` : ""}
    </title>
  );
  if (!parts)
    return (
      <rect {...box} y={HIGH - high} height={high} class={longest.averaged ? "kept step" : "left-out step"}>
        {title}
      </rect>
    );
  let level = HIGH;
  return (
    <g class={longest.averaged ? "step" : "step faint"}>
      {title}
      {labels.map((name, k) => {
        const part = (high * Number(parts[name] ?? 0)) / Math.max(long, 1);
        level -= part;
        return part > 0 && <rect {...box} y={level} height={part} class={colourOf(name, k)} />;
      })}
    </g>
  );
}

type HostOptions = Options & { place: string; own: Step[]; parts: Map<string, Row>; hint: boolean };

function Host(options: HostOptions): JSX.Element {
  const { place, own, parts, hint, section, onBrush, linked } = options;
  const columns = columnsOf(own, MOST);
  const svg = useRef<SVGSVGElement>(null);
  const brush = useBrush({ ...options, columns });
  const longest = columns.map((column) => column.longest);
  const slowest = longest.reduce((a, b) => (durationOf(b) > durationOf(a) ? b : a));
  // One that compiles is a thousand times as long as the others: it is cut, and says so.
  const top = ceiling(longest.map(durationOf)) || 1;
  const cut = longest.filter((step) => durationOf(step) > top).length;
  const places = Math.max(columns.length, LEAST),
    wide = WIDE / places;
  const box = (i: number) => ({ x: i * wide, width: Math.max(wide * 0.85, 0.5) });
  const at = (e: PointerEvent) => {
    const { left, width } = svg.current!.getBoundingClientRect();
    return Math.min(Math.max(Math.floor(((e.clientX - left) / width) * places), 0), columns.length - 1);
  };
  const leftOut = own.filter((step) => !step.averaged).length;
  const every = Math.ceil(columns.length / MOST_NUMBERS);
  return (
    <figure>
      <Caption
        place={place}
        own={own}
        slowest={slowest}
        chosen={brush.steps}
        linked={linked}
        hint={hint}
        clear={() => onBrush(null)}
      />
      {(leftOut > 0 || cut > 0) && (
        <p class="quiet pale">
          {cut > 0 && (
            <>
              <i class="swatch cut-off" /> {counted(cut, "step")} longer than the chart is high.{" "}
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
        onKeyDown={brush.onKey}
        onPointerDown={(e) => {
          if (e.button) return;
          svg.current!.setPointerCapture(e.pointerId);
          brush.choose(at(e), at(e));
        }}
        onPointerMove={(e) => {
          if (e.buttons) brush.drag(at(e));
        }}
        below={
          <div class="steps-numbers" aria-hidden="true">
            <span class="what">step</span>
            {longest.map((step, i) =>
              i % every === 0 ? (
                <span style={{ left: `${(100 * (i + 0.425)) / places}%` }}>{step.step}</span>
              ) : null,
            )}
          </div>
        }
      >
        {brush.steps.length > 0 && (
          <rect
            class="brushed"
            x={brush.first * wide}
            width={(brush.last - brush.first + 1) * wide}
            y={0}
            height={HIGH}
          />
        )}
        {columns.map((column, i) => (
          <StepBar
            column={column}
            parts={partsOf(parts, column.longest)}
            labels={section?.chart?.y ?? []}
            box={box(i)}
            top={top}
          />
        ))}
        {longest.map(
          (step, i) => durationOf(step) > top && <rect class="cut" {...box(i)} y={0} height={5} />,
        )}
      </Plot>
    </figure>
  );
}
