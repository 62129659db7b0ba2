"""Writes a trace in other formats: one module per kind of file, found by listing this folder.

An exporter is a module with

    EXTENSIONS   the endings it writes, such as (".ndjson", ".jsonl")
    TEXT         whether it writes from beginning to end: the file may go to stdout, or be packed (.gz)
    SHOWN        optional: what a terminal gets for a chunk of the text, such as escapes.escaped_json;
                 without it the file is binary and is not written to a terminal
    DEFAULT      the table it writes when none is named; None when it writes all of them
    write(trace, out, table) -> Written     writes `out`: a file that is not there yet, or a pipe
    leaving(parts) -> write                 optional: a write() that leaves these parts out (dataflow, memory)
    write_spreadsheet                       optional: a write() whose text is never a formula
    IN_PLACE                                optional: whether files say where they lie, so that they are
                                            written there, and taken back if that fails

`write` below chooses by the ending, and sees to it that a file appears whole or not at all. Exporters
compute nothing: they give rows another form.
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from stepscope import library
from stepscope.errors import UsageError
from stepscope.exporters.packing import Gzip
from stepscope.exporters.staging import Sink, cannot_write, placed, pumped, staged
from stepscope.exporters.terminal_text import Showing

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

EVENTS = "event"
"""Name of the flat table that exporters of lines write: every slice, instant, counter and flow, one per
row."""


@dataclass(frozen=True)
class Written:
    """What was written: rows by table, and remarks for the reader, a sentence each."""

    path: str
    rows: dict[str, int]
    notes: tuple[str, ...] = ()


class Exporter(Protocol):
    """The contents of a module of this package."""

    @property
    def EXTENSIONS(self) -> tuple[str, ...]:
        """Endings of file names, with their dots."""

    @property
    def TEXT(self) -> bool:
        """Whether it may be written to stdout."""

    @property
    def DEFAULT(self) -> str | None:
        """The default table; None for all."""

    def write(self, trace: OpenTrace, out: Path, table: str | None) -> Written:
        """Writes `out`. OutputError when that fails."""


@cache
def exporters() -> dict[str, Exporter]:
    """The exporters by ending. Endings of text may be followed by .gz."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return {
        extension: cast("Exporter", module)
        for module in modules
        if hasattr(module, "EXTENSIONS")
        for extension in module.EXTENSIONS
    }


def choose(name: str) -> tuple[Exporter, bool]:
    """The exporter for a file name or an ending (".csv", "csv"), and whether to pack its output. UsageError
    for an unknown ending."""
    packed = name.lower().endswith(".gz")
    lower = name.lower().removesuffix(".gz")
    if name.endswith("/"):
        lower = ".parquet"
    elif "." not in lower:
        lower = "." + lower
    # The longest first: .speedscope.json is not Chrome's .json.
    for extension, exporter in sorted(exporters().items(), key=lambda item: -len(item[0])):
        if lower.endswith(extension) and (exporter.TEXT or not packed):
            return exporter, packed
    raise UsageError(
        f"No exporter writes {name!r}.",
        seen=f"endings known: {', '.join(sorted(exporters()))}; text also with .gz",
        todo="choose one of these endings; a folder (with / at its end) takes one Parquet file per table",
        slug="unknown-ending",
    )


def _writer(
    exporter: Exporter, leave_out: frozenset[str] | None, spreadsheet: bool, named: str
) -> Callable[..., Written]:
    """The function of an exporter that writes what was asked for. UsageError for what it cannot write. named:
    the kind of file, as the user named it."""
    put: Callable[..., Written] = exporter.write
    if leave_out is not None:
        leaving = getattr(exporter, "leaving", None)
        if leaving is None:
            raise UsageError(
                "Only a Chrome trace can be written with or without its arrows or its memory.",
                seen=f"{named} and an option of Chrome traces",
                todo="leave the option out, or write .json",
            )
        put = leaving(leave_out)
    if spreadsheet:
        safe = getattr(exporter, "write_spreadsheet", None)
        if safe is None:
            raise UsageError(
                "Only CSV has formulas.",
                seen=f"{named} and --spreadsheet",
                todo="leave the option out, or write .csv",
            )
        put = safe
    return put


def write(
    trace: OpenTrace,
    out: str | PathLike[str],
    *,
    table: str | None = None,
    force: bool = False,
    format: str | None = None,
    leave_out: frozenset[str] | None = None,
    spreadsheet: bool = False,
) -> Written:
    """Writes a trace to `out`; "-" is stdout, with `format` (an ending) as the format. table: a table of the
    schema, a view of the library or `event`, instead of the exporter's default. force: replace an existing
    file. leave_out: parts of a Chrome trace, dataflow or memory; None leaves out memory, which draws rows a
    second time and would be read back as rows.

    UsageError for an unknown ending or table, or parts that this kind of file lacks; OutputError when the
    file exists or cannot be written; then nothing is left behind. BrokenPipeError when the reader of stdout
    has gone.
    """
    name = fspath(out)
    if name == "-" and format is None:
        raise UsageError(
            "Nothing says what to write to stdout.",
            seen="no format and the file name '-'",
            todo=f"name one of the text formats: {_text_formats()}",
            slug="no-format",
        )
    exporter, packed = choose(format or name)
    put = _writer(exporter, leave_out, spreadsheet, format or name)
    known = (*trace.schema.names, *library.names("base"), EVENTS)
    if table is not None and table not in known:
        raise UsageError(
            f"There is no table {table!r}.",
            seen=f"tables: {', '.join(known)}",
            todo="choose one of them; `stepscope docs tables` explains them",
            slug="unknown-table",
        )
    if name != "-":
        place = placed if getattr(exporter, "IN_PLACE", False) else staged
        with place(Path(name), force=force) as part:
            if not packed:
                return replace(put(trace, part, table), path=name)
            with part.open("wb") as file, _pipe(file, packed) as pipe:
                return replace(put(trace, pipe, table), path=name)
    return replace(_write_to_stdout(trace, put, exporter, packed, format or "", table), path=name)


def _text_formats() -> str:
    return ", ".join(sorted(extension for extension, exporter in exporters().items() if exporter.TEXT))


def _write_to_stdout(
    trace: OpenTrace,
    put: Callable[..., Written],
    exporter: Exporter,
    packed: bool,
    format: str,
    table: str | None,
) -> Written:
    """Writes text, or the exporter's escaped form of it to a terminal."""
    if not exporter.TEXT:
        raise UsageError(
            f"{format} is not text and is not written to stdout.",
            seen="the file name '-'",
            todo=f"name a file, or one of the text formats: {_text_formats()}",
            slug="not-text",
        )
    sys.stdout.flush()
    sink: Sink = sys.stdout.buffer
    shown = None
    if sys.stdout.isatty():
        escape = getattr(exporter, "SHOWN", None)
        if escape is None or packed:
            raise UsageError(
                f"{format} is binary and is not written to a terminal.",
                seen="the file name '-', and stdout is a terminal",
                todo="name a file, or send stdout to a file or a pipe",
                slug="not-text",
            )
        sink = shown = Showing(sys.stdout.buffer, escape)
    try:
        with _pipe(sink, packed) as pipe:
            written = put(trace, pipe, table)
        if shown is not None:
            shown.flush()
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise cannot_write(Path("standard output"), error) from error
    return written


@contextlib.contextmanager
def _pipe(sink: Sink, packed: bool) -> Iterator[Path]:
    with contextlib.ExitStack() as stack:
        yield stack.enter_context(pumped(stack.enter_context(Gzip(sink)) if packed else sink))
