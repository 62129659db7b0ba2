"""What changed between two stages or passes of a program, two compiles of a function, or two folders.

The core matches instructions by structure (names never count), and says for each without partner what became
of it. Stages that lie far apart are compared by way of the passes between them, where the folder has them.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import _core
from stepscope.errors import NothingFound, UnreadableSource
from stepscope.instruments.xla import dumps
from stepscope.lake.rows import printable

TOTALS = ("instructions", "fusions", "flops", "run_flops", "bytes", "run_bytes", "temp_bytes")
"""Sums of each side; temp_bytes is None where a side has no buffers."""

Row = Mapping[str, Any]


class Stage(NamedTuple):
    """One side: a row of the dump, and the file that it was read from."""

    path: str
    row: Row

    @property
    def name(self) -> str:
        """What people call it: the pass, or the stage."""
        return str(self.row["pass"] or self.row["stage"] or self.row["file"])


class Compared(NamedTuple):
    """Two sides, and the files from the one to the other."""

    a: Stage
    b: Stage
    paths: list[str]
    said: dict[str, Any]

    @property
    def is_empty(self) -> bool:
        """Whether nothing changed."""
        said = self.said
        return not (said["removed"] or said["added"] or any(pair[4] for pair in said["pairs"]))


Compile = list[Stage]


def compiles(paths: Sequence[str], module: str | None = None) -> list[Compile]:
    """The stages and passes of each compile, in their order. NothingFound when there is none."""
    rows = [row for row in dumps.read(paths, fold=False).rows if row["instructions"] is not None]
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
    found: dict[tuple[Any, ...], Compile] = defaultdict(list)
    for row in wanted:
        found[row["folder"], row["function"], row["compile"]].append(Stage(row["path"], row))
    # Stages of two module numbers that are one compile come one behind the other.
    return list(found.values())


def largest(found: Sequence[Compile]) -> Compile:
    """The compile to look at where none is named: that with the most instructions, if it has stages."""
    return max(found, key=lambda one: (len(one) > 1, max(stage.row["instructions"] for stage in one)))


def place(stages: Compile, wanted: str) -> int:
    """Which stage is meant: before, after, the number of a pass, or a part of a name; the first that fits.
    NothingFound when none does."""
    exact = [at for at, one in enumerate(stages) if wanted in (one.row["pass"], one.row["stage"])]
    if exact:
        return exact[0]
    if wanted.isdigit():
        numbered = [at for at, one in enumerate(stages) if one.row["pass_number"] == int(wanted)]
        if numbered:
            return numbered[0]
    elif wanted in ("before", "after"):
        ends = [
            at for at, one in enumerate(stages) if not one.row["pass"] and wanted in (one.row["stage"] or "")
        ]
        if ends:
            return ends[0]
    else:
        named = [at for at, one in enumerate(stages) if wanted in one.name]
        if named:
            return named[0]
    raise NothingFound(
        f"There is no stage {wanted}",
        seen=", ".join(list(dict.fromkeys(one.name for one in stages))[:12]),
        todo="give before, after, a pass or its number; stepscope xla dumps --all lists them",
    )


def compare(stages: Sequence[Stage], *, named: bool = True) -> Compared:
    """The first and the last, by way of those between. UnreadableSource when a file has gone."""
    paths = [stage.path for stage in stages]
    try:
        said = _core.hlo_diff(_different(stages), named)
    except (OSError, _core.CoreError) as error:
        raise UnreadableSource(
            "A module can no longer be read", seen=str(error), todo="dump it again", path=paths[0]
        ) from error
    return Compared(stages[0], stages[-1], paths, said)


def _different(stages: Sequence[Stage]) -> list[str]:
    """Files without those between that are known to change nothing: about half of all passes."""
    kept = [stages[0]]
    for before, stage in itertools.pairwise(stages):
        if _content(before) != _content(stage):
            kept.append(stage)
    return [stage.path for stage in (*kept, stages[-1])]


def _content(stage: Stage) -> bytes:
    return Path(stage.path).read_bytes()


def passes(stages: Compile, *, named: bool = True) -> Iterator[Compared]:
    """Each with the one before it, with what changed nothing."""
    for pair in itertools.pairwise(stages):
        yield compare(pair, named=named)


def paired(a: Sequence[Compile], b: Sequence[Compile]) -> tuple[list[tuple[Compile, Compile]], list[str]]:
    """Compiles of two folders by function and number, and the modules that only one of them has."""
    left, right = ({_of(one): one for one in side} for side in (a, b))
    both = [(left[name], right[name]) for name in left if name in right]
    alone = sorted(str(name[0]) for name in left.keys() ^ right.keys())
    return both, alone


def _of(one: Compile) -> tuple[str, int]:
    return one[0].row["function"], one[0].row["compile"]


def totals(found: Compared) -> dict[str, dict[str, float | None]]:
    """Each of TOTALS of both sides, with the difference."""
    made: dict[str, dict[str, float | None]] = {}
    for key in TOTALS:
        a, b = (_total(found.said[side], key) for side in ("a", "b"))
        made[key] = {"a": a, "b": b, "delta": None if a is None or b is None else b - a}
    return made


def _total(side: Row, key: str) -> float | None:
    if key == "fusions":
        return int(side["opcodes"].get("fusion", 0))
    if key == "temp_bytes":
        return side["memory"]["temp_bytes"] if side["memory"] else None
    number = float(side[key])
    return int(number) if number.is_integer() else number


GROUP_COLUMNS = ("count", "what", "opcode", "about", "changed")
"""A group: what is folded, merged, replaced, with its users, unused or dropped (gone: with a minus in front;
new: with a plus), or changed; of which opcode; the opcode that it is about; the words of what changed."""


def groups(found: Compared) -> list[dict[str, Any]]:
    """Equal changes as one row each, with GROUP_COLUMNS: what is gone or new first, the largest first."""
    a, b = found.said["a"]["rows"], found.said["b"]["rows"]
    counted: Counter[tuple[str, str, str | None, str]] = Counter()
    for sign, lone, own, other in (("-", "removed", a, b), ("+", "added", b, a)):
        for at, fate, index in found.said[lone]:
            # What is new in the place of something gone is counted with what is gone.
            if sign == "+" and fate == "replaced":
                continue
            table = other if fate in ("merged", "replaced") else own
            # What goes with its users is counted with them.
            about = None if fate == "with its users" else index
            counted[sign + fate, own[at][1], None if about is None else table[about][1], ""] += 1
    for at, _, _, _, changed in found.said["pairs"]:
        if changed:
            counted["changed", a[at][1], None, ", ".join(changed)] += 1
    rows = [
        dict(zip(GROUP_COLUMNS, (count, what, opcode, about, changed), strict=True))
        for (what, opcode, about, changed), count in counted.items()
    ]
    return sorted(rows, key=_rank)


def _rank(row: Row) -> tuple[Any, ...]:
    # Other operands follow from the other changes, and say the least.
    kind = 0 if row["what"] != "changed" else 1 if row["changed"] != "operands" else 2
    return kind, -row["count"], row["what"], row["opcode"], row["about"] or "", row["changed"]


OP_COLUMNS = ("op_name", "removed", "added", "changed", "flops", "bytes")
"""flops and bytes: of all instructions with this op_name in B less those in A, once each."""


def op_names(found: Compared) -> list[dict[str, Any]]:
    """Rows with OP_COLUMNS of the framework's ops that something happened to, the most first."""
    a, b = found.said["a"]["rows"], found.said["b"]["rows"]
    made: dict[str, dict[str, Any]] = defaultdict(lambda: dict.fromkeys(OP_COLUMNS[1:], 0))
    for at, *_ in found.said["removed"]:
        made[a[at][4]]["removed"] += 1
    for at, *_ in found.said["added"]:
        made[b[at][4]]["added"] += 1
    for at, _, _, _, changed in found.said["pairs"]:
        if set(changed) - {"operands"}:
            made[a[at][4]]["changed"] += 1
    for sign, rows in ((-1, a), (1, b)):
        for row in rows:
            if row[4] in made:
                made[row[4]]["flops"] += sign * row[5]
                made[row[4]]["bytes"] += sign * row[6]
    rows = [
        {"op_name": printable(name) or None, **counts}
        for name, counts in made.items()
        if counts["removed"] or counts["added"] or counts["changed"]
    ]
    return sorted(
        rows, key=lambda row: (-(row["removed"] + row["added"] + row["changed"]), row["op_name"] or "")
    )


