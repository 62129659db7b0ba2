// Colours of cells, and of what is written on them.
import { hueOf } from "../colours";
import type { Ink } from "./ink";
import type { Names } from "./names";

export type Colouring = "class" | "op type" | "name";

/** Colours of cells: of their class, or a hue for each kind, light enough for dark text. */
export class Colours {
  private readonly known = new Map<string, string>();
  constructor(
    private readonly ink: Ink,
    private readonly names: Names,
    private readonly colouring: Colouring,
  ) {}

  of(name: number): string {
    const kind =
      this.colouring === "class"
        ? null
        : this.colouring === "name"
          ? this.names.names[name]
          : this.names.op_types[name];
    if (!kind) return this.ink.classes[this.names.classes[name] ?? -1] ?? this.ink.quiet;
    let colour = this.known.get(kind);
    if (!colour) {
      colour = `oklch(0.66 0.11 ${hueOf(kind)})`;
      this.known.set(kind, colour);
    }
    return colour;
  }
}

type Rgb = [number, number, number];
const rgbOf = (colour: string): Rgb | null => {
  const found = /^rgba?\((\d+)[, ]+(\d+)[, ]+(\d+)/.exec(colour);
  return found && [Number(found[1]), Number(found[2]), Number(found[3])];
};
const DARK = "#000",
  LIGHT = "#fff";
const lightness = ([r, g, b]: Rgb): number => {
  const [x, y, z] = [r, g, b].map((v) =>
    v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4,
  ) as Rgb;
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
};

/** Black or white, whichever can be read better on a colour that covers `alpha` of what is behind it. Hues
 * without a class are light. */
export function textOn(colour: string, behind: string, alpha = 1): string {
  const top = rgbOf(colour),
    below = rgbOf(behind);
  if (!top || !below) return DARK;
  const light = lightness(top.map((v, i) => v * alpha + below[i]! * (1 - alpha)) as Rgb);
  return (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) ? DARK : LIGHT;
}
