"""The changes between two programs: as rows, as JSON and in sentences."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stepscope import units
from stepscope.formats.xla.compiles import DumpComparison, Stage
from stepscope.instruments.xla import diffs
from stepscope.instruments.xla.diffs import CHANGE_COLUMNS as CHANGE_COLUMNS
from stepscope.instruments.xla.diffs import OP_COLUMNS as OP_COLUMNS

Row = Mapping[str, Any]

_TOTALS = {
    "instructions": "instructions",
    "fusions": "fusions",
    "run_flops": "flops",
    "run_bytes": "bytes",
    "temp_bytes": "temp bytes",
}
_MOST_BASES = 8
_LARGE = ((10**12, "T"), (10**9, "G"), (10**6, "M"))


def number(value: float) -> str:
    """1,234 or 1.235 G: what is long is rounded to four digits."""
    for size, letter in _LARGE:
        if abs(value) >= max(size, 10**7):
            return f"{value / size:,.4g} {letter}"
    return f"{value:,.0f}"


def totals(found: Mapping[str, Mapping[str, float | None]]) -> str:
    """The one line of totals."""
    differences = []
    for key, name in _TOTALS.items():
        a, b, delta = (found[key][side] for side in ("a", "b", "delta"))
        if b is None and a is None:
            continue
        if a is None or b is None or delta is None:
            differences.append(
                f"{name} {'unknown' if a is None else number(a)} → {'unknown' if b is None else number(b)}"
            )
        elif delta:
            sign = "+" if delta > 0 else "-"
            differences.append(f"{name} {number(a)} → {number(b)} ({sign}{number(abs(delta))})")
        else:
            differences.append(f"{name} {number(a)}")
    return ", ".join(differences)


_GONE = {
    "-folded": "folded into {about}",
    "-merged": "merged with an equal {about}",
    "-replaced": "replaced by {about}",
    "-with its users": "gone with what used {it}",
    "-unused": "gone; nothing used {it}",
    "-dropped": "gone; {about} no longer uses {it}",
    "+folded": "inserted before {about}",
    "+merged": "split off an equal {about}",
    "+with its users": "new, with what uses {it}",
    "+unused": "new; nothing uses {it}",
    "+dropped": "new; {about} now uses {it}",
}
_CHANGED = {
    "fused": "moved into a fusion",
    "unfused": "moved out of a fusion",
    "moved": "moved to another computation",
}


def _several(noun: str) -> str:
    """copies, abses, transposes."""
    if noun.endswith("y"):
        return f"{noun[:-1]}ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch")) else "s")


def group(row: Row) -> str:
    """12 transposes folded into dot."""
    count, it = row["count"], "it" if row["count"] == 1 else "them"
    of = units.count(count, row["opcode"], _several(row["opcode"]))
    if row["what"] != "changed":
        return f"{of} {_GONE[row['what']].format(about=row['about'], it=it)}"
    words = row["changed"].split(", ")
    moved = [_CHANGED[word] for word in words if word in _CHANGED]
    other = [
        {"operands": "other operands"}.get(word, f"another {word}") for word in words if word not in _CHANGED
    ]
    other = ["other attributes" if word == "another attributes" else word for word in other]
    kinds = [*moved, *([f"with {', '.join(other)}"] if other else [])]
    return f"{of} {' '.join(kinds)}"


def bases(found: Mapping[str, int]) -> str:
    """How the pairs were found; steps that guess are called guesses."""
    names = {"order": "guessed by order", "resized": "by place, of another size"}
    counts = [
        f"{count:,} {names.get(name, name)}"
        for name, count in sorted(found.items(), key=lambda item: (-item[1], item[0]))[:_MOST_BASES]
    ]
    return f"pairs: {', '.join(counts) or 'none'}"


def title(a: Row, b: Row, between: int) -> str:
    """Which two are compared, and by way of how many."""
    names = f"{a['module']}: {_name(a)} → {_name(b)}"
    if a["module"] != b["module"]:
        names = f"{a['module']}: {_name(a)} → {b['module']}: {_name(b)}"
    return f"{names} (by way of {units.count(between, 'pass', 'passes')})" if between else names


def devices(a: Row, b: Row) -> str | None:
    """What two programs say of the devices that they run on; None where that is one, or nothing changed."""
    differences = []
    for key, name in (("replicas", "replicas"), ("partitions", "devices")):
        if a[key] != b[key]:
            differences.append(f"{name} {a[key]} → {b[key]}")
    if not differences and a["per_device"] is not b["per_device"]:
        whole = "the first figures are of all" if b["per_device"] else "the second figures are of all"
        differences.append(f"split over {b['partitions']} devices: {whole}, the others of one")
    elif a["per_device"] and b["per_device"]:
        differences.append(
            f"figures are of one of {b['partitions']} devices" if not differences else "figures are of one"
        )
    return ", ".join(differences) or None


def _name(row: Row) -> str:
    if row["pass"]:
        return f"{row['pass_number']:04} {row['pass']}" if row["pass_number"] is not None else row["pass"]
    compiled = f" of compile {row['compile']}" if row["compile"] and row["compile"] > 1 else ""
    return f"{row['stage'] or row['file']}{compiled}"


def groups(rows: Sequence[Row], most: int | None) -> list[str]:
    """A line for each group, and one for those that a limit left out."""
    shown = rows if most is None else rows[:most]
    lines = [group(row) for row in shown]
    if len(shown) < len(rows):
        lines.append(f"{units.count(len(rows) - len(shown), 'more group')} (--all shows them)")
    return lines


def lines(found: DumpComparison, most: int | None) -> list[str]:
    """A comparison for people: title, totals, devices, and up to `most` groups of changes."""
    lines_ = [title(found.a.row, found.b.row, len(found.paths) - 2), f"  {totals(diffs.totals(found.diff))}"]
    if split := devices(found.a.row, found.b.row):
        lines_.append(f"  {split}")
    counted = diffs.groups(found.diff)
    lines_ += [f"  {line}" for line in groups(counted, most)] if counted else ["  nothing changed"]
    return lines_


def ops(found: DumpComparison) -> list[list[Any]]:
    """Cells of OP_COLUMNS of the framework's ops that something happened to, the most first."""
    return [[units.whole(row[name]) for name in OP_COLUMNS] for row in diffs.op_names(found.diff)]


def changes(found: DumpComparison) -> Iterator[list[Any]]:
    """Cells of CHANGE_COLUMNS, a row for each instruction."""
    for row in diffs.changes(found.diff):
        words = row["changed"]
        yield [", ".join(words) if name == "changed" and words else row[name] for name in CHANGE_COLUMNS]


def document(found: DumpComparison) -> dict[str, Any]:
    """All of a comparison, as JSON has it."""
    return {
        "a": _side(found.a),
        "b": _side(found.b),
        "by_way_of": [Path(path).name for path in found.paths[1:-1]],
        "totals": diffs.totals(found.diff),
        "bases": diffs.bases(found.diff),
        "groups": diffs.groups(found.diff),
        "op_names": diffs.op_names(found.diff),
        "changes": list(diffs.changes(found.diff)),
        "pairs": list(diffs.pairs(found.diff)),
    }


def _side(stage: Stage) -> dict[str, Any]:
    keys = (
        "module", "id", "function", "compile", "stage", "pass", "pass_number", "file", "replicas",
        "partitions", "per_device",
    )  # fmt: skip
    return {key: stage.row[key] for key in keys}
