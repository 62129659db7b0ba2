"""The ops of a run as things that can be found again in another run: names, scopes, types, lines, order."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from stepscope.instruments.causes.layers import layer_of
from stepscope.instruments.compare import names
from stepscope.instruments.compare.matching import MatchedItems, NamedItem, match
from stepscope.instruments.compare.sides import Side
from stepscope.library.statements import statement


class Op(NamedTuple):
    """What an op takes within the steps that are compared."""

    item: NamedItem
    class_: str
    """compute, copy, collective, compile, python, input or wait."""
    runs: int
    own_ps: int


@dataclass(frozen=True)
class OpFacts:
    """What else is known of the names of a run's ops."""

    made_of: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The framework's name and the line of instructions."""
    lines: Mapping[str, str] = field(default_factory=dict)
    shapes: Mapping[str, str] = field(default_factory=dict)
    launched: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of ops on devices: the ops that launch them most, the outer one first."""

    def name_of(self, op: str) -> str:
        """The framework's name of an instruction, or the name itself."""
        return self.made_of[op][0] if op in self.made_of else op

    def item(self, place: str, op: str, op_type: str, order: int) -> NamedItem:
        """An op as a thing to match."""
        path, line = self.made_of.get(op, (op, ""))
        launched = self.launched.get(op, ()) if place == "device" else ()
        kind = op_type if op_type != op else names.strip_suffixes(op) if op in self.made_of else ""
        return NamedItem(
            name=path,
            kind=launched[-1] if launched else kind,
            place=place,
            scope=launched[:-1] if launched else names.scope_of(path),
            shape=self.shapes.get(op, ""),
            line=line or self.lines.get(op, ""),
            order=order,
        )


def facts_of(side: Side) -> OpFacts:
    """Asks a side for what its tables know of the names."""
    ask = side.query
    made_of, lines = {}, {}
    for name, path, file, line in ask(statement("names_of_instructions", run_id=side.run_id)).rows():
        made_of[name] = (path, "" if file is None or line is None else f"{file}:{line}")
    for op, file, line, _ in ask(statement("lines_of_ops", run_id=side.run_id)).rows():
        lines[op] = f"{file}:{line}"
    shapes = dict(ask(statement("shapes_of_ops", run_id=side.run_id)).rows())
    launched: dict[str, tuple[str, ...]] = {}
    asked = statement("launches_of_ops", run_id=side.run_id, host_ids=side.host_ids)
    for op, caller, around, _ in ask(asked).rows():
        launched.setdefault(op, tuple(name for name in (around, caller) if name))
    return OpFacts(made_of, lines, shapes, launched)


def ops_in_steps(side: Side, about: OpFacts, whole: bool) -> list[Op]:
    """The ops of a side in its steps, longest first. whole: all steps, not only averaged ones."""
    asked = statement("ops_in_steps", run_id=side.run_id, host_ids=side.host_ids, whole=int(whole))
    return _ops(side.query(asked).rows(), about)


def all_ops(side: Side, about: OpFacts) -> list[Op]:
    """The ops of a side, steps or not."""
    asked = statement("ops_without_steps", run_id=side.run_id, host_ids=side.host_ids)
    return _ops(side.query(asked).rows(), about)


def float_operations(side: Side) -> dict[str, int]:
    """Floating point operations of a step by op type, where something tells them."""
    if not side.query(statement("operations_told", run_id=side.run_id)).rows():
        return {}
    rows = side.query(statement("float_ops_of_run", run_id=side.run_id)).rows()
    return {op_type: number for op_type, number, _ in rows if number}


def _ops(rows: Iterable[tuple[str, str, str, str, int, int, int]], about: OpFacts) -> list[Op]:
    """What is called alike is one op: instructions that were made of one op are, too."""
    merged: dict[tuple[str, str, str], Op] = {}
    for place, op, op_type, class_, runs, own_ps, offset_ps in rows:
        item = about.item(place, op, op_type, offset_ps)
        key = (place, item.name, item.kind)
        if (before := merged.get(key)) is None:
            merged[key] = Op(item, class_, runs, own_ps)
        else:
            earlier = min(before.item.order, item.order)
            merged[key] = Op(
                before.item._replace(order=earlier), before.class_, before.runs + runs, before.own_ps + own_ps
            )
    return list(merged.values())


