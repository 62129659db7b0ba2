"""Opens what a command line names, with a progress bar for what takes longer than a second."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope import units
from stepscope.cli.console import Console
from stepscope.cli.progress import Bar, bar
from stepscope.presenters.plain import plain

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace
    from stepscope.sources.source import Skipped

_SKIPPED_TOLD = 5


@contextlib.contextmanager
def opened(
    options: argparse.Namespace, console: Console, memory_bytes: int | None = None, *, last: bool = True
) -> Iterator[tuple[OpenTrace, Bar]]:
    """The Trace of the paths or the lake in `options`, and the bar to stop before results are written.
    memory_bytes: the most for SQL. last: no other one is opened after it, so that its memory goes with the
    process. Decoding happens at the first query."""
    from stepscope.cli.engine_options import engine_of
    from stepscope.session import trace

    engine = engine_of(options, console)
    with bar(console) as shown:
        # Verbs that compare do not offer a part of a lake.
        only = trace.Only(getattr(options, "run", None), getattr(options, "host", None))
        found = trace.open(
            *options.paths,
            cache=not options.no_cache,
            lake=options.lake,
            engine=engine,
            only=only,
            looking=shown.counting,
            memory_bytes=memory_bytes,
        )
        found.watch(shown.update, shown.asking)
        try:
            tell_skipped(found.skipped, console)
            yield found, shown
        except BaseException:
            found.close()
            raise
        if last:
            found.leave()
        else:
            found.close()


@contextlib.contextmanager
def watched(paths: Sequence[str | Path], console: Console, *, cache: bool = True) -> Iterator[OpenTrace]:
    """The Trace of some paths, for verbs that write nothing while it is open. A bar shows what it reads and
    asks."""
    from stepscope.session import trace

    with bar(console) as shown, trace.open(*paths, cache=cache, looking=shown.counting) as found:
        found.watch(shown.update, shown.asking)
        yield found


def tell_skipped(skipped: Sequence[Skipped], console: Console) -> None:
    """Says which files were found but not read. Files that are not recordings are left out, and a second
    form of the same recording is not news: a note of its source says so."""
    skipped = [source for source in skipped if source.slug != "same-capture"]
    for source in skipped[:_SKIPPED_TOLD]:
        console.say(f"not read: {plain(source.path)}: {plain(source.detail)} (stepscope docs {source.slug})")
    if len(skipped) > _SKIPPED_TOLD:
        console.say(f"not read: {units.count(len(skipped) - _SKIPPED_TOLD, 'more file')}")
