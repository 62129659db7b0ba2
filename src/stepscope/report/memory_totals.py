"""Memory of recordings that have only totals: what allocators gave for each op, not when."""

import shlex
from collections.abc import Sequence

from stepscope import units
from stepscope.library.statements import Query, statement, text
from stepscope.report import document_keys
from stepscope.report.parts import Chart, Column, Report, Section, Table

_MOST = 10
_TYPES = (
    Column("op_type", "text", "Op type"),
    Column("requested_bytes", "bytes", "Given", "what allocators gave for it in all"),
    Column("output_bytes", "bytes", "Outputs", "bytes of its outputs"),
    Column("runs", "int", "Runs", "executions with a total"),
    Column("outputs", "int", "Tensors", "outputs that were recorded"),
)


def build(query: Query, paths: Sequence[str], *, all: bool) -> Report | None:
    """The report of totals; None if there are none. all: every type of op."""
    rows = query(statement("memory_totals")).rows()
    runs, given, outputs, shaped, placed, size = (sum(row[at] for row in rows) for at in range(1, 7))
    if not given and not size:
        return None
    table = Table(
        _TYPES,
        tuple(
            (kind, asked, held, times, made)
            for kind, times, asked, made, _, _, held in rows[: None if all else _MOST]
        ),
        len(rows),
    )
    chart = Chart("bar", "op_type", ("requested_bytes",), "Given by op type")
    section = Section(
        "by_op_type",
        "By op type",
        "Which types of op were given most?",
        _sentences(runs, outputs, shaped, placed, size),
        table,
        chart,
        text("memory_totals"),
    )
    total = f"Allocators gave {_bytes(given)} in all for {units.count(runs, 'execution')}."
    where = shlex.join(paths)
    return Report(
        "Memory in totals",
        (total, "No peak is known: it was not recorded when bytes were given and taken back."),
        (section,),
        next_commands=(
            f"stepscope tfprof op {where} -select bytes,output_bytes,occurrence -order_by bytes",
            f'stepscope query {where} "{" ".join(text("largest_outputs", most=20).split())}"',
        ),
        document={
            **document_keys.memory([]),
            "totals": [dict(zip((column.name for column in _TYPES), row, strict=True)) for row in table.rows],
        },
    )


def _sentences(runs: int, outputs: int, shaped: int, placed: int, size: int) -> tuple[str, ...]:
    sentences = []
    if outputs:
        sentences.append(
            f"{units.count(outputs, 'output')} of {_bytes(size)} {units.agree(outputs, 'was', 'were')} "
            f"recorded, {shaped:,} with a shape and {placed:,} with an address (table `tensor`)."
        )
    if runs:
        sentences.append(
            "The totals are those of each execution. A later TensorFlow, which records each allocation, or "
            "partition graphs (output_partition_graphs=True) give a curve and a peak."
        )
    return tuple(sentences)


def _bytes(value: int) -> str:
    return units.show(value, "bytes")
