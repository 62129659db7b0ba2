// A chart from zero up, with marks beside it and rules across.

import type { ComponentChildren, JSX, Ref } from "preact";
import { ticks } from "./axis";
import "./steps.css";

export const WIDE = 1000;
export const HIGH = 100;

/** `label`: what the chart shows. `below`: what is placed under it. The svg element gets all other attributes. */
export function Plot({
  top,
  unit,
  label,
  below,
  drawing = null,
  children,
  ...attributes
}: {
  top: number;
  unit: string;
  label: string;
  below?: JSX.Element;
  drawing?: Ref<SVGSVGElement>;
  children: ComponentChildren;
} & JSX.SVGAttributes<SVGSVGElement>): JSX.Element {
  const marks = ticks(top, unit, 2);
  return (
    <div class="steps-plot">
      <div class="steps-axis" aria-hidden="true">
        {marks.map((mark) => (
          <span style={{ bottom: `${(100 * mark.place) / top}%` }}>{mark.label}</span>
        ))}
      </div>
      <svg
        role="img"
        {...attributes}
        ref={drawing}
        viewBox={`0 0 ${WIDE} ${HIGH}`}
        preserveAspectRatio="none"
        class="steps"
        aria-label={label}
      >
        {marks.map((mark) => {
          const y = HIGH - (HIGH * mark.place) / top;
          return <line class="rule" x1="0" x2={WIDE} y1={y} y2={y} />;
        })}
        {children}
      </svg>
      {below}
    </div>
  );
}
