"""Programs that XLA compiled, as its dump folders have them: HloProto, HloModuleProto, HloSnapshot or HLO
text, one file for each stage and pass of a module. All files of a folder are one source: they tell of the
same compiles, and a folder may have thousands.

The names of the files say which module, stage and pass each is of; `formats.xla` reads them. They hold no
time.
"""

import re
from itertools import islice

from stepscope._core import Store
from stepscope.formats import Pieces, timeless
from stepscope.formats.xla import dump_names
from stepscope.protobuf import fields
from stepscope.sources.source import Source, Traits
from stepscope.sources.spool import Spool

NAME = "xla_dump"
TRAITS = Traits(kind="dump", endings=(".pbtxt", ".txt", ".pb"))
CACHED = False
"""A dump is many files."""
_TEXT = re.compile(rb"(?:\s|/\*(?:[^*]|\*(?!/))*\*/|//[^\n]*\n)*HloModule [^\s,]")
"""A module may follow comments."""
_OPCODE = re.compile(rb"[a-z][a-z0-9-]*")


def sniff(head: bytes, name: str) -> bool:
    """A name of a stage or pass in a dump folder, or the first instruction of a program whatever the name."""
    named = dump_names.named(name)
    if named is not None and named.place in ("before", "pass", "after"):
        return named.suffix in dump_names.MODULES
    if _TEXT.match(head):
        return True
    data = memoryview(head)
    return any(_is_module(data, wrapped) for wrapped in range(3))


def _is_module(data: memoryview, wrapped: int) -> bool:
    """Whether bytes begin with a module, within so many messages: none, HloProto, or that in HloSnapshot."""
    for number, wire, body, _ in fields(data):
        if wire != 2 or number > 3:
            return False
        if wrapped:
            return number == 1 and _is_module(body, wrapped - 1)
        if number == 3:  # computations
            return _is_computation(body)
        if not _is_name(body):
            return False
    return False


def _is_computation(data: memoryview) -> bool:
    """Whether bytes are a computation: a name, then instructions."""
    for number, wire, body, _ in fields(data):
        if wire != 2 or number > 2:
            return False
        if number == 2:
            return _is_instruction(body)
        if not _is_name(body):
            return False
    return False


def _is_instruction(data: memoryview) -> bool:
    """Whether bytes begin with a name and an opcode."""
    found = list(islice(fields(data), 2))
    if [field[:2] for field in found] != [(1, 2), (2, 2)]:
        return False
    return _OPCODE.fullmatch(bytes(found[1][2])) is not None


def _is_name(body: memoryview) -> bool:
    return len(body) <= 4096 and all(byte >= 0x20 for byte in body)


def build(pieces: Pieces) -> Store:
    """An empty store, to be filled."""
    return pieces.build()


def fill(store: Store, source: Source, spool: Spool) -> None:
    """Fills the tables: figures of stages depend on the stages before them."""
    from stepscope.formats.xla import dump_tables

    dump_tables.fill(store, source, spool)


steps = timeless
