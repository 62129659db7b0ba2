"""The Chrome trace that TensorFlow's own Timeline makes of a traced step: the same events, oddities included.

Its lanes are not threads, and its ids begin at 0 in every file, so do not merge such files by hand. The
exporter of Chrome traces (chrome_trace.py) writes better ones; this style is for tools built on TensorFlow's.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from stepscope import _core
from stepscope.errors import UnreadableSource, UsageError
from stepscope.exporters import Written
from stepscope.exporters.packing import Gzip
from stepscope.exporters.staging import staged
from stepscope.formats import run_metadata
from stepscope.sources.source import Source
from stepscope.sources.spool import Spool

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

OpTime = Literal["schedule", "gpu", "all"]
"""The times of an op: its scheduling; its kernels on a GPU; from the first to the last of both."""


def write(
    trace: OpenTrace,
    out: str,
    *,
    dataflow: bool = True,
    memory: bool = False,
    op_time: OpTime = "schedule",
    force: bool = False,
) -> Written:
    """Writes the one RunMetadata (or StepStats) of a trace; "-" is stdout, an ending .gz packs.

    UsageError when there is not exactly one; UnreadableSource when it holds no step statistics;
    OutputError when `out` is there already or cannot be written.
    """
    source = _only(trace)
    text, events, notes = make(source, dataflow=dataflow, memory=memory, op_time=op_time)
    if out == "-":
        sys.stdout.write(text)
    else:
        with staged(Path(out), force=force) as part, part.open("wb") as file:
            packing = Gzip(file) if out.lower().endswith(".gz") else contextlib.nullcontext(file)
            with packing as sink:
                sink.write(text.encode())
    return Written(out, {"event": events}, notes)


def make(
    source: Source, *, dataflow: bool = True, memory: bool = False, op_time: OpTime = "schedule"
) -> tuple[str, int, tuple[str, ...]]:
    """The text, its number of events, and remarks. UnreadableSource as in write()."""
    spool = Spool()
    try:
        place = source.spooled or spool.reach(source.bytes, source.path)
        text, events, lost, damage = _core.tf_timeline(
            place.input(), dataflow=dataflow, memory=memory, op_time=op_time
        )
    except _core.CoreError as error:
        raise _unreadable(source, error.seen) from error
    except (OSError, KeyError, ValueError) as error:
        raise _unreadable(source, str(error)) from error
    finally:
        spool.close()
    notes = []
    if damage is not None:
        offset, seen = damage
        what = f"{lost} executions are missing: " if lost else "what comes before is shown: "
        notes.append(
            f"the recording is damaged at byte {offset:,} ({seen}); {what}TensorFlow would refuse it"
        )
    return text, events, tuple(notes)


def _only(trace: OpenTrace) -> Source:
    todo = (
        "name one RunMetadata file; without --style, `stepscope export` merges any recordings into one trace"
    )
    found = [
        source
        for source in trace.sources
        if isinstance(source, Source) and source.format == run_metadata.NAME
    ]
    if len(found) == 1:
        return found[0]
    raise UsageError(
        "The style of TensorFlow's Timeline shows one traced step.",
        seen=f"{len(found)} RunMetadata files among {len(trace.sources)} sources",
        todo=todo,
    )


def _unreadable(source: Source, seen: str) -> UnreadableSource:
    return UnreadableSource(
        "There is no timeline in this file.",
        seen=seen,
        todo="record with trace_level=FULL_TRACE and give the RunMetadata of that run",
        path=source.path,
    )
