// Requests to the server that sent this page, or to the kernel of its notebook; nothing else is ever asked.
import { framed, place } from "./address";
import { carried } from "./carrier";

/** An error of the server: what happened, what was seen, what to do. */
export class Refused extends Error {
  constructor(
    readonly what: string,
    readonly seen: string,
    readonly toDo: string,
    readonly status = 0,
  ) {
    super(what);
  }
}

/** The reader stopped the answer. */
export class Stopped extends Error {}

const OWN = { "X-Stepscope": "1" };

/** How many times the server had opened the recordings when this page asked what there is: tracks have
 * other numbers each time. */
let opened: number | null = null;

async function answered(reply: Response): Promise<Response> {
  if (reply.ok) return reply;
  const { error } = (await reply.json()) as { error: { what: string; seen: string; to_do: string } };
  throw new Refused(error.what, error.seen, error.to_do, reply.status);
}

async function ask(path: string, request: RequestInit): Promise<Response> {
  if (framed) return answered(await carried(path, request));
  let reply: Response;
  try {
    const headers = {
      ...request.headers,
      ...(opened !== null && { "X-Stepscope-Opened": String(opened) }),
    } as Record<string, string>;
    reply = await fetch(path, { ...request, headers, credentials: "same-origin" });
  } catch (failure) {
    if (failure instanceof DOMException && failure.name === "AbortError") throw failure;
    throw new Refused(
      "The server does not answer.",
      String(failure),
      "Start `stepscope serve` again and open the URL that it prints.",
    );
  }
  return answered(reply);
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await ask(path, { headers: OWN, ...(signal && { signal }) })).json()) as T;
}

export async function getBytes(path: string, signal?: AbortSignal): Promise<ArrayBuffer> {
  return (await ask(path, { headers: OWN, ...(signal && { signal }) })).arrayBuffer();
}

export async function post(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  return ask(path, {
    ...(signal && { signal }),
    method: "POST",
    headers: { ...OWN, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** Saves an answer as a file of the reader's. */
export async function save(reply: Response, name: string): Promise<void> {
  const url = URL.createObjectURL(await reply.blob());
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}

/** A table of a file has the names of its columns once; here each row has them again. */
function inflated(_: string, value: unknown): unknown {
  const table = value as { columns?: { name: string }[]; rows?: unknown[] } | null;
  if (typeof table !== "object" || !Array.isArray(table?.columns) || !Array.isArray(table.rows)) return value;
  const names = table.columns.map((column) => column.name);
  return {
    ...table,
    rows: table.rows.map((row) =>
      Array.isArray(row) ? Object.fromEntries(names.map((name, i) => [name, row[i] as unknown])) : row,
    ),
  };
}

const dataElement = typeof document === "undefined" ? null : document.getElementById("stepscope-data");
/** Answers that came with the page, by route: a report is a file without a server. null when a server sent
 * the page. */
export const embedded: ReadonlyMap<string, unknown> | null =
  dataElement && new Map(Object.entries(JSON.parse(dataElement.textContent ?? "{}", inflated) as object));

const answers = new Map<string, Promise<unknown>>();
const coming = new Map<string, AbortController>();

/** Stops an answer of once() that has not come yet: the server stops its work when nobody waits for it. Who
 * waits for it here gets Stopped. */
export function stop(path: string): void {
  coming.get(path)?.abort();
}

/** A GET whose answer does not change while the page is open. A failure is not kept. */
export function once<T>(path: string): Promise<T> {
  if (embedded?.has(path)) return Promise.resolve(embedded.get(path) as T);
  let answer = answers.get(path) as Promise<T> | undefined;
  if (!answer) {
    const leave = new AbortController();
    coming.set(path, leave);
    answer = get<T>(path, leave.signal)
      .catch((failure: unknown) => {
        throw leave.signal.aborted ? new Stopped() : failure;
      })
      .finally(() => coming.delete(path));
    if (path === "/api/catalog")
      answer = answer.then((told) => {
        opened = (told as { opened?: number }).opened ?? null;
        return told;
      });
    answers.set(path, answer);
    answer.catch(() => answers.delete(path));
  }
  return answer;
}

/** Exchanges the token of the address for a cookie, and removes it from the address and the history at
 * once. */
export async function handOver(): Promise<void> {
  const token = /^#t=([A-Za-z0-9_-]+)$/.exec(location.hash)?.[1];
  if (!token) return;
  history.replaceState(null, "", location.pathname);
  place.value = ""; // which nothing else would tell
  await post("/api/session", { token });
}
