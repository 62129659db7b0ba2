"""Budgets of a gate: limits on figures without noise, and how the time of ops is judged."""

import difflib
import fnmatch
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from stepscope.errors import UsageError
from stepscope.instruments.compare.recordings import EXACT, RecordedRun

_SIZES = {"": 1, "B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_LIMIT = re.compile(r"(\+?)\s*(\d+(?:\.\d+)?)\s*(%|[kMG]?B|[KMG]iB)?")


class Limit(NamedTuple):
    """The most that a figure may be. kind: at_most (a value), more_by (than the baseline), or more_share
    (0.01 is 1 % more than the baseline)."""

    kind: Literal["at_most", "more_by", "more_share"]
    value: float

    def allowed(self, baseline: float | None) -> float | None:
        """The highest value that keeps it; None when it depends on a baseline that is not there."""
        if self.kind == "at_most":
            return self.value
        if baseline is None:
            return None
        return baseline + self.value if self.kind == "more_by" else baseline * (1 + self.value)


NO_MORE = Limit("more_by", 0)
LIMITS: Mapping[str, Limit] = {
    "ops_per_step": NO_MORE,
    "kernels_per_step": NO_MORE,
    "copies_per_step": NO_MORE,
    "copied_bytes_per_step": NO_MORE,
    "recompilations": NO_MORE,
    "memory_peak_bytes": Limit("more_share", 0.01),
}


@dataclass(frozen=True)
class OpRule:
    """What a budget says of ops whose names match a pattern."""

    pattern: str
    minimum_effect: float | None = None
    ignore: bool = False


@dataclass(frozen=True)
class Budget:
    """How two sides are judged. Shares and effects are from 0 to 1."""

    limits: Mapping[str, Limit] = field(default_factory=lambda: dict(LIMITS))
    minimum_effect: float = 0.02
    """Changes below it are none."""
    alpha: float = 0.05
    """Part of the changes found that may be false ones."""
    least_share: float = 0.01
    """Ops that take less of all ops are not judged."""
    can_see: float = 0.10
    """An op counts as judged when a change of this size would have been seen."""
    judged_share: float = 0.5
    """The part of the ops' time that must be judged, for a verdict of no regression."""
    ops: tuple[OpRule, ...] = ()
    named: frozenset[str] = frozenset()
    """Limits that somebody asked for; the others are ours."""

    def rule(self, names: Sequence[str]) -> OpRule:
        """What is said of an op with these names; the first pattern that matches one of them counts."""
        for rule in self.ops:
            if any(fnmatch.fnmatchcase(name, rule.pattern) for name in names):
                return (
                    replace(rule, minimum_effect=self.minimum_effect) if rule.minimum_effect is None else rule
                )
        return OpRule("", self.minimum_effect)


_TIME = ("minimum_effect", "alpha", "least_share", "can_see", "judged_share")


def parse(found: Any) -> Budget:
    """A budget from what a TOML or JSON file holds. UsageError, with the key, for what it cannot say."""
    table = _table(found, "the file", ("limits", "time", "op"))
    limits = dict(LIMITS)
    asked = _table(table.get("limits", {}), "limits", tuple(EXACT))
    for name, value in asked.items():
        if value is False:
            limits.pop(name, None)
        else:
            limits[name] = _limit(f"limits.{name}", value)
    time = {
        name: _share(f"time.{name}", value)
        for name, value in _table(table.get("time", {}), "time", _TIME).items()
    }
    if not 0 < time.get("alpha", 0.05) <= 0.5:
        raise _wrong("time.alpha", time["alpha"], "above 0 and at most 0.5")
    ops = []
    for pattern, value in _table(table.get("op", {}), "op", None).items():
        rule = _table(value, f"op.{pattern}", ("minimum_effect", "ignore"))
        ignore = rule.get("ignore", False)
        if not isinstance(ignore, bool):
            raise _wrong(f"op.{pattern}.ignore", ignore, "true or false")
        effect = rule.get("minimum_effect")
        least = None if effect is None else _share(f"op.{pattern}.minimum_effect", effect)
        ops.append(OpRule(pattern, least, ignore))
    return Budget(limits, ops=tuple(ops), named=frozenset(asked), **time)


def _table(found: Any, where: str, known: tuple[str, ...] | None) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise _wrong(where, found, "a table of names and values")
    for name in found:
        if known is not None and name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise UsageError(
                "The budget has a name that means nothing",
                seen=f"{name} in {where}",
                todo=f"{hint}known here: {', '.join(known)}",
                slug="budget",
            )
    return found


def _limit(where: str, value: Any) -> Limit:
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf:
        return Limit("at_most", float(value))
    match = _LIMIT.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or (match[3] == "%" and not match[1]):
        raise _wrong(where, value, "a number, a size as 2 GiB, an increase as +3 or +1 %, or false")
    if match[3] == "%":
        return Limit("more_share", float(match[2]) / 100)
    return Limit("more_by" if match[1] else "at_most", float(match[2]) * _SIZES[match[3] or ""])


def _share(where: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise _wrong(where, value, "a share from 0 to 1: 0.02 is 2 %")
    return float(value)


def _wrong(where: str, value: Any, wanted: str) -> UsageError:
    return UsageError(
        "The budget has a value that means nothing",
        seen=f"{where} is {str(value)[:80]!r}",
        todo=f"give {wanted}",
        slug="budget",
    )


VARYING = "memory_peak_bytes"
"""The one figure of these that may differ between recordings of one program, as threads happen to overlap."""
_LEAST_VARYING = 4

PAYABLE = ("ops_per_step", "kernels_per_step", "copies_per_step", "copied_bytes_per_step")
"""Counts of work. More of it in less time is no regression, unless somebody asked for the limit."""

Status = Literal["kept", "exceeded", "paid", "unclear", "unjudged"]


class Kept(NamedTuple):
    """A limit and what was found. status: kept, exceeded, paid where more work takes less time, unclear where
    recordings of one side differ, or unjudged where that they might is not known, and nobody asked for the
    limit."""

    name: str
    unit: str
    limit: Limit
    baseline: tuple[float, float] | None
    """Least and most of the recordings of the baseline."""
    candidate: tuple[float, float]
    allowed: float
    status: Status


def check(baseline: Sequence[RecordedRun], candidate: Sequence[RecordedRun], budget: Budget) -> list[Kept]:
    """Every limit on a figure that both sides know."""
    found = []
    for name, limit in budget.limits.items():
        before = [run.exact[name] for run in baseline if name in run.exact]
        after = [run.exact[name] for run in candidate if name in run.exact]
        if not after:
            continue
        allowed = limit.allowed(max(before) if before else None)
        if allowed is None:
            continue
        found.append(
            Kept(
                name,
                EXACT[name],
                limit,
                (min(before), max(before)) if before else None,
                (min(after), max(after)),
                allowed,
                _status(name, limit, before, after, allowed),
            )
        )
    return found


def _status(
    name: str, limit: Limit, before: Sequence[float], after: Sequence[float], allowed: float
) -> Status:
    from statistics import median

    if limit.kind == "at_most":
        return "exceeded" if max(after) > allowed else "kept"
    if name == VARYING and len(before) < _LEAST_VARYING and limit == LIMITS[name]:
        return "unjudged"
    if min(after) > allowed:
        return "exceeded"
    return "unclear" if median(after) > allowed else "kept"


def paid(limits: Sequence[Kept], budget: Budget) -> list[Kept]:
    """The limits where steps became shorter, which pays for more work in them."""
    return [
        limit._replace(status="paid")
        if limit.status in ("exceeded", "unclear")
        and limit.name in PAYABLE
        and limit.name not in budget.named
        else limit
        for limit in limits
    ]


def missing(candidate: Sequence[RecordedRun], budget: Budget) -> list[str]:
    """Limits that a budget file sets, on figures that the candidate does not know."""
    return [
        name
        for name, limit in budget.limits.items()
        if LIMITS.get(name) != limit and not any(name in run.exact for run in candidate)
    ]