class Pair(NamedTuple):
    """Ops of both sides that are the same, or an op that only one side has."""

    a: tuple[str, ...]
    """Names in A; empty for what was added."""
    b: tuple[str, ...]
    place: str
    basis: str
    """Why they are the same, as in matching.Basis; "added" or "removed"."""
    scope: str
    """Of what only one side has: the deepest scope that both sides have."""
    layer: str
    a_ps: int
    b_ps: int
    a_runs: int
    b_runs: int


def pairs(a: Sequence[Op], b: Sequence[Op]) -> list[Pair]:
    """All ops of both sides, each exactly once."""
    return joined(a, b, match([op.item for op in a], [op.item for op in b]))


def joined(a: Sequence[Op], b: Sequence[Op], matched: MatchedItems) -> list[Pair]:
    """The same for a match that is known."""
    found = []
    groups: list[tuple[tuple[int, ...], tuple[int, ...], str, tuple[str, ...]]] = [
        *((pair.a, pair.b, pair.basis, ()) for pair in matched.matches),
        *(((i,), (), "removed", scope) for i, scope in matched.removed.items()),
        *(((), (i,), "added", scope) for i, scope in matched.added.items()),
    ]
    for in_a, in_b, basis, scope in groups:
        first = (a[in_a[0]] if in_a else b[in_b[0]]).item
        names_a, a_ps, a_runs = _together([a[i] for i in in_a])
        names_b, b_ps, b_runs = _together([b[i] for i in in_b])
        found.append(
            Pair(
                a=names_a,
                b=names_b,
                place=first.place,
                basis=basis,
                scope="/".join(scope),
                layer=layer_of(first.name) or "/".join(first.scope),
                a_ps=a_ps,
                b_ps=b_ps,
                a_runs=a_runs,
                b_runs=b_runs,
            )
        )
    return found


def _together(ops: Sequence[Op]) -> tuple[tuple[str, ...], int, int]:
    """Names, time and executions of the ops of one side of a pair: nearly always of one op."""
    if len(ops) == 1:
        (op,) = ops
        return (op.item.name,), op.own_ps, op.runs
    return tuple(op.item.name for op in ops), sum(op.own_ps for op in ops), sum(op.runs for op in ops)


def shared_out(totals: Sequence[int], number: int) -> list[int]:
    """Each total divided by `number` in whole numbers that add up to the sum divided by it.

    An exact quotient is cut where the running sum says, so no part is off by more than 1."""
    done, before, found = 0, 0, []
    for total in totals:
        done += total
        now = done // number
        found.append(now - before)
        before = now
    return found


def matched_share(found: Sequence[Pair], place: str | None = None) -> tuple[float | None, float | None]:
    """The part of the time of A, and of B, whose names were found on the other side; of one place, or of all.
    None where a side takes no time there."""
    mine = [pair for pair in found if place in (None, pair.place)]
    shares = []
    for time in ([pair.a_ps for pair in mine], [pair.b_ps for pair in mine]):
        whole = sum(time)
        both = sum(ps for ps, pair in zip(time, mine, strict=True) if pair.a and pair.b)
        shares.append(both / whole if whole else None)
    return shares[0], shares[1]


def count_by_basis(found: Iterable[Pair]) -> dict[str, tuple[int, int, int]]:
    """How many matches rest on what, with the time of A and of B that they hold."""
    counts: Counter[str] = Counter()
    time: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for pair in found:
        counts[pair.basis] += 1
        time[pair.basis][0] += pair.a_ps
        time[pair.basis][1] += pair.b_ps
    return {basis: (number, *time[basis]) for basis, number in counts.items()}  # type: ignore[misc]
