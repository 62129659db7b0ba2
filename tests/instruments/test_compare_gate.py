"""A gate on recordings whose truth is known: made up, and 28 real ones of two versions of a program."""

import gzip
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.errors import UsageError
from stepscope.instruments.compare import budgets, gate, names
from stepscope.instruments.compare.budgets import Budget, Limit
from stepscope.instruments.compare.matching import NamedItem
from stepscope.instruments.compare.recordings import RecordedRun, Series, low_figure
from stepscope.report.gating import build
from tests.each import each
from tests.tiers import cases

MS = 10**9
STEPS = 40


def series(name: str, times: list[int], kind: str = "MatMul") -> Series:
    """An op that runs once in each step."""
    item = NamedItem(name, kind, "host", names.scope_of(name))
    return Series(item, dict(enumerate(times)), len(times))


def recording(luck: random.Random, ops: dict[str, float], noise: float = 0.01, **more: Any) -> RecordedRun:
    """Ops take their milliseconds, a share more or less in a recording, more when something interrupts."""
    found = {}
    for name, ms in ops.items():
        level = ms * MS * (1 + luck.gauss(0, noise))
        times = [round(level * (1 + luck.expovariate(20))) for _ in range(STEPS)]
        found["host", name, "MatMul"] = series(name, times)
    steps = tuple(sum(one.by_step[i] for one in found.values()) for i in range(STEPS))
    return RecordedRun(
        "run", "path", steps, found, exact={"ops_per_step": len(ops), **more.pop("exact", {})}, **more
    )


BEFORE = {"net/in/MatMul": 1.0, "net/hidden/MatMul": 2.0, "net/out/MatMul": 0.5}
AFTER = {**BEFORE, "net/hidden/MatMul": 2.2}


def sides(a: dict[str, float], b: dict[str, float], n: int = 5, noise: float = 0.01) -> gate.Judged:
    luck = random.Random(1)
    first = [recording(luck, a, noise) for _ in range(n)]
    return gate.judge(first, [recording(luck, b, noise) for _ in range(n)], Budget())


def test_a_slower_op_is_named_and_nothing_else() -> None:
    judged = sides(BEFORE, AFTER)
    assert judged.verdict == "regression"
    assert {one.names for one in judged.slower if one.what == "op"} == {("net/hidden/MatMul",)}
    (slow,) = [one for one in judged.slower if one.what == "op"]
    assert slow.shift == pytest.approx(0.1, abs=0.03)
    assert slow.low is not None
    assert slow.high is not None
    assert slow.low < 0.1 < slow.high


def test_the_same_program_has_no_regression() -> None:
    judged = sides(BEFORE, BEFORE)
    assert judged.verdict == "no_regression"
    assert judged.judged_share == 1
    assert all(one.visible is not None and one.visible < 0.1 for one in judged.timed if one.what == "op")


def test_a_faster_op_is_no_regression() -> None:
    judged = sides(AFTER, BEFORE)
    assert judged.verdict == "no_regression"
    assert [one.names[0] for one in judged.timed if one.status == "faster" and one.what == "op"] == [
        "net/hidden/MatMul"
    ]


@each("n", [1, 2, 3])
def test_few_recordings_are_not_judged(n: int) -> None:
    judged = sides(BEFORE, AFTER, n)
    assert judged.verdict == "unknown"
    assert judged.reasons == ("few_recordings",)
    assert {one.status for one in judged.timed} == {"unjudged"}
    assert all(one.p is None for one in judged.timed)


def test_too_much_noise_is_no_pass() -> None:
    judged = sides(BEFORE, BEFORE, 4, noise=0.4)
    assert judged.verdict == "unknown"
    assert judged.reasons == ("noise",)
    steps = [one for one in judged.timed if one.what == "step"]
    assert judged.variation is not None
    assert judged.variation > gate.MOST_VARIATION
    assert {(one.status, one.why) for one in steps} == {("unjudged", "noise")}


def test_a_renamed_op_is_compared() -> None:
    renamed = {name.replace("hidden", "hidden_7"): ms for name, ms in AFTER.items()}
    (slow,) = [one for one in sides(BEFORE, renamed).slower if one.what == "op"]
    assert (slow.names, slow.other_names, slow.basis) == (
        ("net/hidden/MatMul",),
        ("net/hidden_7/MatMul",),
        "no_suffix",
    )


def test_different_programs_are_not_judged() -> None:
    judged = sides(BEFORE, {"lstm/cell/Gates": 1.0, "lstm/out/Project": 2.0})
    assert judged.verdict != "no_regression"
    assert "different_programs" in judged.reasons


def test_what_replaces_something_in_its_scope_is_compared_with_it() -> None:
    luck = random.Random(3)
    a = [recording(luck, BEFORE) for _ in range(4)]
    b = []
    for _ in range(4):
        one = recording(luck, {"net/in/MatMul": 1.0, "net/out/MatMul": 0.5})
        fused = series(
            "net/hidden/Fused", [round(3 * MS * (1 + luck.gauss(0, 0.01))) for _ in range(STEPS)], "Fused"
        )
        b.append(replace(one, ops={**one.ops, ("host", "net/hidden/Fused", "Fused"): fused}))
    judged = gate.judge(a, b, Budget())
    (slow,) = [one for one in judged.slower if one.what == "op"]
    assert (slow.names, slow.other_names, slow.basis) == (
        ("net/hidden/MatMul",),
        ("net/hidden/Fused",),
        "scope",
    )
    assert slow.shift == pytest.approx(0.5, abs=0.1)