CHANGE_COLUMNS = ("what", "opcode", "shape", "a", "b", "about", "basis", "guess", "changed", "op_name")
"""A row is an instruction that is gone (b is None), new (a is None) or has changed. a, b, about: names."""


def changes(found: Compared) -> Iterator[dict[str, Any]]:
    """Everything that happened, one row for each instruction, with CHANGE_COLUMNS."""
    a, b = found.said["a"]["rows"], found.said["b"]["rows"]
    for sign, lone, own, other in (("-", "removed", a, b), ("+", "added", b, a)):
        for at, fate, about in found.said[lone]:
            table = other if fate in ("merged", "replaced") else own
            names = {"a" if sign == "-" else "b": printable(own[at][0])}
            subject = None if about is None else printable(table[about][0])
            yield {**_change(sign + fate, own[at]), **names, "about": subject}
    for at, to, basis, guess, changed in found.said["pairs"]:
        if changed:
            names = {"a": printable(a[at][0]), "b": printable(b[to][0])}
            said = {"basis": basis, "guess": guess, "changed": changed}
            yield {**_change("changed", b[to]), **names, **said}


def _change(what: str, row: Sequence[Any]) -> dict[str, Any]:
    empty = dict.fromkeys(CHANGE_COLUMNS)
    return {**empty, "what": what, "opcode": row[1], "shape": row[2], "op_name": printable(row[4]) or None}


def pairs(found: Compared) -> Iterator[dict[str, Any]]:
    """Every pair with its basis; computations are named because old text may use a name twice."""
    a, b = found.said["a"]["rows"], found.said["b"]["rows"]
    for at, to, basis, guess, changed in found.said["pairs"]:
        yield {
            "a": printable(a[at][0]),
            "b": printable(b[to][0]),
            "computation_a": printable(a[at][3]),
            "computation_b": printable(b[to][3]),
            "basis": basis,
            "guess": guess,
            "changed": changed,
        }


def bases(found: Iterable[Compared]) -> dict[str, int]:
    """How many pairs were found in which way."""
    counted: Counter[str] = Counter()
    for one in found:
        counted.update(pair[2] for pair in one.said["pairs"])
    return dict(counted)
