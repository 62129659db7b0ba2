"""The process that runs the SQL of a page: it opens the same recordings, and then can do nothing but answer.

It reads messages from standard input (see frames.py): first the settings, then statements, and "stop" while
one runs. It ends when its input ends.
"""

import io
import os
import sys
import threading
import time
from queue import SimpleQueue
from typing import Any, BinaryIO

from stepscope import config
from stepscope.engines import QueryResult
from stepscope.errors import LimitReached, QueryError, StepscopeError
from stepscope.library.statements import statement
from stepscope.presenters import rows
from stepscope.server.console import confine, frames
from stepscope.server.console.rows import fit
from stepscope.session import trace
from stepscope.session.trace import OpenTrace


class Worker:
    """Opens the trace and answers one statement after the other, in a thread of its own."""

    def __init__(self, settings: dict[str, Any], out: BinaryIO) -> None:
        self._settings, self._out = settings, out
        self._asked: SimpleQueue[dict[str, Any]] = SimpleQueue()
        self.trace: OpenTrace | None = None
        self.running = threading.Event()
        threading.Thread(target=self._work, daemon=True).start()

    def put(self, asked: dict[str, Any]) -> None:
        """Takes a statement."""
        self.running.set()
        self._asked.put(asked)

    def stop(self) -> None:
        """Stops the running statement."""
        while self.running.is_set():
            if self.trace is not None:
                self.trace.interrupt()
            time.sleep(0.05)  # it may not have begun when it was interrupted

    def _work(self) -> None:
        try:
            self._open()
        except StepscopeError as error:
            frames.write(self._out, {"ready": False, "error": _refusal(error)})
            os._exit(1)
        frames.write(self._out, {"ready": True})
        while True:
            asked = self._asked.get()
            try:
                header, body = self._answer(asked)
            except LimitReached as error:
                # An engine's advice helps only outside the console.
                limit = error if error.slug != LimitReached.slug else _too_much(error.seen)
                header, body = {"error": _refusal(limit)}, b""
            except StepscopeError as error:
                header, body = {"error": _refusal(error)}, b""
            except MemoryError:
                header, body = {"error": _refusal(_too_much("an allocation that was refused"))}, b""
            except Exception as error:  # noqa: BLE001 - the server must not wait for an answer that never comes
                header, body = {"error": _refusal(_unexpected(error))}, b""
            finally:
                self.running.clear()
            frames.write(self._out, header, body)

    def _open(self) -> None:
        given = self._settings
        self.trace = trace.open(*given["paths"], cache=given["cache"], lake=given["lake"])
        self.trace.query(statement("sources")).rows()  # decodes what the cache lacks, which takes memory
        confine.limit_memory(given["memory_bytes"])

    def _answer(self, asked: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        assert self.trace is not None
        given = self._settings
        confine.limit_cpu(given["cpu_seconds"])
        begun = time.monotonic()
        result = self.trace.query(asked["sql"])
        header: dict[str, Any] = {"columns": list(result.columns), "types": list(result.types)}
        if asked["form"] is None:
            found = fit(result, given["most_rows"], given["most_bytes"])
            header |= {"rows": found.number, "cut": found.cut}
            body = f"[{found.text}]".encode("ascii")
        else:
            body = _download(result, asked["form"], given["most_download_bytes"])
        header["ms"] = round((time.monotonic() - begun) * 1000)
        return header, body


class _Bounded(io.StringIO):
    """Text up to a size. LimitReached beyond it."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def write(self, text: str, /) -> int:
        if self.tell() + len(text) > self._most:
            raise LimitReached(
                "The result is too large for a download.",
                seen=f"more than {self._most:,} characters",
                todo="ask for fewer rows, or write the file with `stepscope query` or `stepscope export`",
                slug="download-too-large",
            )
        return super().write(text)


def _download(result: QueryResult, form: str, most: int) -> bytes:
    """All rows as CSV or JSON, or as the JSON that parquet.py reads. LimitReached when there are too many:
    rows are never cut."""
    out = _Bounded(most)
    every = (row for batch in result.batches(1000) for row in batch)
    if form == "csv":
        rows.write_csv(result.columns, every, out, spreadsheet=True)
    elif form == "parquet":
        out.write("[")
        for number, row in enumerate(every):
            out.write(f"{',' if number else ''}[{','.join(map(rows.json_value, row))}]")
        out.write("]")
    else:
        rows.write_json(result.columns, every, out)
    return out.getvalue().encode("utf-8", "backslashreplace")


def _refusal(error: StepscopeError) -> dict[str, str]:
    return {
        "kind": type(error).__name__,
        "slug": error.slug,
        "what": error.happened,
        "seen": error.seen[:4000],
        "to_do": error.todo,
    }


def _unexpected(error: Exception) -> QueryError:
    return QueryError(
        "The console failed at this statement.",
        seen=f"{type(error).__name__}: {error}",
        todo="this is a bug of stepscope: report the statement; meanwhile, write it in another way",
        slug="unexpected",
    )


def _too_much(seen: str) -> LimitReached:
    return LimitReached(
        "The query needs more memory than the console may use.",
        seen=seen,
        todo="ask for fewer rows or columns; `stepscope query` has all of the machine's memory",
    )


def main() -> None:
    """Runs until standard input ends."""
    source, out = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of libraries is not a message
    first = frames.read(source)
    if first is None:
        return
    settings = first[0]
    config.limit_process(settings["memory_bytes"] // 2, settings["threads"])
    confine.forbid_writing()
    confine.give_way()
    worker = Worker(settings, out)
    while (message := frames.read(source)) is not None:
        if message[0].get("stop"):
            worker.stop()
        else:
            worker.put(message[0])
    os._exit(0)