def test_recordings_without_steps_or_with_few() -> None:
    empty = RecordedRun("r", "p")
    assert gate.judge([empty] * 4, [empty] * 4, Budget()).reasons == ("no_steps",)
    luck = random.Random(2)
    short = [replace(recording(luck, BEFORE), step_ps=(MS,) * 9) for _ in range(4)]
    assert gate.judge(short, short, Budget()).reasons == ("few_steps",)


def test_an_op_that_takes_no_time_has_no_figure() -> None:
    assert low_figure([series("a", [0] * STEPS)], STEPS) is None
    assert low_figure([series("a", [5] * 9)], STEPS) is None
    assert low_figure([series("a", [5] * 10), series("b", [2] * 10)], STEPS) == 7


def exact(luck: int = 0, **figures: float) -> RecordedRun:
    return replace(recording(random.Random(luck), BEFORE), exact=figures)


def test_limits_on_counts_need_one_recording_each() -> None:
    more = gate.judge([exact(ops_per_step=59)], [exact(ops_per_step=60)], Budget(), counts_only=True)
    assert more.verdict == "regression"
    assert [one.name for one in more.exceeded] == ["ops_per_step"]
    same = gate.judge([exact(ops_per_step=59)], [exact(ops_per_step=59)], Budget(), counts_only=True)
    assert same.verdict == "no_regression"
    nothing = gate.judge([exact()], [exact()], Budget(), counts_only=True)
    assert nothing.reasons == ("nothing",)


def test_limits_of_figures_that_vary() -> None:
    before = [exact(recompilations=number) for number in (0, 2, 0, 0)]

    def status(*after: int) -> str:
        found = budgets.check(before, [exact(recompilations=number) for number in after], Budget())
        return found[0].status

    assert status(2, 0, 0) == "kept"
    assert status(3, 3, 4) == "exceeded"
    assert status(3, 3, 0) == "unclear"
    one = [exact(memory_peak_bytes=100)]
    assert budgets.check(one, [exact(memory_peak_bytes=130)], Budget())[0].status == "unjudged"
    assert budgets.check(one * 4, [exact(memory_peak_bytes=130)], Budget())[0].status == "exceeded"
    asked = budgets.parse({"limits": {"memory_peak_bytes": "+2 %"}})
    assert budgets.check(one, [exact(memory_peak_bytes=130)], asked)[0].status == "exceeded"


def test_a_limit_of_its_own_needs_no_baseline() -> None:
    budget = budgets.parse({"limits": {"ops_per_step": 60, "memory_peak_bytes": "1 MiB"}})
    candidate = [exact(ops_per_step=59, memory_peak_bytes=2**20 + 1)]
    judged = gate.judge([], candidate, budget, counts_only=True)
    assert [one.name for one in judged.exceeded] == ["memory_peak_bytes"]
    unknown = gate.judge([], [exact(ops_per_step=59)], budget, counts_only=True)
    assert unknown.missing == ("memory_peak_bytes",)
    assert unknown.verdict == "unknown"


def test_what_a_budget_says() -> None:
    found = budgets.parse(
        {
            "limits": {"ops_per_step": "+3", "memory_peak_bytes": "+2.5%", "copies_per_step": False},
            "time": {"minimum_effect": 0.05, "alpha": 0.01},
            "op": {"net/*": {"minimum_effect": 0.2}, "AssignSub*": {"ignore": True}},
        }
    )
    assert found.limits["ops_per_step"] == Limit("more_by", 3)
    assert found.limits["memory_peak_bytes"] == Limit("more_share", 0.025)
    assert "copies_per_step" not in found.limits
    assert (found.minimum_effect, found.alpha) == (0.05, 0.01)
    assert found.rule(["net/x"]).minimum_effect == 0.2
    assert found.rule(["AssignSub_1"]).ignore
    assert found.rule(["other"]).minimum_effect == 0.05
    luck = random.Random(1)
    a, b = ([recording(luck, ops) for _ in range(5)] for ops in (BEFORE, AFTER))
    assert not [one for one in gate.judge(a, b, found).slower if one.what == "op"]


@each(
    ("wrong", "seen"),
    [
        ([], "the file"),
        ({"limit": {}}, "limit in the file"),
        ({"limits": {"op_per_step": 1}}, "op_per_step in limits"),
        ({"limits": {"ops_per_step": "5 %"}}, "limits.ops_per_step"),
        ({"limits": {"ops_per_step": True}}, "limits.ops_per_step"),
        ({"limits": {"ops_per_step": -1}}, "limits.ops_per_step"),
        ({"limits": {"ops_per_step": float("nan")}}, "limits.ops_per_step"),
        ({"time": {"alpha": 0}}, "time.alpha"),
        ({"time": {"minimum_effect": "x"}}, "time.minimum_effect"),
        ({"time": {"minimum_effect": 2}}, "time.minimum_effect"),
        ({"op": {"x": {"ignore": 1}}}, "op.x.ignore"),
        ({"op": {"x": []}}, "op.x"),
    ],
)
def test_a_budget_that_means_nothing(wrong: Any, seen: str) -> None:
    with pytest.raises(UsageError) as caught:
        budgets.parse(wrong)
    assert seen in caught.value.seen
    assert caught.value.slug == "budget"


