// Requests of a frame: to the page around it, which hands them to the kernel, and answers from there.

interface Answer {
  id: number;
  status: number;
  bytes: ArrayBuffer;
}
interface Waiting {
  done: (reply: Response) => void;
  failed: (why: unknown) => void;
}

const waiting = new Map<number, Waiting>();
let last = 0,
  listens = false;

function hear(e: MessageEvent): void {
  if (e.source !== parent) return;
  const { id, status, bytes } = e.data as Answer;
  waiting.get(id)?.done(new Response(bytes, { status }));
  waiting.delete(id);
}

/** The same as fetch() for what the page asks. */
export function carried(
  path: string,
  { method = "GET", body = null, signal }: RequestInit,
): Promise<Response> {
  if (!listens) addEventListener("message", hear);
  listens = true;
  const id = ++last;
  return new Promise((done, failed) => {
    waiting.set(id, { done, failed });
    signal?.addEventListener("abort", () => {
      // What is answered all the same finds nobody who waits for it.
      if (waiting.delete(id)) failed(new DOMException("nobody waits any more", "AbortError"));
    });
    parent.postMessage({ id, method, path, body }, "*");
  });
}
