"""Tables made when a query first reads them: from other tables, or from what lies beside the sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope.engines import Part, PythonRows, Relation
from stepscope.errors import LimitReached
from stepscope.escapes import printable
from stepscope.formats import _op_log
from stepscope.formats.models import files
from stepscope.instruments import laws
from stepscope.instruments.memory import allocators
from stepscope.instruments.pipeline import diagnoses
from stepscope.instruments.ranks import table as ranks_table
from stepscope.instruments.roofline import of_torch, of_xla
from stepscope.instruments.roofline import table as cost_table
from stepscope.instruments.step_breakdown import part_tables
from stepscope.instruments.tfprof import table as tfprof_table
from stepscope.lake.schema import schema
from stepscope.lake.source_ids import first_id
from stepscope.sources import op_logs
from stepscope.sources.source import ByteLocation, Source
from stepscope.sources.spool import Spool
from stepscope.store_rows import put

if TYPE_CHECKING:
    from stepscope.engines import Engine
    from stepscope.lake.decoded_source import Decoded
    from stepscope.lake.schema import SchemaTable

_MADE: Mapping[tuple[str, ...], int] = {
    ("iterator", "iterator_call"): 6,
    ("buffer",): 1,
    ("tfprof_node",): 1,
    ("step_part", "stack_part"): 13,
    ("collective", "clock_offset"): 1,
    ("broken_law",): 5,
    ("op_cost",): 2,
}
"""Tables that instruments make from others, those that are made along with each other in a line, with the
version of what makes them: raised when the same tables give other rows than in the release before, so that
what was stored is made anew."""
VERSIONS = {name: version for names, version in _MADE.items() for name in names}
TOGETHER = {name: names for names in _MADE for name in names}
"""Tables that are made along with one."""
OF_HOSTS = frozenset({"step_part", "stack_part", "broken_law", "op_cost"})
"""Tables whose rows about a host are made from the rows of that host alone."""


Logs = Mapping[str, Sequence[tuple[ByteLocation, str]]]
"""The op logs of runs, and what to call them."""


def logs_of(sources: Sequence[Source]) -> Logs:
    """The op logs of the runs of sources that are read together."""
    return op_logs.find(sources, _op_log.NAMES)


def code_rows(sources: Sequence[Source], spool: Spool, logs: Logs | None = None) -> list[dict[str, Any]]:
    """Rows of the table op_line; code_notes() says what could not be read. logs: those of other runs than the
    sources have are left out; by default those that belong to the sources."""
    rows: list[dict[str, Any]] = []
    for run, places in (logs_of(sources) if logs is None else logs).items():
        number, first = next((at, source) for at, source in enumerate(sources) if source.run_id == run)
        lines: dict[str, tuple[str, _op_log.OpOrigin]] = {}
        for place, path in places[: op_logs.MOST]:
            try:
                data = spool.read(place, path, _op_log.MOST_BYTES)
            except (OSError, KeyError, ValueError, LimitReached):
                continue  # code_notes() says so
            for name, made in _op_log.read(data).items():
                lines.setdefault(name, (path, made))
        for name, (path, made) in lines.items():
            line, caller = made.line, made.caller
            rows.append(
                {
                    "id": first_id(number) + len(rows),
                    "run_id": run,
                    "host_id": first.host_id,
                    "source_id": number,
                    "op_name": name,
                    "file": line.file,
                    "line": line.line,
                    "function": line.function,
                    "caller_file": None if caller is None else caller.file,
                    "caller_line": None if caller is None else caller.line,
                    "caller_function": None if caller is None else caller.function,
                    "told_by": path,
                }
            )
    return rows


def code_notes(sources: Sequence[Source], spool: Spool, logs: Logs | None = None) -> list[tuple[Any, ...]]:
    """Rows of source_note about op logs that are not read, or not to their end. They belong to the first
    source of the run."""
    rows: list[tuple[Any, ...]] = []
    for run, places in (logs_of(sources) if logs is None else logs).items():
        number, first = next((at, source) for at, source in enumerate(sources) if source.run_id == run)
        about = (number, run, first.host_id, "op-log-unread", "missing")
        for place, path in places[: op_logs.MOST]:
            if unread := _unread(place, path, spool):
                offset, seen = unread
                rows.append((*about, 1, offset, printable(f"{path}: {seen}")))
        if (rest := len(places) - op_logs.MOST) > 0:
            detail = f"{places[op_logs.MOST][1]}: one of {rest:,} op logs beyond {op_logs.MOST}"
            rows.append((*about, rest, None, printable(detail)))
    return rows


def _unread(place: ByteLocation, path: str, spool: Spool) -> tuple[int | None, str] | None:
    """Where an op log cannot be read, and why; None when it can. The core looks at it, in milliseconds."""
    try:
        return _op_log.damage(spool.read(place, path, _op_log.MOST_BYTES))
    except LimitReached as error:
        return None, error.seen
    except (OSError, KeyError, ValueError) as error:
        return None, f"it cannot be read: {error}"


FROM_FILES: dict[str, Callable[[Sequence[Source], Spool], list[dict[str, Any]]]] = {"op_line": code_rows}
"""Tables that are read from op logs beside sources: when a query first reads them, or when
their source goes into a lake."""
_PLACES = ("id", "run_id", "host_id", "source_id")


def add_file_rows(decoded: Decoded, places: Sequence[tuple[ByteLocation, str]], spool: Spool) -> Decoded:
    """The decoded source with its rows of FROM_FILES and the notes about them: a lake outlives the files.

    places: the op logs of its run if this source has their rows, else none.
    """
    source, store = decoded.source, decoded.store
    if store is None:
        return decoded
    logs = {source.run_id: places} if places else {}
    if rows := code_rows([source], spool, logs):
        put(store, "op_line", rows, [name for name in rows[0] if name not in _PLACES])
    note_columns = ("slug", "effect", "events", "first_offset", "detail")
    notes = [dict(zip(note_columns, row[3:], strict=True)) for row in code_notes([source], spool, logs)]
    return decoded._replace(facts={**decoded.facts, "notes": [*decoded.facts.get("notes", ()), *notes]})


Tables = dict[str, list[dict[str, Any]]]
"""Rows by table."""
Remembered = Callable[[str, Callable[[], Tables]], Mapping[str, Sequence[Part]]]
"""Gives a derived table, with those that are made along with it, from where they were kept, or makes them."""


def row_parts(made: Tables) -> dict[str, Sequence[Part]]:
    """The rows of each table as its only part."""
    return {
        name: [PythonRows(list(map(itemgetter(*schema().table(name).names), rows)))]
        for name, rows in made.items()
    }


def derive(engine: Engine, given: Sequence[str] = (), remembered: Remembered | None = None) -> None:
    """Makes the derived tables known: they are computed once, from what the engine has. given: the paths that
    were opened; none for a lake, whose sources may be gone."""
    made: dict[str, Sequence[Part]] = {}

    def make(table: SchemaTable) -> Sequence[Part]:
        if table.name not in made:
            compute = partial(_rows_of, table.name, engine)
            made.update(remembered(table.name, compute) if remembered else row_parts(compute()))
        return made[table.name]

    def tfprof() -> Sequence[Part]:
        # What came through a pipe or a network was read once and cannot be again.
        local = [path for path in given if Path(path).exists()]
        # As Arrow: there may be as many rows as a graph has nodes.
        return tfprof_table.parts(engine.query, files.find_files(local).files if local else {})

    for name in VERSIONS:
        table = schema().table(name)
        if name == "tfprof_node":
            engine.attach(Relation(name, table.types, tfprof, costly=True, asks=True))
        else:
            engine.attach(Relation(name, table.types, partial(make, table), asks=True))


def _rows_of(name: str, engine: Engine) -> Tables:
    """The rows of a derived table, and of those that are made along with it."""
    if name == "buffer":
        return {name: allocators.buffer_rows(allocators.find(engine.query, engine.stream))}
    if name in ("step_part", "stack_part"):
        return part_tables.rows(engine.query, engine.stream)._asdict()
    if name in ("collective", "clock_offset"):
        return ranks_table.rows(engine.query)._asdict()
    if name == "broken_law":
        return {name: laws.rows(engine.query)}
    if name == "op_cost":
        counted = [*of_torch.counted(engine.query, engine.stream), *of_xla.counted(engine.query)]
        return {name: cost_table.rows(engine.query, counted)}
    found = diagnoses.find(engine.query)
    return {"iterator": diagnoses.iterator_rows(found), "iterator_call": diagnoses.call_rows(found)}