_json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["limits", "time", "op", "alpha", "ops_per_step", "ignore"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(_json)
def test_any_budget_is_one_or_an_error(found: Any) -> None:
    try:
        made = budgets.parse(found)
    except UsageError:
        return
    assert isinstance(made, Budget)


# --- real recordings: benchmarks/gate.py makes such ---


def real() -> tuple[list[RecordedRun], list[RecordedRun]]:
    """16 recordings of a training loop and 12 of the same with a layer 6.25 % wider."""
    found: tuple[list[RecordedRun], list[RecordedRun]] = ([], [])
    with gzip.open(Path(__file__).parent / "gate_recordings.json.gz") as file:
        data = json.load(file)
    for one in data["recordings"]:
        ops = {}
        for name, kind, times in one["ops"]:
            item = NamedItem(name, kind, "host", names.scope_of(name))
            by_step = {i: ns * 1000 for i, ns in enumerate(times) if ns is not None}
            ops["host", name, kind] = Series(item, by_step, len(by_step))
        steps = tuple(us * 10**6 for us in one["steps"])
        made = RecordedRun(one["name"], one["name"], steps, ops, exact=one["exact"])
        found[one["name"].startswith("b")].append(made)
    return found


def depends(name: str) -> bool:
    """Whether the width of the second hidden layer is in the shapes of an op."""
    return (
        "hidden2" in name
        or "hidden3" in name
        or name
        in ("sgd_1/AssignSubVariableOp_2", "sgd_1/AssignSubVariableOp_3", "sgd_1/AssignSubVariableOp_4")
    )


SPLITS = cases(20, 80)
"""Of real recordings, into 4 against 4."""


def test_real_recordings_of_one_program_raise_no_alarm() -> None:
    """At most 5 % of splits into 4 against 4."""
    a, _ = real()
    luck = random.Random(11)
    alarms = 0
    for _ in range(SPLITS):
        chosen = luck.sample(a, 8)
        alarms += gate.judge(chosen[:4], chosen[4:], Budget()).verdict == "regression"
    assert len(a) == 16
    assert alarms <= 0.05 * SPLITS


def test_a_real_layer_that_grew_is_found_and_named() -> None:
    """In at least 90 % of splits into 4 against 4; machines had a load of 6 to 27."""
    a, b = real()
    luck = random.Random(12)
    found = 0
    named: list[str] = []
    for _ in range(SPLITS):
        judged = gate.judge(luck.sample(a[:12], 4), luck.sample(b, 4), Budget())
        slower = [one.names[0] for one in judged.slower if one.what == "op"]
        found += any("hidden2" in name for name in slower)
        named += slower
    assert found >= 0.9 * SPLITS
    # One op of unchanged shapes takes 5 % more in the 12 + 12 recordings, too (p = 0.003, not yet adjusted
    # for the 11 ops); why is not known.
    others = [name for name in named if not depends(name)]
    assert len(others) < 0.1 * SPLITS


def with_ops(luck: random.Random, ops: dict[str, float], number: int) -> RecordedRun:
    return recording(luck, ops, exact={"ops_per_step": number})


@pytest.mark.parametrize("n", [1, 5])
def test_more_ops_in_less_time_are_no_regression(n: int) -> None:
    """Python that was replaced by ops: nearly twice as many of them in a third of the time."""
    luck = random.Random(1)
    before = [with_ops(luck, BEFORE, 379) for _ in range(n)]
    third = {name: ms / 3 for name, ms in BEFORE.items()}
    after = [with_ops(luck, third, 712) for _ in range(n)]
    judged = gate.judge(before, after, Budget())
    assert [one.status for one in judged.limits] == ["paid"]
    assert judged.verdict == ("no_regression" if n > 4 else "unknown")
    first, second, *_ = build(judged).headline
    begins = "An improvement" if n > 4 else "Faster in these recordings"
    assert first.startswith(f"{begins}: steps are 6")
    assert "ops in a step 712, allowed 379 if they took longer" in first
    assert second.startswith("No regression: " if n > 4 else "No verdict: ")
    # Whoever asks for a limit gets it; so does who compares counts alone.
    asked = budgets.parse({"limits": {"ops_per_step": "+0"}})
    assert gate.judge(before, after, asked).verdict == "regression"
    assert gate.judge(before, after, Budget(), counts_only=True).verdict == "regression"


def test_more_ops_in_the_same_time_are_a_regression() -> None:
    luck = random.Random(1)
    before, after = (with_ops(luck, BEFORE, 379), with_ops(luck, BEFORE, 380))
    assert gate.judge([before], [after], Budget()).verdict == "regression"
