"""The tables of a dump folder: hlo_module, hlo_pass, hlo_case and, of the programs themselves,
hlo_computation, hlo_instruction, hlo_buffer and hlo_allocation.

Every file is summed up. Instructions are kept of whole stages, and of the last pass where a compile was not
dumped to its end: dozens of passes would repeat them.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from stepscope import _core, units
from stepscope._core import Store
from stepscope.errors import LimitReached
from stepscope.escapes import printable
from stepscope.formats import Damaged
from stepscope.formats.xla import cases, dump_files, dump_names, dumps, program_log
from stepscope.sources import damage
from stepscope.sources.source import Source
from stepscope.sources.spool import Spool
from stepscope.store_rows import note, put

Row = Mapping[str, Any]
_FIGURES = (
    "computations", "instructions", "fusions", "loops", "custom_calls", "copies", "f64_instructions", "flops",
    "transcendentals", "bytes", "run_flops", "run_transcendentals", "run_bytes", "run_custom_calls",
    "run_open_loops", "parameter_bytes", "output_bytes", "alias_bytes", "constant_bytes",
    "thread_local_bytes", "temp_bytes", "allocated_bytes", "heap_needed_bytes", "problem",
)  # fmt: skip
"""What modules and passes both have."""
_FLOATS = frozenset(
    name for name in _FIGURES if name.startswith("run_") or name in ("flops", "transcendentals", "bytes")
)
_MOST_PACKED_BYTES = 1 << 28
_MOST_NAMED = 3
"""Damaged files that a note names."""


def fill(store: Store, source: Source, spool: Spool) -> None:
    """Fills the tables of a store with the files of a source, and its facts. Damaged when none of them can be
    read, CoreError when the store cannot be written."""
    files, gone = _files(source, spool)
    rows = dumps.stages_of_files(files, fold=False).rows
    if all(row["instructions"] is None for row in rows):
        name, why = [*gone, *((row["file"], row["problem"]) for row in rows)][0]
        raise Damaged(f"no file of the dump could be read; the first is {name}: {why}")
    modules = _rows_by_module(rows)
    numbers = {id(row): at for at, row in enumerate(rows)}
    kept = [(at, row) for at, members in enumerate(modules) for row in _programs(members)]
    refused = _core.hlo_tables(
        store, [(row["read"].given, at, numbers[id(row)], *_module_facts(row)) for at, row in kept]
    )
    for (_, row), error in zip(kept, refused, strict=True):
        if isinstance(error, tuple):  # the file changed since it was summed up
            gone.append((row["file"], error[1]))
    _put_compiles(store, modules, numbers)
    beside = _files_of_folders(source)
    logs = _logs(source, beside)
    logged = program_log.read(logs)
    found = cases.find(
        [(at, last) for at, members in enumerate(modules) for last in dumps.finals(members)],
        logged.statements,
        partial(_bytes, spool),
    )
    put(store, "hlo_case", [{"id": at, **case} for at, case in enumerate(found.rows)])
    facts = _facts(rows, gone, logged)
    facts["notes"] += _not_seen(modules, beside, logged.unread, found.left_out)
    store.update_facts(facts)


def _put_compiles(store: Store, modules: Sequence[Sequence[Row]], numbers: Mapping[int, int]) -> None:
    """The tables of modules and passes. numbers: of the dumps, by id of their rows."""
    put(store, "hlo_module", [_module(at, members) for at, members in enumerate(modules)])
    put(
        store,
        "hlo_pass",
        [_pass(numbers[id(row)], at, row) for at, members in enumerate(modules) for row in members],
    )


def _files_of_folders(source: Source) -> list[Path]:
    """Every file of the folders that a dump lies in: also those that hold no program."""
    if not Path(source.path).is_dir():
        return []
    folders = {Path(piece.bytes.path).parent for piece in source.pieces} | {Path(source.path)}
    return [path for folder in sorted(folders) for path in sorted(folder.iterdir())]


def _logs(source: Source, beside: Sequence[Path]) -> list[str]:
    """Logs in the folder of the dump, and the one that was kept around it."""
    around = [Path(source.path).parent / program_log.KEPT] if beside else []
    found = [path for path in (*beside, *around) if path.name.endswith(program_log.ENDINGS)]
    return [str(path) for path in dict.fromkeys(found) if path.is_file()]


def _bytes(spool: Spool, row: Row) -> bytes:
    """The file of a row once more; OSError when it is gone."""
    file: dump_files.File = row["read"]
    if file.packed is None:
        return Path(file.path).read_bytes()
    data, why = spool.read_good(file.packed, file.relative, _MOST_PACKED_BYTES)
    if why is not None:
        raise OSError(why)
    return data


def _not_seen(
    modules: Sequence[Sequence[Row]], beside: Sequence[Path], unread: Mapping[str, str], left_out: int
) -> list[dict[str, Any]]:
    """Notes on what findings on the programs may lack."""
    known = {(members[0]["id"], members[0]["module"]) for members in modules}
    known |= {(None, module) for _, module in known}  # JAX's own files have no number of the module
    named = [
        dump_names.folder_name(path.name, path.parts[:-1]) or dump_names.named(path.name) for path in beside
    ]
    inputs = {(file.id, printable(file.module)) for file in named if file and file.place == "input"}
    only = sorted(module for number, module in inputs - known)
    unread_logs = [(printable(path), why) for path, why in unread.items()]
    filtered = [(name, "a filter") for name in only]
    notes = notes_about("module-input-only", "missing", filtered, "were left out", "module")
    notes += notes_about("log-unread", "missing", unread_logs, "could not be read to the end", "log")
    if left_out:
        programs = units.count(left_out, "program")
        detail = f"the instructions of {programs} were not searched: those that move least"
        notes.append(note("programs-not-searched", "missing", detail, left_out))
    return notes


def _files(source: Source, spool: Spool) -> tuple[list[dump_files.File], list[tuple[str, str]]]:
    """The files of a source, and names and reasons of those that cannot be reached."""
    found: list[dump_files.File] = []
    gone: list[tuple[str, str]] = []
    for piece in source.pieces:
        named = dump_names.parsed(piece.name)
        try:
            place = piece.spooled or spool.reach(piece.bytes, piece.name)
        except LimitReached as error:
            gone.append((piece.name, error.seen))
            continue
        except (OSError, KeyError, damage.DamagedArchive) as error:
            gone.append(
                (piece.name, damage.reason(error) if isinstance(error, damage.DamagedArchive) else str(error))
            )
            continue
        plain = place.codec == "plain" and not place.offset and place.length is None and place.crc is None
        found.append(dump_files.File(place.path, piece.name, "", piece.size, named, None if plain else place))
    return found, gone


def _rows_by_module(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each module, in the order of the compile."""
    found: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["folder"], row["id"], row["module"]].append(row)
    return list(found.values())


