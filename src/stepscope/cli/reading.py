"""Opens what a command line names, with a progress bar for what takes longer than a second."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.cli.console import Console
from stepscope.cli.progress import Bar, bar

if TYPE_CHECKING:
    from stepscope.trace import Trace


@contextlib.contextmanager
def opened(options: argparse.Namespace, console: Console) -> Iterator[tuple[Trace, Bar]]:
    """The Trace of the paths or the lake in `options`, and the bar to stop before results are written.
    Decoding happens at the first query."""
    from stepscope import trace

    with (
        bar(console) as shown,
        trace.open(
            *options.paths, cache=not options.no_cache, lake=options.lake, progress=shown.update
        ) as found,
    ):
        yield found, shown
