// A box to tick, and a slider.

import type { ComponentChildren, JSX } from "preact";

interface CheckProps {
  name: string;
  checked: boolean;
  title?: string;
  onCheck: (checked: boolean) => void;
  children: ComponentChildren;
}

export const Check = ({ name, checked, title, onCheck, children }: CheckProps): JSX.Element => (
  <label title={title}>
    <input type="checkbox" name={name} checked={checked} onChange={(e) => onCheck(e.currentTarget.checked)} />{" "}
    {children}
  </label>
);

interface SliderProps extends Pick<JSX.IntrinsicElements["input"], "min" | "max" | "step" | "disabled"> {
  name: string;
  value: number;
  /** What is written beside it: the value, where nothing else is given. */
  shown?: string;
  /** Its label for those who do not see it, where none is written before it. */
  label?: string;
  onSlide: (value: number) => void;
  children?: ComponentChildren;
}

export const Slider = ({ value, shown, label, onSlide, children, ...range }: SliderProps): JSX.Element => (
  <label class="slide">
    {children}
    <input
      type="range"
      {...range}
      aria-label={label}
      value={value}
      onInput={(e) => onSlide(Number(e.currentTarget.value))}
    />{" "}
    <output>{shown ?? value}</output>
  </label>
);
