"""Memory of compiled programs as a report: classes, heaps, and who holds the peak."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stepscope import units
from stepscope.instruments.xla import memory
from stepscope.report import document_keys
from stepscope.report.advice import where
from stepscope.report.names import shortened
from stepscope.report.parts import Column, Report, Section, Table

if TYPE_CHECKING:
    from stepscope.instruments.xla.memory import ProgramMemory
    from stepscope.session.trace import OpenTrace

_MOST = 10
_CLASSES = (
    Column("of", "text", "Memory", "what it is for"),
    Column("bytes", "bytes", "Size"),
    Column("share", "ratio", "Share", "of all that a run takes"),
)
_HEAPS = (
    Column("needed_bytes", "bytes", "Needed", "the most that lives at once"),
    Column("reserved_bytes", "bytes", "Reserved", "size of the allocation"),
    Column("at", "text", "Peak at", "instruction after which the most lives"),
    Column("allocation", "int", "Allocation", "the one that holds the buffers of this heap"),
)
_HOLDERS = (
    Column("name", "text", "Holder"),
    Column("bytes", "bytes", "Held"),
    Column("share", "ratio", "Share", "of the peak"),
    Column("buffers", "int", "Buffers"),
)
_BUFFERS = (
    Column("of", "text", "Memory", "what it is for"),
    Column("bytes", "bytes", "Size"),
    Column("instruction", "text", "Instruction"),
    Column("shape", "text", "Shape"),
    Column("op", "text", "Op"),
    Column("line", "text", "Line"),
)
_WORDS = {
    "parameter": "parameters",
    "output": "outputs",
    "constant": "constants",
    "thread_local": "memory of threads",
    "temp": "temporaries",
}


def build(trace: OpenTrace) -> Report | None:
    """The report; None where no program says what memory it takes."""
    programs, total = memory.find(trace.query)
    if not programs:
        return None
    largest = programs[0]
    typed = where(trace)
    sentences = [_peak(largest)]
    if total > len(programs):
        sentences.append(f"{units.count(total - len(programs), 'smaller program')} left out.")
    sections = tuple(_section(program) for program in programs)
    return Report(
        title=f"Memory of {units.count(total, 'compiled program')}",
        headline=tuple(sentences),
        sections=sections,
        next_commands=() if typed is None else (f"stepscope query {typed} @hlo_memory",),
        document={**document_keys.memory([]), "programs": [_raw(program) for program in programs]},
    )


def _raw(program_memory: ProgramMemory) -> dict[str, Any]:
    """A program for programs, with the sizes as memory_analysis() names them."""
    classes = program_memory.classes
    return {
        "module": program_memory.module,
        "id": int(program_memory.id) if program_memory.id.isdecimal() else None,
        "file": program_memory.file,
        "argument_size_in_bytes": classes["parameter"],
        "output_size_in_bytes": classes["output"] + classes["alias"],
        "alias_size_in_bytes": classes["alias"],
        "temp_size_in_bytes": classes["temp"],
        "constant_bytes": classes["constant"],
        "thread_local_bytes": classes["thread_local"],
        "peak_bytes": program_memory.peak_bytes,
        "peak_memory_in_bytes": program_memory.jax_peak_bytes,
        "heaps": [heap._asdict() for heap in program_memory.heaps],
    }


def _name(program_memory: ProgramMemory) -> str:
    return f"{program_memory.module} ({program_memory.id})" if program_memory.id else program_memory.module


def _peak(program_memory: ProgramMemory) -> str:
    name = _name(program_memory._replace(module=shortened(program_memory.module)))
    return f"{name} takes {units.show(program_memory.peak_bytes, 'bytes')} while it runs."


def _section(program_memory: ProgramMemory) -> Section:
    """A program: its classes, heaps, and holders by op, line and buffer."""
    peak = max(program_memory.peak_bytes, 1)
    classes = sorted(
        ((name, program_memory.classes[key]) for key, name in _WORDS.items()), key=lambda row: -row[1]
    )
    rows = tuple((name, size, size / peak) for name, size in classes if size)
    parts = [Section("memory_classes", "Classes", "What is it for?", table=Table.whole(_CLASSES, rows))]
    if program_memory.heaps:
        heaps = tuple(tuple(heap) for heap in program_memory.heaps)
        table = Table.whole(_HEAPS, heaps)
        parts.append(
            Section(
                "memory_heaps",
                "Heap",
                "How much is needed at once?",
                tuple(filter(None, [_heap(program_memory)])),
                table,
            )
        )
    for what, title in (("op", "By op"), ("line", "By line")):
        found = _holders_table(program_memory, what)
        parts.append(Section(f"memory_by_{what}", f"{title}, at the peak", "Who holds it?", table=found))
    buffers = tuple(
        (
            _WORDS[held.of],
            held.bytes,
            held.instruction,
            held.shape,
            held.op_name,
            f"{held.file}:{held.line}" if held.file else None,
        )
        for held in program_memory.holders[:_MOST]
    )
    table = Table(_BUFFERS, buffers, len(program_memory.holders))
    parts.append(Section("memory_buffers", "Largest buffers", "What is large?", table=table))
    return Section(
        "program_memory",
        "Memory",
        "What does a run take, and who holds it?",
        tuple(_sentences(program_memory)),
        subject=_name(program_memory),
        parts=tuple(parts),
    )


def _holders_table(program_memory: ProgramMemory, what: str) -> Table:
    found = memory.sum_holders(program_memory.holders, what)
    total = max(sum(size for _, size, _ in found), 1)
    rows = tuple((name, size, size / total, count) for name, size, count in found[:_MOST])
    return Table(_HOLDERS, rows, len(found))


def _sentences(program_memory: ProgramMemory) -> list[str]:
    sentences = [_peak(program_memory)]
    if program_memory.classes["temp"] and program_memory.jax_peak_bytes < program_memory.peak_bytes:
        without = units.show(program_memory.jax_peak_bytes, "bytes")
        sentences.append(
            f"JAX's memory_analysis() calls {without} the peak on the CPU: it leaves temporaries out."
        )
    if alias := program_memory.classes["alias"]:
        sentences.append(f"Outputs take over {units.show(alias, 'bytes')} of the parameters.")
    return sentences


def _heap(program_memory: ProgramMemory) -> str:
    gaps = sum(max(heap.reserved_bytes - heap.needed_bytes, 0) for heap in program_memory.heaps)
    return (
        f"{units.show(gaps, 'bytes')} more are reserved than needed: alignment and fragmentation."
        if gaps
        else ""
    )
