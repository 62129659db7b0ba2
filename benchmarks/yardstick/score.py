"""What is right about an answer: cause, place and gain for a program; limit, cause, busy time, step and
longest op for a trace.

None means not scored: the truth does not cover it, or the tool gives no such answer. Nothing
else is left out.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.yardstick.answer import Answer, Gain

ABOUT = {
    "input-wait": {"input"},
    "python-in-pipeline": {"input", "python"},
    "recompilation": {"compile"},
    "compile-step": {"compile"},
    "retraced-functions": {"compile"},
    "copies-in-steps": {"copy"},
    "python-between-ops": {"python"},
    "per-op-dispatch": {"dispatch"},
    "dominant-op": {"compute"},
    "copies-between-ops": {"copy"},
    "per-step-io": {"wait"},
    "waits-between-ops": {"wait"},
    "device-idle": {"input", "python", "dispatch", "wait", "compile", "copy"},
}
"""Causes that a finding of high severity may stand for; others say nothing of a cause."""
NEAR = 0.25
"""How far the predicted step may be from the fixed program's, as part of the latter."""
SAME = 0.1
"""How far it is to be."""
LISTED = 3
"""How many entries of a list of places or ops count as its answer."""
BUSY = 0.05
"""How far a device's busy time may be from the truth, as part of it."""
STEP = 0.05
"""How far a step's duration may be."""
LABELS = ("input", "python", "compile", "compute", "copy", "dispatch", "wait", "healthy")


def program(truth: Mapping[str, Any], answer: Answer) -> dict[str, Any]:
    """What is right about the answer to a program."""
    wanted = {truth["cause"], *truth["also_acceptable"]} - {"healthy"}
    wanted |= {"none"} if truth["cause"] == "healthy" else set()
    high = [slug for slug in answer.high if not ABOUT.get(slug, wanted) & wanted]
    return {
        "said": answer.cause,
        "right": None if answer.cause is None else not wanted.isdisjoint((answer.cause, *answer.or_causes)),
        "placed": placed(truth, answer),
        "placed_first": placed(truth, answer._replace(places=answer.places[:1], ops=answer.ops[:1])),
        "false_high": high,
        "gain": gain(truth, answer.gain),
        "places": [place._asdict() for place in answer.places[:LISTED]],
        "ops": list(answer.ops[:LISTED]),
        "sentence": answer.said,
    }


def placed(truth: Mapping[str, Any], answer: Answer) -> bool | None:
    """Whether the line, the function, the op or the stage of the culprit is named, among the first LISTED of
    each list. None for healthy programs, and where the tool names no place at all."""
    wanted = truth.get("place")
    if wanted is None or not (answer.places or answer.ops):
        return None
    for place in answer.places[:LISTED]:
        if Path(place.file).name == wanted["file"]:
            within = wanted["line_from"] <= (place.line or 0) <= wanted["line_to"]
            if within or place.function == wanted["function"]:
                return True
    named = (truth.get("op_type"), (truth.get("stage") or "").partition(" ")[0])
    said = [op.lower().replace("_mkl", "") for op in answer.ops[:LISTED]]
    return any(name and name.lower() in op for name in named for op in said)


def gain(truth: Mapping[str, Any], told: Gain | None) -> dict[str, Any] | None:
    """The predicted step without its cause and the fixed program's, in milliseconds: a number with its range,
    or a bound alone, or nothing. None for healthy programs, and without a step to compare."""
    if truth["cause"] == "healthy" or "ms_fixed" not in truth or told is None:
        return None
    fixed, broken = statistics.median(truth["ms_fixed"]), statistics.median(truth["ms_broken"])
    left, low, high = told.left_ms, told.low_ms, told.high_ms
    in_range = (low is None or low <= fixed) and (high is None or fixed <= high)
    return {
        "step_ms": round(told.step_ms, 2),
        "broken_ms": round(broken, 2),
        "predicted_ms": None if left is None else round(left, 2),
        "fixed_ms": round(fixed, 2),
        "tenth": None if left is None else near(left, fixed, SAME),
        "near": None if left is None else near(left, fixed),
        "within_bounds": in_range if left is not None else None,
        "bound": in_range if left is None and (low is not None or high is not None) else None,
        "fixed_runs_ms": truth["ms_fixed"],
        "direction": _direction(told),
        **_saved(told, broken - fixed),
    }


def _direction(told: Gain) -> bool | None:
    """Whether a step is predicted to be shorter. None without a number."""
    if told.left_ms is None:
        return None if told.saved_ms is None else told.saved_ms > 0
    return told.left_ms < told.step_ms


def _saved(told: Gain, saved: float) -> dict[str, Any]:
    """The same of by how much the step is shorter. From 0 on, it is what goes at most: no number."""
    said = told.saved_ms
    if said is None:
        return dict.fromkeys(("saved_ms", "saved_tenth", "saved_near", "saved_within_bounds"))
    low, high = told.saved_low_ms, told.saved_high_ms
    at_most = low == 0
    return {
        "saved_ms": None if at_most else round(said, 2),
        "saved_tenth": None if at_most else near(said, saved, SAME),
        "saved_near": None if at_most else near(said, saved),
        "saved_within_bounds": (low is None or low <= saved) and (high is None or saved <= high),
    }


