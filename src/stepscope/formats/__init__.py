"""Decodes files: one module per format, found by listing this package.

A module of this package is a format. It has

    NAME                          its name, as in source.format: chrome_trace, xplane, run_metadata, …
    sniff(head, name) -> bool     does this look like the format? `head` is the unpacked beginning of the
                                  file, at most HEAD_BYTES; a shorter head is the whole file. `name` is the
                                  base name without packing suffixes: a hint, never a proof. It must be cheap,
                                  and return True or False for any bytes.
    build(pieces) -> Store        its tables. `pieces` reads the file and those beside it, and decodes what
                                  the native core decodes.

and, where the format is special,

    TRAITS = Traits(kind="graph") what holds of all its files: kind, steps, … (stepscope.sources.source)
    WRITERS = {"toy": Writer()}   what is known of its writers, by the producer that build() names
    TWINS = (rule, …)             rules that find files which say again what another of their folder says
    COPIES = (rule, …)            such rules that compare the files of all folders by their content
    CACHED = False                the cache cannot know it by one file, or keeping it saves nothing
    fill(store, source, spool)    adds tables to those of build() where all are asked for
    steps(pieces)                 the times of steps that a recorder wrote beside it: tuples of number, begin
                                  and end in Unix nanoseconds, and whether it was recorded. In order, and
                                  none within another. They count where no marks among the slices delimit
                                  steps, each cut to the time of the events; one of which less than 60 % lies
                                  in it is left out, and of averages one of which less than 95 % does, where
                                  others are whole. None when build() has stored the steps, or no time is
                                  known in which steps could be.

Exactly one format may claim a file; a test runs all sniffers on all samples. Modules whose name begins
with an underscore belong to formats. Nothing outside this package asks for a format by its name: what others
need to know of one is a trait, or a column of the table source.
"""

import codecs
import importlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from stepscope._core import Store
from stepscope.formats._pieces import Pieces as Pieces
from stepscope.formats._pieces import Unreadable as Unreadable
from stepscope.sources.head import OP_LOG
from stepscope.sources.same_capture import Rule
from stepscope.sources.source import Source, Traits
from stepscope.sources.spool import Spool

HEAD_BYTES = 65536
"""How much of the unpacked file a sniffer may see."""

Step = tuple[int, int, int, bool]
"""Number, begin and end in Unix nanoseconds, and whether it was recorded."""


class Writer(NamedTuple):
    """A writer of recordings."""

    framework: str | None = None
    """Whose programs it records, as the library calls them."""
    of_session: bool = False
    """It records one run of a session at a time."""


WRITERS = {
    "autograd": Writer("pytorch"),
    "jax": Writer("jax"),
    "kineto": Writer("pytorch"),
    "step_stats": Writer("tensorflow", of_session=True),
    "tf_profiler": Writer("tensorflow"),
    "tf_timeline": Writer("tensorflow", of_session=True),
}
"""Those of several formats, by the names that decoders give them. A format adds its own as WRITERS."""


class Damaged(Exception):
    """The bytes are not what the format promises; says so in a sentence."""


class NothingTimed(Damaged):
    """The file is whole, and nothing that it holds has a duration."""

    def __init__(self, seen: str, todo: str) -> None:
        super().__init__(seen)
        self.todo = todo


def _no_steps(pieces: Pieces) -> Sequence[Step] | None:
    return ()


def timeless(pieces: Pieces) -> None:
    """`steps` of formats that hold no times, such as checkpoints: there are none to recover."""


class Format(NamedTuple):
    """All that is special of a format; see the module's docstring."""

    NAME: str
    sniff: Callable[[bytes, str], bool]
    build: Callable[[Pieces], Store]
    steps: Callable[[Pieces], Sequence[Step] | None] = _no_steps
    traits: Traits = Traits()
    writers: Mapping[str, Writer] = WRITERS
    twins: Sequence[Rule] = ()
    copies: Sequence[Rule] = ()
    cached: bool = True
    fill: Callable[[Store, Source, Spool], None] | None = None


@cache
def formats() -> tuple[Format, ...]:
    """All formats, in the order of their modules' names."""
    # Not pkgutil: what it imports takes longer than all formats.
    files = (path.name for folder in __path__ for path in Path(folder).iterdir())
    names = sorted(name.removesuffix(".py") for name in files if name.endswith(".py") and name[0] != "_")
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return tuple(
        Format(
            module.NAME,
            module.sniff,
            module.build,
            getattr(module, "steps", _no_steps),
            getattr(module, "TRAITS", Traits()),
            {**WRITERS, **getattr(module, "WRITERS", {})},
            getattr(module, "TWINS", ()),
            getattr(module, "COPIES", ()),
            getattr(module, "CACHED", True),
            getattr(module, "fill", None),
        )
        for module in modules
    )


def recognise(head: bytes, name: str) -> Format | None:
    """The format that claims the head, or None. A byte order mark, which some editors put before text, is
    skipped. If two formats claim it, the first by module name wins, so the answer never depends on chance."""
    head = head.removeprefix(codecs.BOM_UTF8)
    return next((fmt for fmt in formats() if fmt.sniff(head, name)), None)


def described(head: bytes, name: str) -> str | None:
    """What a file is that no format claims and a verb of its own reads."""
    from stepscope.formats.models import op_log

    return OP_LOG if op_log.fits(head, name) else None


def named_format(name: str) -> Format:
    """The format with this NAME; KeyError when there is none."""
    for fmt in formats():
        if name == fmt.NAME:
            return fmt
    raise KeyError(name)


def traits(name: str) -> Traits:
    """What holds of all files of the format with this NAME; nothing special where there is none."""
    return next((fmt.traits for fmt in formats() if name == fmt.NAME), Traits())


def twins() -> Sequence[Rule]:
    """The rules of all formats about files that say again what another of their folder says."""
    return [rule for fmt in formats() for rule in fmt.twins]


def copies() -> Sequence[Rule]:
    """The rules of all formats about files that say again what another of any folder says."""
    return [rule for fmt in formats() for rule in fmt.copies]


def numbered(sources: Sequence[Source]) -> list[Source]:
    """The sources of one folder, with numbers of steps where only their content tells an order."""
    from stepscope.formats import _session_runs

    return _session_runs.numbered(sources)


def writer(name: str, producer: str) -> Writer:
    """What the format with this NAME knows of a writer."""
    return next((fmt.writers.get(producer, Writer()) for fmt in formats() if name == fmt.NAME), Writer())
