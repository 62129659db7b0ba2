// A frame of /api/timeline: a JSON header, then one typed array after the other, each laid over the answer as
// it is.

/** Cells of a window. A cell with count 1 is a slice; one with more stands for as many that are too dense
 * to draw. */
export interface Cells {
  fromPs: bigint;
  toPs: bigint;
  /** Slices in the window: the sum of count. */
  events: number;
  length: number;
  /** Place of the track among those that were asked for. */
  track: Uint32Array;
  depth: Uint32Array;
  /** Picoseconds after fromPs; negative where a slice began before. */
  start: Float64Array;
  width: Float64Array;
  count: Float64Array;
  /** Of the longest slice in the cell, as its id. */
  name: Uint32Array;
  /** Picoseconds of the cell that its slices cover. */
  busy: Float64Array;
  id: BigInt64Array;
}

interface Header {
  format: number;
  from_ps: string;
  to_ps: string;
  events: number;
  columns: { name: string; type: "u32" | "f64" | "i64"; length: number }[];
}

const KINDS = { u32: Uint32Array, f64: Float64Array, i64: BigInt64Array };
const padded = (bytes: number): number => Math.ceil(bytes / 8) * 8;

/** Reads a frame. Throws a RangeError or a SyntaxError when it is none. */
export function decode(buffer: ArrayBuffer): Cells {
  const bytes = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, bytes))) as Header;
  if (header.format !== 1) throw new RangeError(`a frame of format ${header.format}`);
  const columns: Record<string, unknown> = {};
  let at = padded(4 + bytes);
  for (const { name, type, length } of header.columns) {
    columns[name] = new KINDS[type](buffer, at, length);
    at += padded(length * KINDS[type].BYTES_PER_ELEMENT);
  }
  return {
    ...(columns as unknown as Cells),
    fromPs: BigInt(header.from_ps),
    toPs: BigInt(header.to_ps),
    events: header.events,
    length: header.columns[0]?.length ?? 0,
  };
}
