"""Matches between two recordings, in passes from what is certain to what is likely.

Names come first, then names without what compilers and frameworks append to them, then what stands between
the same neighbours in the same scope, then the line of the program. Every match says which pass found it.
What is left over was added or removed, and has the deepest scope that both sides have.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Literal, NamedTuple

from stepscope.instruments.compare import names

Basis = Literal[
    "name",
    "name_in_other_scope",
    "no_suffix",
    "no_numbers",
    "no_arguments",
    "no_architecture",
    "neighbours",
    "line",
]
"""What a match rests on."""

Scope = tuple[str, ...]
_DEEPEST = 24
"""Scopes that are looked at, from the innermost outwards."""


class NamedItem(NamedTuple):
    """A thing with a name. Empty text: not known."""

    name: str
    kind: str
    """Type of the op; of a kernel the op that launched it."""
    place: str = "host"
    """Only things of one place match."""
    scope: Scope = ()
    shape: str = ""
    line: str = ""
    """File and line of the program that made it."""
    order: int = 0
    """When it comes in a step, compared with the others."""


class Match(NamedTuple):
    """Things of both sides that are the same. Several where numbers or types of their names differ, and
    which belongs to which is unknown."""

    a: tuple[int, ...]
    b: tuple[int, ...]
    basis: Basis


class MatchedItems(NamedTuple):
    """All items of both sides, each exactly once."""

    matches: list[Match]
    removed: dict[int, Scope]
    """Items that only A has, with the deepest scope that both sides have."""
    added: dict[int, Scope]


Key = Callable[[NamedItem], Hashable]
"""What items have to share; None for an item that this pass leaves out."""


def match(a: Sequence[NamedItem], b: Sequence[NamedItem]) -> MatchedItems:
    """Matches the items of two sides."""
    found: list[Match] = []
    left = (_ordered(a), _ordered(b))

    def apply(key_a: Callable[[int], Hashable], key_b: Callable[[int], Hashable], basis: Basis) -> None:
        nonlocal left
        if not all(left):
            return
        new = _paired(left, (key_a, key_b), basis)
        found.extend(new)
        gone_a = {i for pairing in new for i in pairing.a}
        gone_b = {i for pairing in new for i in pairing.b}
        left = ([i for i in left[0] if i not in gone_a], [i for i in left[1] if i not in gone_b])

    def match_by(key: Key, basis: Basis) -> None:
        apply(lambda i: key(a[i]), lambda i: key(b[i]), basis)

    match_by(lambda item: (item.place, item.name, item.kind, item.scope), "name")
    match_by(lambda item: (item.place, item.name), "name_in_other_scope")
    for stripped, basis in _STRIPPED:
        match_by(lambda item, to=stripped: (item.place, item.kind, to(item.name)), basis)  # type: ignore[misc]
        match_by(lambda item, to=stripped: (item.place, to(item.name)), basis)  # type: ignore[misc]
    between_a, between_b, anchored = _segments(a, b, found) if all(left) else ({}, {}, set())
    deepest = max((len(a[i].scope) for i in left[0]), default=0)
    for up in range(min(deepest, _DEEPEST) + 1):
        for with_shape, with_place in ((True, True), (False, True), (False, False)):

            def key(item: NamedItem, segment: int, up: int, with_shape: bool, with_place: bool) -> Hashable:
                if not item.kind or len(item.scope) < up or (with_shape and not item.shape):
                    return None
                scope = tuple(map(names.strip_suffixes, item.scope[: len(item.scope) - up]))
                if not scope and not (with_place and item.place in anchored):
                    return None  # without a scope, the neighbours have to tell
                return (
                    *(item.place, scope, item.kind),
                    item.shape if with_shape else None,
                    segment if with_place else None,
                )

            def key_a(i: int, args: tuple[int, bool, bool] = (up, with_shape, with_place)) -> Hashable:
                return key(a[i], between_a.get(i, 0), *args)

            def key_b(i: int, args: tuple[int, bool, bool] = (up, with_shape, with_place)) -> Hashable:
                return key(b[i], between_b.get(i, 0), *args)

            apply(key_a, key_b, "neighbours")
    match_by(lambda item: (item.place, item.line) if item.line else None, "line")
    return MatchedItems(found, _homes(left[0], a, b), _homes(left[1], b, a))


_STRIPPED: tuple[tuple[Callable[[str], str], Basis], ...] = (
    (names.strip_suffixes, "no_suffix"),
    (names.strip_numbers, "no_numbers"),
    (names.strip_arguments, "no_arguments"),
    (names.strip_architecture, "no_architecture"),
)


def _ordered(items: Sequence[NamedItem]) -> list[int]:
    return sorted(range(len(items)), key=lambda i: (items[i].place, items[i].order, items[i].name, i))


def _paired(
    left: tuple[list[int], list[int]],
    keys: tuple[Callable[[int], Hashable], Callable[[int], Hashable]],
    basis: Basis,
) -> list[Match]:
    """What shares a key. As many on both sides are paired in their order, others are one group."""
    groups: tuple[dict[Hashable, list[int]], dict[Hashable, list[int]]] = (
        defaultdict(list),
        defaultdict(list),
    )
    for side in (0, 1):
        for i in left[side]:
            if (key := keys[side](i)) is not None:
                groups[side][key].append(i)
    found = []
    for key, in_a in groups[0].items():
        in_b = groups[1].get(key)
        if not in_b:
            continue
        if len(in_a) == len(in_b):
            found += [Match((i,), (j,), basis) for i, j in zip(in_a, in_b, strict=True)]
        else:
            found.append(Match(tuple(in_a), tuple(in_b), basis))
    return found


def _segments(
    a: Sequence[NamedItem], b: Sequence[NamedItem], found: Iterable[Match]
) -> tuple[dict[int, int], dict[int, int], set[str]]:
    """Between which matched items every item of each side comes: the number of those before it that have the
    same order on both sides. And the places that have such items."""
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)
    rank_a = {i: rank for rank, i in enumerate(_ordered(a))}
    rank_b = {i: rank for rank, i in enumerate(_ordered(b))}
    for pairing in found:
        if len(pairing.a) == len(pairing.b) == 1:
            places[a[pairing.a[0]].place].append((rank_a[pairing.a[0]], rank_b[pairing.b[0]]))
    chains = {place: _longest_chain(sorted(pairs)) for place, pairs in places.items()}
    before = []
    for items, rank, side in ((a, rank_a, 0), (b, rank_b, 1)):
        starts = {place: [pair[side] for pair in chain] for place, chain in chains.items()}
        before.append({i: bisect_left(starts.get(item.place, []), rank[i]) for i, item in enumerate(items)})
    return before[0], before[1], {place for place, chain in chains.items() if chain}


def _longest_chain(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest chain of pairs, sorted by their first number, in which the second numbers grow, too."""
    ends: list[int] = []  # indices of pairs: the least second number at which a chain of each length ends
    seconds: list[int] = []
    before: list[int | None] = []
    for i, (_, second) in enumerate(pairs):
        place = bisect_left(seconds, second)
        before.append(ends[place - 1] if place else None)
        if place == len(ends):
            ends.append(i)
            seconds.append(second)
        else:
            ends[place] = i
            seconds[place] = second
    chain = []
    at = ends[-1] if ends else None
    while at is not None:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]


def _homes(left: Sequence[int], mine: Sequence[NamedItem], other: Sequence[NamedItem]) -> dict[int, Scope]:
    """The deepest scope of each item that is left over which the other side has, too."""
    homes: dict[int, Scope] = {}
    if not left:
        return homes
    known: set[Scope] = set()
    for item_scope in {item.scope for item in other}:
        scope = tuple(map(names.strip_suffixes, item_scope))
        known.update(scope[:depth] for depth in range(len(scope) + 1))
    for i in left:
        scope = mine[i].scope
        while scope and tuple(map(names.strip_suffixes, scope)) not in known:
            scope = scope[:-1]
        homes[i] = scope
    return homes
