"""What the bytes say: one module per format, found by listing this package.

A module of this package is a format when it has

    NAME     what stands in source.format: chrome_trace, xplane, run_metadata, event_file, graph
    DECODER  the name under which the native core decodes it (NAME, or NAME_text)
    sniff(head, name) -> bool     does this look like the format? `head` is the unpacked beginning of the
                                  file, at most HEAD_BYTES; a shorter head is the whole file. `name` is the
                                  base name without packing suffixes: a hint, never a proof. Cheap, and
                                  total: any bytes give True or False.
    finish(store, path) -> None   what is better said in Python than in the core: names of hosts, producer,
                                  derived small tables (store.rows, store.replace, store.update_facts).
                                  `path` is the base name of the source.

Exactly one format may claim a file; a test runs all sniffers on all samples. Modules whose name begins
with an underscore are no formats.
"""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from stepscope._core import Store

HEAD_BYTES = 65536
"""How much of the unpacked file a sniffer may see."""


class Format(Protocol):
    """What a module of this package offers."""

    @property
    def NAME(self) -> str:
        """Name of the format, as in source.format."""

    @property
    def DECODER(self) -> str:
        """Name under which the native core decodes it."""

    def sniff(self, head: bytes, name: str) -> bool:
        """True when the head looks like this format."""

    def finish(self, store: Store, path: str) -> None:
        """Completes the decoded store."""


@cache
def formats() -> tuple[Format, ...]:
    """All formats, in the order of their modules' names."""
    # Not pkgutil: what it imports takes longer than all formats.
    files = (path.name for folder in __path__ for path in Path(folder).iterdir())
    names = sorted(name.removesuffix(".py") for name in files if name.endswith(".py") and name[0] != "_")
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return tuple(cast("Format", module) for module in modules if hasattr(module, "DECODER"))


def recognise(head: bytes, name: str) -> Format | None:
    """The format that claims the head; None when nobody does.

    Should two claim it, the first by module name is taken, so that the answer never depends on chance.
    """
    return next((one for one in formats() if one.sniff(head, name)), None)


def by_decoder(decoder: str) -> Format:
    """The format with this DECODER; KeyError when there is none."""
    for one in formats():
        if decoder == one.DECODER:
            return one
    raise KeyError(decoder)
