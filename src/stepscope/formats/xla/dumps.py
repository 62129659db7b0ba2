"""Dump folders of XLA: which modules were compiled, stage by stage and pass by pass, and every other file of
the folder with its place in the chain.

A folder is read by names first (nothing is opened), then one file of each stage and pass is summed up in the
core: the proto where there is one, else the text, and the text where the proto is damaged.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import _core, units
from stepscope.errors import NothingFound
from stepscope.escapes import printable
from stepscope.formats.xla import dump_files, dump_names
from stepscope.formats.xla.dump_files import File
from stepscope.formats.xla.dump_names import Named

COLUMNS = (
    "module", "id", "stage", "pass", "file", "computations", "instructions", "fusions", "flops",
    "transcendentals", "bytes", "temp_bytes", "run_flops", "run_transcendentals", "run_bytes",
    "run_custom_calls", "run_open_loops", "parameter_bytes", "output_bytes", "alias_bytes", "constant_bytes",
    "thread_local_bytes", "allocated_bytes", "heap_needed_bytes", "f64_instructions", "loops", "custom_calls",
    "copies", "function", "compile", "pass_number", "before", "changed", "unchanged_passes", "parameters",
    "replicas", "partitions", "per_device", "donors", "folder", "file_bytes", "unknown_fields", "problem",
)  # fmt: skip
"""A row is a stage or a pass of a module. flops, transcendentals and bytes are what XLA counts: bodies of
loops once, custom calls as -1. run_*: what really runs, with loops as often as they are known to go round;
run_custom_calls cost something unknown, run_open_loops are counted once. Stages with a buffer assignment have
memory columns. changed: opcodes that became more or fewer since the dump before; unchanged_passes: later
dumps that equal this one byte for byte. copies: also
transposes. replicas: how often the program runs side by side on other data; partitions: over how many devices
it is split, and per_device whether the figures are of one of them already (None where there is one only).
donors: numbers of parameters whose memory it was given and that no output has taken. problem: why figures are
missing or doubtful."""
Row = Mapping[str, Any]
Summary = Mapping[str, Any]
NOT_COLUMNS = ("path", "read", "equals_before", "hash", "donated")
"""What rows have beside COLUMNS: where the File was, itself, whether its bytes equal those of the row before,
and their hash; of each donor its number, which part of it, and bytes (None if the shape has no such part)."""


class Dumps(NamedTuple):
    """What a folder holds: rows with COLUMNS and NOT_COLUMNS, all files with FILE_COLUMNS, the number of
    dumps folded away because nothing had changed, and of stages that could not be read."""

    rows: list[dict[str, Any]]
    files: list[dict[str, Any]]
    folded: int
    damaged: int


def read(paths: Sequence[str], *, fold: bool = True) -> Dumps:
    """Reads dump folders, or single files. NothingFound when no file is of a dump."""
    files = list(dump_files.find_files(paths))
    if not any(file.named for file in files):
        raise NothingFound(
            f"There is no dump of XLA in {', '.join(paths)}",
            seen=f"{units.count(len(files), 'file')}, and no name of a dump among them",
            todo="compile with XLA_FLAGS=--xla_dump_to=DIR and give DIR",
            path=paths[0] if paths else None,
        )
    return stages_of_files(files, fold=fold)


def stages_of_files(files: Sequence[File], *, fold: bool = True) -> Dumps:
    """The same of files that were found elsewhere."""
    groups = dump_files.group_by_stage(files)
    best = {step: group[0] for step, group in groups.items()}
    found = _summaries(groups)
    rows, folded = _rows(best, found, fold)
    return Dumps(
        rows,
        dump_files.rows(files),
        folded,
        sum(row["problem"] is not None and row["instructions"] is None for row in rows),
    )


def finals(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The row of each module that says most: after optimisation, else the last that could be read."""
    last: dict[Any, Mapping[str, Any]] = {}
    for row in rows:
        if row["instructions"] is not None:
            last[row["folder"], row["id"], row["module"]] = row
    return list(last.values())