def _programs(members: Sequence[Row]) -> Iterator[Row]:
    """The rows of a module whose instructions are kept."""
    readable = [row for row in members if row["instructions"] is not None]
    for row in readable:
        if row["pass"] is None or (row is readable[-1] and not any(map(dumps.is_final, readable))):
            yield row


def _module_facts(row: Row) -> tuple[str, str, str | None]:
    """What rows of a program say of its module: number, name and stage."""
    return _number(row), row["module"], row["stage"] if row["pass"] is None else None


def _number(row: Row) -> str:
    return "" if row["id"] is None else str(row["id"])


def figures(row: Row) -> dict[str, Any]:
    """The columns that hlo_module and hlo_pass have in common, of a row of `dumps`."""
    return {
        name: float(row[name]) if name in _FLOATS and row.get(name) is not None else row.get(name)
        for name in _FIGURES
    }


def _module(number: int, members: Sequence[Row]) -> dict[str, Any]:
    (last,) = dumps.finals(members) or [members[-1]]
    passes = [row for row in members if row["pass"] is not None]
    return {
        "id": number,
        "program_id": _number(last),
        **{
            name: last[name]
            for name in ("module", "function", "compile", "folder", "file", "stage", "parameters")
        },
        "partitions": last["partitions"],
        "is_final": dumps.is_final(last) and last["instructions"] is not None,
        "stages": len(members) - len(passes),
        "passes": len(passes),
        "changing_passes": sum(not row["equals_before"] for row in passes),
        **figures(last),
    }


def _pass(number: int, module: int, row: Row) -> dict[str, Any]:
    return {
        "id": number,
        "module_id": module,
        "program_id": _number(row),
        **{name: row[name] for name in ("module", "stage", "pass_number", "changed", "file", "file_bytes")},
        "pass_name": row["pass"],
        "next_pass": row["before"],
        "equals_before": bool(row["equals_before"]),
        "unknown_fields": row["unknown_fields"],
        **figures(row),
    }


def _facts(rows: Sequence[Row], gone: Sequence[tuple[str, str]], logs: program_log.Logs) -> dict[str, Any]:
    """The facts of a source: an event is a file that holds a stage or pass."""
    unread = [(row["file"], row["problem"]) for row in rows if row["instructions"] is None]
    doubtful = [
        (row["file"], row["problem"]) for row in rows if row["instructions"] is not None and row["problem"]
    ]
    lost = [*gone, *unread]
    newer = sum(row["unknown_fields"] or 0 for row in rows)
    digest = hashlib.blake2b(digest_size=16)
    for row in sorted(rows, key=lambda row: row["file"]):
        digest.update(repr((row["file"], row["file_bytes"], row["hash"], row["problem"])).encode())
    digested = [
        (statement.kind, statement.name, statement.value, statement.what, statement.at)
        for statement in logs.statements
    ]
    digest.update(repr((sorted(gone), digested)).encode("utf-8", "surrogatepass"))
    notes = notes_about("damaged-module", "lost", lost, "could not be read")
    notes += notes_about("doubtful-module", "missing", doubtful, "could be read in part")
    if newer:
        detail = f"{units.count(newer, 'field')} that this version does not know"
        notes.append(note("unknown-fields", "info", detail, newer))
    return {
        "producer": "xla",
        "content_hash": digest.hexdigest(),
        "events_seen": len(rows) + len(gone),
        "events_stored": len(rows) - len(unread),
        "events_lost": len(lost),
        "notes": notes,
    }


def notes_about(
    slug: str, effect: str, about: Sequence[tuple[str, str]], what: str, noun: str = "file"
) -> list[dict[str, Any]]:
    """A note about files, or what noun says, with names and reasons; nothing without any."""
    if not about:
        return []
    named = "; ".join(f"{name}: {why}" for name, why in about[:_MOST_NAMED])
    more = len(about) - _MOST_NAMED
    rest = f"; and {units.count(more, f'more {noun}')}" if more > 0 else ""
    detail = printable(f"{units.count(len(about), noun)} {what}: {named}{rest}")
    return [note(slug, effect, detail, len(about))]
