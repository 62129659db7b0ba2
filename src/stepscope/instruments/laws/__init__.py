"""Laws: what must hold before a sentence is printed.

A law is a module of this folder with HOLDS (what must hold), TOLERANCE, WEAKENS (what may not be said where
it fails), and one of these:

- `broken(query)`: how sources break it, for laws about what was recorded; rows of the table `broken_law`;
- `proved(judgement)`: the same judgement, or what remains true of it, for laws about what is concluded;
- neither, where the law is kept by construction: KEPT_BY names the function that keeps it.

A law that weakens what is said of busy devices has BOUND: what then stands before it. One that only the work
of accelerators can break has OF_DEVICES, and is not asked of recordings without one. `stepscope docs laws`
prints them all.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, cast

from stepscope.instruments.laws.violation import Broken, Weakens
from stepscope.lake.source_ids import first_id
from stepscope.library.statements import Query, statement

if TYPE_CHECKING:
    from stepscope.instruments.causes.judgement import Judgement

__all__ = ["Broken", "Law", "all_laws", "bound", "broken", "proved", "rows", "weakens"]

_NO_LAWS = frozenset({"violation"})


class Law(Protocol):
    """A module that states a law."""

    HOLDS: str
    TOLERANCE: str
    WEAKENS: tuple[Weakens, ...]


@cache
def all_laws() -> Mapping[str, Law]:
    """Every law by its name, in alphabetical order."""
    names = sorted(found.name for found in pkgutil.iter_modules(__path__) if found.name not in _NO_LAWS)
    return {name: cast("Law", importlib.import_module(f"{__name__}.{name}")) for name in names}


def weakens(law: str) -> tuple[Weakens, ...]:
    """What may not be said where a law is broken; nothing for a law that this version does not know."""
    found = all_laws().get(law)
    return () if found is None else found.WEAKENS


def bound(broken: Iterable[str]) -> str:
    """The words before the time that a device was busy: at least, at most, or none. broken: names of laws
    that do not hold."""
    known = (all_laws().get(name) for name in broken)
    found = {bound_of_law for law in known if (bound_of_law := getattr(law, "BOUND", None))}
    return found.pop() if len(found) == 1 else "about" if found else ""


def rows(query: Query) -> list[dict[str, Any]]:
    """Rows of the table broken_law, by source."""
    ((device_rows,),) = query(statement("law_device_rows")).rows()
    found = [
        (violation.source_id, name, violation.said, violation)
        for name, law in all_laws().items()
        if (device_rows or not getattr(law, "OF_DEVICES", False)) and (find := getattr(law, "broken", None))
        for violation in find(query)
    ]
    kept: list[dict[str, Any]] = []
    counted: Counter[int] = Counter()
    for source_id, name, sentence, violation in sorted(found):
        kept.append(
            {
                "id": first_id(source_id) + counted[source_id],
                "run_id": violation.run_id,
                "host_id": violation.host_id,
                "source_id": source_id,
                "law": name,
                "number": violation.number,
                "of_number": violation.of,
                "said": sentence,
            }
        )
        counted[source_id] += 1
    return kept


def broken(query: Query) -> dict[tuple[str, str], list[Broken]]:
    """The laws that sources break, by run and host."""
    found: dict[tuple[str, str], list[Broken]] = {}
    for row in query(statement("broken_laws")).rows():
        found.setdefault((row[0], row[1]), []).append(Broken(*row))
    return found


def proved(judged: Sequence[Judgement], query: Query) -> list[Judgement]:
    """The judgements as far as laws let them stand, each with the laws that are broken."""
    of_sources = broken(query)
    found = []
    for judgement in judged:
        kept = replace(
            judgement, broken=(*judgement.broken, *of_sources.get((judgement.run_id, judgement.host_id), ()))
        )
        for law in all_laws().values():
            if prove := getattr(law, "proved", None):
                kept = prove(kept)
        if any(weakens(law.law) for law in kept.broken):
            kept = replace(kept, confidence="low")
        found.append(kept)
    return found