def rows_of_module(rows: Sequence[Row], module: str | None, paths: Sequence[str]) -> list[Row]:
    """The rows of modules whose name contains `module`, or all; NothingFound when there is none."""
    wanted = [row for row in rows if module is None or module in (row["module"] or "")]
    if not wanted:
        raise NothingFound(
            f"There is no module like {module} in {', '.join(paths)}"
            if module
            else "No module could be read",
            seen=", ".join(sorted({row["module"] for row in rows})[:8]) or "no module",
            todo="stepscope xla dumps lists the modules of a folder",
            path=paths[0],
        )
    return wanted


def is_final(row: Mapping[str, Any]) -> bool:
    """Whether a row is of the stage that runs."""
    return row["pass"] is None and "after_optimizations" in (row["stage"] or "")


def _summaries(groups: Mapping[Any, list[File]]) -> dict[Any, tuple[File, Any]]:
    """What the core says of each stage and pass: a dict, or (offset, what was seen); with its file."""
    summed = _core.hlo_summaries([files[0].given for files in groups.values()])
    found: dict[Any, tuple[File, Any]] = {
        step: (files[0], summary) for (step, files), summary in zip(groups.items(), summed, strict=True)
    }
    second = {
        step: files[1]
        for step, files in groups.items()
        if isinstance(found[step][1], tuple) and len(files) > 1
    }
    for step, again in zip(
        second, _core.hlo_summaries([file.given for file in second.values()]), strict=True
    ):
        if isinstance(again, dict):
            damaged, error = found[step]
            again["instead_of"] = f"{Path(damaged.path).name}: {_sentence(error)}"
            found[step] = (second[step], again)
    return found


def _sentence(error: tuple[int | None, str]) -> str:
    offset, seen = error
    return seen if offset is None else f"{seen} (byte {offset:,})"


def _rows(
    best: Mapping[Any, File], found: Mapping[Any, tuple[File, Any]], fold: bool
) -> tuple[list[dict[str, Any]], int]:
    """The rows in the order of the compiles, and how many dumps were folded into the one before them."""
    rows: list[dict[str, Any]] = []
    folded = 0
    last: dict[str, Any] | None = None
    opcodes: Mapping[str, int] = {}
    content = module = None
    split = False
    compiles = _compiles(best.values())
    for step in sorted(best, key=_order):
        file, summary = found[step]
        named = file.named
        assert named is not None
        same = step[:4] == module
        if not same:
            opcodes, content, last, split = {}, None, None, False
        module = step[:4]
        split = split or _is_split(named)
        if isinstance(summary, dict):
            is_pass = named.passed is not None
            if fold and last is not None and is_pass and content == summary["hash"]:
                last["unchanged_passes"].append(named.passed)
                folded += 1
                continue
            row = _row(file, summary, compiles[step[:4]])
            row["per_device"] = split if summary["partitions"] > 1 else None
            row["changed"] = _changes(opcodes, summary["opcodes"]) if opcodes else None
            row["equals_before"] = content == summary["hash"]
            row["hash"] = summary["hash"]
            opcodes, content, last = summary["opcodes"], summary["hash"], row if is_pass else None
        else:
            row = _row(file, None, compiles[step[:4]])
            row["problem"] = _sentence(summary)
            last = None
        rows.append(row)
    for row in rows:
        row["unchanged_passes"] = ", ".join(row["unchanged_passes"]) or None
    return rows, folded


def _is_split(named: Named) -> bool:
    """Whether from this dump on a program that is for several devices is what one of them runs."""
    return named.place == "after" or named.stage == "spmd-cleanup" or named.passed == "spmd-partitioning"


def _order(step: tuple[Any, ...]) -> tuple[Any, ...]:
    base, clock, number, module, stage, at, passed, snapshot = step
    place = 1 if at is not None else 0 if stage == "before_optimizations" else 2
    return (
        base,
        clock,
        number is None,
        number or 0,
        module,
        place,
        at or 0,
        stage or "",
        passed or "",
        snapshot,
    )


_COSTS = ("flops", "transcendentals", "bytes", "run_flops", "run_transcendentals", "run_bytes")
_MEMORY = ("temp", "parameter", "output", "alias", "constant", "thread_local", "allocated")


