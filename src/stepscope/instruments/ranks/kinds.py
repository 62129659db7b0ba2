"""Kinds of collectives by their names, and what PyTorch's recordings say of their groups.

Ranks end together where each needs something of every other: then the rank with the shortest collective
arrived last, and equal ends tell how far clocks are apart. A broadcast's root may be done before others
begin, and who exchanges parts of different sizes, or with one other rank only, is done when its own are.
"""

from collections.abc import Mapping
from math import prod
from typing import Any, NamedTuple

from stepscope import _core, strict_json

END_TOGETHER = frozenset({"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "barrier"})

_MOST_TEXT = 400
"""Characters of a group that are kept: its ranks are listed in it."""
_MOST_DIMENSIONS = 64
_MOST = 2**63 - 1


class CollectiveFacts(NamedTuple):
    """What a recording shows of a collective."""

    kind: str
    group: str | None = None
    group_size: int | None = None
    sequence: int | None = None
    dtype: str | None = None
    elements_in: int | None = None
    elements_out: int | None = None


def kind_of(name: str) -> str:
    """The kind that a name says: all_reduce for ncclDevKernel_AllReduce_Sum_f32_RING_LL."""
    return _core.collective_kind(name) or "unknown"


def facts_of(names: tuple[str | None, ...], group: str | None, args_json: str | None) -> CollectiveFacts:
    """What the names of a slice, the group that they imply and its named values tell. names: the best
    first."""
    args = strict_json.members(args_json)
    kind = next((kind for name in names if name and (kind := kind_of(name)) != "unknown"), "unknown")
    group = None if group is None else group[:_MOST_TEXT]
    if not args:
        return CollectiveFacts(kind, group)
    return CollectiveFacts(
        _kind(args, kind),
        _group(args, group),
        _number(args.get("Group size")),
        _number(args.get("Seq")),
        _text(args.get("dtype")),
        _number(args["In msg nelems"]) if "In msg nelems" in args else _elements(args.get("Input Dims")),
        _number(args.get("Out msg nelems")),
    )


def _kind(args: Mapping[str, Any], by_name: str) -> str:
    """What kind of a collective the values of a slice tell."""
    written = args.get("Collective name")
    known = kind_of(written) if isinstance(written, str) else "unknown"
    kind = by_name if known == "unknown" else known
    splits = [args.get(key) for key in ("In split size", "Out split size")]
    if kind == "all_to_all" and any(isinstance(split, str) and split.strip("[] ") for split in splits):
        return "all_to_all_v"
    return kind


def _group(args: Mapping[str, Any], implied: str | None) -> str | None:
    """The group of processes that the values of a slice tell, or else the one implied, in its module."""
    name, ranks = (_text(args.get(key)) for key in ("Process Group Name", "Process Group Ranks"))
    if name is not None or ranks is not None:
        return " ".join(part for part in (name, ranks) if part)[:_MOST_TEXT]
    module = _text(args.get("hlo_module"))
    return implied if implied is None or module is None else f"{module} {implied}"[:_MOST_TEXT]


def _elements(shapes: object) -> int | None:
    """Elements of tensors of these shapes, as PyTorch writes them with the marks of gloo: [[64, 10]]."""
    if not isinstance(shapes, list) or not shapes or not all(isinstance(shape, list) for shape in shapes):
        return None
    sizes = [_number(size) for shape in shapes[:_MOST_TEXT] for size in shape[:_MOST_DIMENSIONS]]
    if None in sizes or len(shapes) > _MOST_TEXT or any(len(shape) > _MOST_DIMENSIONS for shape in shapes):
        return None
    found = sum(prod(_number(size) or 0 for size in shape) for shape in shapes)
    return found if found <= _MOST else None


def _text(value: object) -> str | None:
    return value[:_MOST_TEXT] if isinstance(value, str) and value else None


def _number(value: object) -> int | None:
    """A whole number from 0 on, as a number or as its digits."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= _MOST else None
