// Cells of few pixels, of which there are tens of thousands on a screen: as columns of one picture. A
// rectangle of the canvas for each of them takes 4 to 5 times as long without a graphics card.

const MOST_RECTANGLES = 3000; // below which rectangles are quicker than a picture of the whole screen

/** Cells to paint, in numbers: left, width and top in pixels, and the place of their colour. */
export class Columns {
  private left = new Float64Array(4096);
  private wide = new Float64Array(4096);
  private top = new Float64Array(4096);
  private alpha = new Float64Array(4096);
  private colour = new Uint16Array(4096);
  private count = 0;
  private colours: string[] = [];
  private places = new Map<string, number>();
  private picture: {
    canvas: HTMLCanvasElement;
    context: CanvasRenderingContext2D;
    image: ImageData;
    pixels: Uint32Array;
  } | null = null;
  private readonly known = new Map<string, number>();

  /** Forgets the cells of the frame before. */
  clear(): void {
    this.count = 0;
    this.colours = [];
    this.places.clear();
  }

  add(left: number, wide: number, top: number, alpha: number, colour: string): void {
    let place = this.places.get(colour);
    if (place === undefined) {
      if (this.colours.length > 0xffff) return;
      place = this.colours.length;
      this.places.set(colour, place);
      this.colours.push(colour);
    }
    if (this.count === this.left.length) this.grow();
    const i = this.count++;
    this.left[i] = left;
    this.wide[i] = wide;
    this.top[i] = top;
    this.alpha[i] = alpha;
    this.colour[i] = place;
  }

  private grow(): void {
    const larger = <T extends Float64Array | Uint16Array>(old: T, made: T): T => {
      made.set(old as never);
      return made;
    };
    const size = this.count * 2;
    this.left = larger(this.left, new Float64Array(size));
    this.wide = larger(this.wide, new Float64Array(size));
    this.top = larger(this.top, new Float64Array(size));
    this.alpha = larger(this.alpha, new Float64Array(size));
    this.colour = larger(this.colour, new Uint16Array(size));
  }

  /** Paints them all, `high` pixels each. */
  paint(context: CanvasRenderingContext2D, high: number): void {
    if (this.count <= MOST_RECTANGLES) {
      for (let i = 0; i < this.count; i++) {
        context.globalAlpha = this.alpha[i]!;
        context.fillStyle = this.colours[this.colour[i]!]!;
        context.fillRect(this.left[i]!, this.top[i]!, this.wide[i]!, high);
      }
      context.globalAlpha = 1;
      return;
    }
    const { width, height } = context.canvas,
      ratio = context.getTransform().a;
    const { canvas, context: own, image, pixels } = this.sized(width, height);
    const inks = this.colours.map((colour) => this.ink(colour, own));
    let low = height,
      end = 0;
    for (let i = 0; i < this.count; i++) {
      const from = Math.max(Math.round(this.top[i]! * ratio), 0),
        to = Math.min(Math.round((this.top[i]! + high) * ratio), height);
      if (to <= from) continue;
      if (from < low) low = from;
      if (to > end) end = to;
      const opacity = Math.round(this.alpha[i]! * 255),
        pixel = ((opacity << 24) | inks[this.colour[i]!]!) >>> 0;
      const x0 = Math.max(Math.round(this.left[i]! * ratio), 0);
      const x1 = Math.min(Math.max(Math.round((this.left[i]! + this.wide[i]!) * ratio), x0 + 1), width);
      for (let x = x0; x < x1; x++) {
        if (pixels[from * width + x]! >>> 24 > opacity) continue; // the stronger of two in one column is seen
        for (let at = from * width + x, last = to * width; at < last; at += width) pixels[at] = pixel;
      }
    }
    if (end <= low) return;
    own.putImageData(image, 0, 0, 0, low, width, end - low);
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(canvas, 0, low, width, end - low, 0, low, width, end - low);
    context.restore();
    pixels.fill(0, low * width, end * width);
  }

  private sized(width: number, height: number): NonNullable<typeof this.picture> {
    if (this.picture?.canvas.width !== width || this.picture.canvas.height !== height) {
      const canvas = document.createElement("canvas");
      canvas.width = width;
      canvas.height = height;
      const context = canvas.getContext("2d", { willReadFrequently: true })!,
        image = context.createImageData(width, height);
      this.picture = { canvas, context, image, pixels: new Uint32Array(image.data.buffer) };
    }
    return this.picture;
  }

  /** Blue, green and red of a colour of CSS, as a pixel has them. */
  private ink(colour: string, context: CanvasRenderingContext2D): number {
    let found = this.known.get(colour);
    if (found === undefined) {
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
      context.clearRect(0, 0, 1, 1);
      found = (blue! << 16) | (green! << 8) | red!;
      this.known.set(colour, found);
    }
    return found;
  }
}