def _row(file: File, summary: Summary | None, compiled: int) -> dict[str, Any]:
    named = file.named
    assert named is not None
    row: dict[str, Any] = dict.fromkeys((*COLUMNS, *NOT_COLUMNS))
    row["path"], row["read"] = file.path, file
    name = summary["name"] if summary else named.module
    row.update(
        {
            "module": printable(name or named.module),
            "id": named.id if named.id is not None or summary is None else summary["id"],
            "stage": named.stage,
            "pass": named.passed,
            "file": printable(Path(file.path).name),
            "function": printable(dump_names.function(name or named.module)),
            "compile": compiled,
            "pass_number": named.number,
            "before": named.before,
            "unchanged_passes": [],
            "folder": printable(file.base) or None,
            "file_bytes": file.size,
        }
    )
    if summary is None:
        return row
    row.update(figures(summary))
    row["parameters"] = printable(summary["parameters"]) or None
    row["replicas"], row["partitions"] = summary["replicas"], summary["partitions"]
    row["donated"] = summary["donors"]
    row["donors"] = ", ".join(_donor(*donor[:2]) for donor in summary["donors"]) or None
    row["unknown_fields"] = summary["unknown_fields"]
    return row


def _donor(parameter: int, index: Sequence[int]) -> str:
    return f"{parameter}{{{','.join(map(str, index))}}}" if index else str(parameter)


def figures(summary: Summary) -> dict[str, Any]:
    """Columns of rows about a module, from the core's summary: size, cost, memory, and what is doubtful."""
    row = {key: summary[key] for key in ("computations", "instructions")}
    if summary["entry"]:
        row.update(
            {key: units.whole(summary[key]) for key in (*_COSTS, "run_custom_calls", "run_open_loops")}
        )
    if summary["memory"] is not None:
        row.update({f"{key}_bytes": summary["memory"][f"{key}_bytes"] for key in _MEMORY})
        row["heap_needed_bytes"] = sum(summary["heap_needed_bytes"])
    opcodes = summary["opcodes"]
    row["fusions"] = opcodes.get("fusion", 0)
    row["f64_instructions"] = summary["doubles"]
    row["loops"], row["custom_calls"] = opcodes.get("while", 0), opcodes.get("custom-call", 0)
    row["copies"] = opcodes.get("copy", 0) + opcodes.get("transpose", 0)
    row["problem"] = _problem(summary)
    return row


def _problem(summary: Summary) -> str | None:
    """What is doubtful about a module, in a few words."""
    found = []
    if "instead_of" in summary:
        found.append(f"text read instead of {summary['instead_of']}")
    if not summary["entry"]:
        found.append("no entry computation, so no cost")
    if summary["cut"]:
        found.append("the text ends too early")
    for key, what in (
        ("lost", "lines not understood"),
        ("dangling", "operands or computations that are not there"),
    ):
        if summary[key]:
            found.append(f"{summary[key]:,} {what}")
    if summary["cyclic"]:
        found.append("computations that call themselves, counted as nothing")
    return "; ".join(found) or None


def _changes(before: Mapping[str, int], after: Mapping[str, int]) -> str | None:
    """Opcodes that became more or fewer, the largest change first."""
    difference = Counter(after)
    difference.subtract(before)
    changed = sorted((kv for kv in difference.items() if kv[1]), key=lambda kv: (-abs(kv[1]), kv[0]))
    return ", ".join(f"{name} {number:+}" for name, number in changed) or None


def _compiles(files: Iterable[File]) -> dict[tuple[Any, ...], int]:
    """Which compile of its function each module is, from 1. Some versions number what comes before the
    passes and what comes after them differently: a module that lacks the end and the next that lacks the
    beginning are one compile."""
    places: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for file in files:
        if file.named is not None:
            places[dump_files.stage(file)[:4]].add(file.named.place)
    number: dict[tuple[Any, ...], int] = {}
    last: dict[tuple[Any, ...], tuple[int, set[str]]] = {}
    for module in sorted(places, key=lambda key: (key[0], key[1], key[2] is None, key[2] or 0, key[3])):
        base, _, _, name = module
        function = (base, dump_names.function(name))
        count, seen = last.get(function, (0, {"after"}))
        joined = "after" not in seen and "before" not in places[module] and "after" in places[module]
        number[module] = count if joined else count + 1
        last[function] = (number[module], places[module])
    return number
