"""The programs that XPlanes keep, as the same tables as those of dump folders: hlo_module, hlo_computation,
hlo_instruction, hlo_buffer and hlo_allocation.

A slice of XLA names an instruction (`fusion.30`) and its program. The program tells which op of the framework
that was (`jit(f)/layer/dot_general`), which calls of Python made it, and what it costs. It is what runs: no
stage before it is kept, so that rows have no pass.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stepscope import _core, units
from stepscope._core import Input, Store
from stepscope.escapes import printable
from stepscope.formats.xla import dump_names, dump_tables, dumps, hlo_protos
from stepscope.sources.source import Source
from stepscope.sources.spool import Spool
from stepscope.store_rows import add_notes, note, put


def fill(store: Store, source: Source, spool: Spool) -> None:
    """Adds the tables to those of an XPlane. A program that is damaged has no rows, which a note says; its
    instructions stay in the scope of their module. CoreError when the store cannot be written."""
    known: list[tuple[str, str]] = []
    data, unread = hlo_protos.bytes_of(source, spool)

    def given() -> Iterator[tuple[Input, int, None, str, str, None]]:
        for number, proto in hlo_protos.programs(data):
            known.append((number, printable(hlo_protos.module_of(proto))))
            yield _core.Input.bytes(bytes(proto)), len(known) - 1, None, *known[-1], None

    found = _core.hlo_tables(store, given())
    rows: list[dict[str, Any]] = []
    damaged: list[tuple[str, str]] = []
    compiles: Counter[str] = Counter()
    for at, ((number, module), summary) in enumerate(zip(known, found, strict=True)):
        if not isinstance(summary, dict):
            damaged.append((f"{module}({number})", summary[1] if summary else ""))
            continue
        function = printable(dump_names.function(module))
        compiles[function] += 1
        rows.append(
            {
                "id": at,
                "program_id": number,
                "module": module,
                "function": function,
                "compile": compiles[function],
                "folder": None,
                "file": printable(Path(source.path).name),
                "stage": None,
                "parameters": printable(summary["parameters"]) or None,
                "partitions": summary["partitions"],
                "is_final": True,
                **dict.fromkeys(("stages", "passes", "changing_passes"), 0),
                **dump_tables.figures(dumps.figures(summary)),
            }
        )
    put(store, "hlo_module", rows)
    add_notes(
        store, *dump_tables.notes_about("damaged-module", "missing", damaged, "could not be read", "program")
    )
    if unread is not None:  # not all bytes of the file were had a second time
        read = units.count(len(rows), "program") if rows else "none"
        detail = f"programs that XLA compiled were read as far as the file goes, {read}: {unread}"
        add_notes(store, note("programs-unread", "missing", printable(detail)))
