"""The difference of two stages or passes of a program, as rows of the core's comparison.

There are totals, groups of equal changes, ops of the framework, and every change by itself.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stepscope.escapes import printable

TOTALS = ("instructions", "fusions", "flops", "run_flops", "bytes", "run_bytes", "temp_bytes")
"""Sums of each side; temp_bytes is None where a side has no buffers, costs where it has no entry."""

Row = Mapping[str, Any]
"""The core's comparison of two programs, a side of it, or a row made from it."""


def totals(found: Row) -> dict[str, dict[str, float | None]]:
    """Each of TOTALS on both sides, and the difference."""
    made: dict[str, dict[str, float | None]] = {}
    for key in TOTALS:
        a, b = (_total(found[side], key) for side in ("a", "b"))
        made[key] = {"a": a, "b": b, "delta": None if a is None or b is None else b - a}
    return made


def _total(side: Row, key: str) -> float | None:
    if key == "fusions":
        return int(side["opcodes"].get("fusion", 0))
    if key == "temp_bytes":
        return side["memory"]["temp_bytes"] if side["memory"] else None
    if key != "instructions" and not side["entry"]:
        return None
    number = float(side[key])
    return int(number) if number.is_integer() else number


GROUP_COLUMNS = ("count", "what", "opcode", "about", "changed")
"""A group: what is folded, merged, replaced, with its users, unused or dropped (gone: with a minus in front;
new: with a plus), or changed; of which opcode; the opcode that it is about; the words of what changed."""


def groups(found: Row) -> list[dict[str, Any]]:
    """Equal changes as one row each, with GROUP_COLUMNS: what is gone or new first, the largest first."""
    a, b = found["a"]["rows"], found["b"]["rows"]
    counted: Counter[tuple[str, str, str | None, str]] = Counter()
    for sign, lone, side_table, other in (("-", "removed", a, b), ("+", "added", b, a)):
        for at, fate, index in found[lone]:
            # A new instruction in the place of a removed one is counted with the removed one.
            if sign == "+" and fate == "replaced":
                continue
            table = other if fate in ("merged", "replaced") else side_table
            # Instructions that go with their users are counted with these.
            about = None if fate == "with its users" else index
            counted[sign + fate, side_table[at][1], None if about is None else table[about][1], ""] += 1
    for at, _, _, _, changed in found["pairs"]:
        if changed:
            counted["changed", a[at][1], None, ", ".join(changed)] += 1
    rows = [
        dict(zip(GROUP_COLUMNS, (count, what, opcode, about, changed), strict=True))
        for (what, opcode, about, changed), count in counted.items()
    ]
    return sorted(rows, key=_rank)


def _rank(row: Row) -> tuple[Any, ...]:
    # Other operands follow from the other changes, and mean least.
    kind = 0 if row["what"] != "changed" else 1 if row["changed"] != "operands" else 2
    return kind, -row["count"], row["what"], row["opcode"], row["about"] or "", row["changed"]


OP_COLUMNS = ("op_name", "removed", "added", "changed", "flops", "bytes")
"""flops and bytes: of all instructions with this op_name in B less those in A, once each."""


def op_names(found: Row) -> list[dict[str, Any]]:
    """Rows with OP_COLUMNS of the framework's ops that changed, the most changes first."""
    a, b = found["a"]["rows"], found["b"]["rows"]
    made: dict[str, dict[str, Any]] = defaultdict(lambda: dict.fromkeys(OP_COLUMNS[1:], 0))
    for at, *_ in found["removed"]:
        made[a[at][4]]["removed"] += 1
    for at, *_ in found["added"]:
        made[b[at][4]]["added"] += 1
    for at, _, _, _, changed in found["pairs"]:
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


def changes(found: Row) -> Iterator[dict[str, Any]]:
    """Every change, one row per instruction, with CHANGE_COLUMNS."""
    a, b = found["a"]["rows"], found["b"]["rows"]
    for sign, lone, side_table, other in (("-", "removed", a, b), ("+", "added", b, a)):
        for at, fate, about in found[lone]:
            table = other if fate in ("merged", "replaced") else side_table
            names = {"a" if sign == "-" else "b": printable(side_table[at][0])}
            subject = None if about is None else printable(table[about][0])
            yield {**_change(sign + fate, side_table[at]), **names, "about": subject}
    for at, to, basis, guess, changed in found["pairs"]:
        if changed:
            names = {"a": printable(a[at][0]), "b": printable(b[to][0])}
            details = {"basis": basis, "guess": guess, "changed": changed}
            yield {**_change("changed", b[to]), **names, **details}


def _change(what: str, row: Sequence[Any]) -> dict[str, Any]:
    empty = dict.fromkeys(CHANGE_COLUMNS)
    return {**empty, "what": what, "opcode": row[1], "shape": row[2], "op_name": printable(row[4]) or None}


def pairs(found: Row) -> Iterator[dict[str, Any]]:
    """Every pair with its basis; computations are named because older text may repeat names."""
    a, b = found["a"]["rows"], found["b"]["rows"]
    for at, to, basis, guess, changed in found["pairs"]:
        yield {
            "a": printable(a[at][0]),
            "b": printable(b[to][0]),
            "computation_a": printable(a[at][3]),
            "computation_b": printable(b[to][3]),
            "basis": basis,
            "guess": guess,
            "changed": changed,
        }


def bases(found: Row) -> dict[str, int]:
    """The number of pairs by basis."""
    return dict(Counter(pair[2] for pair in found["pairs"]))