def near(one_ms: float, other_ms: float, part: float = NEAR) -> bool:
    """Whether a duration is about another."""
    return abs(one_ms - other_ms) <= part * other_ms


def again(runs_ms: Sequence[float], part: float = NEAR) -> list[bool]:
    """For each run of a program, whether it is near to the middle of the others; empty for fewer than 3."""
    if len(runs_ms) < 3:
        return []
    others = [[*runs_ms[:number], *runs_ms[number + 1 :]] for number in range(len(runs_ms))]
    return [near(one, statistics.median(rest), part) for one, rest in zip(runs_ms, others, strict=True)]


GAINS: Mapping[str, Callable[[Mapping[str, Any]], Sequence[bool | None]]] = {
    "a number is given": lambda gain: [gain["near"] is not None],
    "only a bound is given": lambda gain: [gain["bound"] is not None],
    "number within a tenth": lambda gain: [gain["tenth"]],
    "number within a quarter": lambda gain: [gain["near"]],
    "fixed program within the bounds of the number": lambda gain: [gain["within_bounds"]],
    "fixed program within the bound": lambda gain: [gain["bound"]],
    "by how much the step is shorter is given": lambda gain: [gain.get("saved_ms") is not None],
    "that within a tenth": lambda gain: [gain.get("saved_tenth")],
    "that within a quarter": lambda gain: [gain.get("saved_near")],
    "what goes in the fixed program within the bounds of that": lambda gain: [
        gain.get("saved_within_bounds")
    ],
    "shorter, as predicted": lambda gain: [gain["direction"]],
    "another run of the fixed program within a tenth": lambda gain: again(gain["fixed_runs_ms"], SAME),
    "another run of the fixed program within a quarter": lambda gain: again(gain["fixed_runs_ms"]),
}
"""What is scored of a predicted step; None where nothing is predicted that could be right."""


def shares(results: list[dict[str, Any]]) -> dict[str, Any]:
    """How many of the programs are right, by what is scored. A missing cause is a wrong one here."""

    def part(values: list[Any]) -> str:
        return f"{sum(map(bool, values))} of {len(values)}"

    def known(values: Sequence[Any]) -> str:
        return part([value for value in values if value is not None])

    gains = [one["gain"] for one in results if one["gain"] is not None]
    return {
        "cause": part([one["right"] for one in results]),
        "place": part([one["placed"] for one in results if one["cause"] != "healthy"]),
        "no false high finding": part([not one["false_high"] for one in results]),
        **{name: known([value for one in gains for value in values(one)]) for name, values in GAINS.items()},
    }


def trace(truth: Mapping[str, Any], answer: Answer) -> dict[str, Any]:
    """What is right about the answer to a trace."""
    return {
        "limit": _one_of(answer.limit, truth.get("limit")),
        "cause": _cause(answer, truth.get("cause")),
        "busy": _busy(truth.get("busy_ms"), answer.busy_ms),
        "step": _step(truth.get("step_ms"), answer.step_ms),
        "longest": _longest(truth.get("longest"), answer.ops),
        "said": {
            "limit": answer.limit,
            "cause": answer.cause,
            "busy_ms": {device: round(ms, 4) for device, ms in answer.busy_ms.items()},
            "step_ms": None if answer.step_ms is None else round(answer.step_ms, 4),
            "ops": list(answer.ops[:LISTED]),
            "sentence": answer.said,
        },
    }


def _cause(answer: Answer, wanted: Sequence[str] | None) -> bool | None:
    if answer.cause is None or not wanted:
        return None
    return not set(wanted).isdisjoint((answer.cause, *answer.or_causes))


def _one_of(said: str | None, wanted: Sequence[str] | None) -> bool | None:
    return None if said is None or not wanted else said in wanted


def _busy(wanted: Mapping[str, Sequence[float]] | None, told: Mapping[str, float]) -> bool | None:
    """Whether each device's busy time is right. A tool that gives one number for several devices may mean any
    of them, or their mean; one that gives fewer devices than there are is right if those are."""
    if not wanted or not told:
        return None
    right = [ms for values in wanted.values() for ms in values]
    means = [statistics.mean(values) for values in zip(*wanted.values(), strict=False)]
    return all(any(near(ms, one, BUSY) for one in [*right, *means]) for ms in told.values())


def _step(wanted: Sequence[float] | None, told: float | None) -> bool | None:
    return None if not wanted or told is None else any(near(told, one, STEP) for one in wanted)


def _longest(wanted: Sequence[str] | None, ops: Sequence[str]) -> bool | None:
    """Whether the op that takes longest leads the list. Tools cut and decorate names: one may begin the
    other, without regard to case, spaces and `void `."""
    if not wanted or not ops:
        return None
    first = _plain(ops[0])
    return any(first.startswith(_plain(one)) or _plain(one).startswith(first) for one in wanted)


def _plain(name: str) -> str:
    return "".join(name.removeprefix("void ").split()).rstrip(".…").lower()
