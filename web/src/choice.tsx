// A menu: its label, and options to choose from.

import type { ComponentChildren } from "preact";

export interface Option {
  value: string | number;
  text: string;
  disabled?: boolean;
}

/** Options whose values are their texts. */
export const texts = (all: readonly string[]): Option[] => all.map((text) => ({ value: text, text }));

/** Options whose values are their places. */
export const places = (all: readonly string[]): Option[] => all.map((text, value) => ({ value, text }));

interface Props {
  label: ComponentChildren;
  name: string;
  value: string | number;
  options: Option[];
  onChoice: (value: string) => void;
  wide?: boolean;
  /** Whether it stands among the options of a form, with its label above. */
  above?: boolean;
}

export function Choice({ label, name, value, options, onChoice, wide, above }: Props) {
  return (
    <label class={above ? "option" : undefined}>
      {above ? <span>{label}</span> : label}{" "}
      <select
        class={wide ? "wide" : undefined}
        name={name}
        value={value}
        onInput={(e) => {
          onChoice(e.currentTarget.value);
          e.currentTarget.value = String(value); // until it is drawn with what was chosen, if that is kept
        }}
      >
        {options.map((option) => (
          <option value={option.value} disabled={option.disabled}>
            {option.text}
          </option>
        ))}
      </select>
    </label>
  );
}
