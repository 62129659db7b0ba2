"""The yardstick: its truths, its scorer, and the page made of its results."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.yardstick import answer, page, reading, score, tools, truth
from benchmarks.yardstick.answer import Answer, Gain, Place

CULPRIT = {
    "cause": "wait",
    "also_acceptable": ["python"],
    "op_type": None,
    "stage": None,
    "place": {"file": "slow.py", "line_from": 6, "line_to": 8, "function": "inner"},
}


def test_the_page_is_made_of_results_and_truths() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.text(), (
        "stale: run `python -m benchmarks.yardstick page`"
    )


def test_the_line_that_calls_is_a_place_where_the_sentence_names_it() -> None:
    place, caller = ({"file": f"/a/{name}.py", "line": 7, "function": name} for name in ("one", "all"))
    answer = {"cause": "dispatch", "place": place, "called_from": caller}
    told: dict[str, Any] = {"answer": answer, "causes": [], "findings": []}
    first = "Launching ops takes 60.0 % of a step, in one.py:7 `one`"
    for headline, places in ((f"{first}.", ["one"]), (f"{first}, called in all.py:7 `all`.", ["one", "all"])):
        found = tools.modules()["stepscope"]._answer({**told, "headline": [headline]})
        assert [place.function for place in found.places] == places


def test_the_truth_of_a_program_is_read_from_it(tmp_path: Path) -> None:
    program = tmp_path / "slow.py"
    program.write_text(
        'TRUTH = {"cause": "wait", "fix": "do not"}\n\n\ndef outer():\n    def inner():\n'
        "        one()  # culprit\n        two()\n        three()  # culprit\n"
    )
    (tmp_path / "shared.py").write_text("x = 1\n")
    (found,) = truth.programs(tmp_path)
    assert (found.name, found.path) == ("slow", program)
    unsaid = {"also_acceptable": [], "op_type": None, "stage": None}
    assert found.truth == {"cause": "wait", "fix": "do not", "place": CULPRIT["place"], **unsaid}


def test_every_program_says_a_cause_and_sick_ones_mark_a_line() -> None:
    programs = truth.programs()
    scripts = {path.stem for path in truth.PROGRAMS.glob("*.py")}
    assert {program.name for program in programs} == scripts - {"harness"}
    for program in programs:
        assert program.truth["cause"] in score.LABELS
        healthy = program.truth["cause"] == "healthy"
        assert healthy == (program.truth["place"] is None), program.name


def test_every_trace_says_where_it_is_from_and_what_limits_it() -> None:
    traces = truth.traces()
    assert len(traces) >= 40
    for key in ("name", "sha256"):
        assert len({getattr(trace, key) for trace in traces}) == len(traces)
    for trace in traces:
        assert len(trace.sha256) == 64, trace.name
        assert trace.project.count("/") == 1, trace.name
        assert trace.licence, trace.name
        assert trace.truth["limit"], trace.name
        assert set(trace.truth["limit"]) <= set(truth.LIMITS), trace.name
        assert trace.kind in tools.modules()["stepscope"].KINDS


def test_traces_are_found_by_content(tmp_path: Path) -> None:
    some = truth.traces()[0]._replace(bytes=3, sha256=hashlib.sha256(b"abc").hexdigest())
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "any name").write_bytes(b"abc")
    (tmp_path / "other").write_bytes(b"abd")
    assert truth.locate([some], [tmp_path]) == {some.name: tmp_path / "deep" / "any name"}
    assert truth.locate([some._replace(bytes=4)], [tmp_path]) == {}


@pytest.mark.parametrize(
    ("said", "right"),
    [
        (Answer("wait"), True),
        (Answer("python"), True),
        (Answer("input", or_causes=["copy", "wait"]), True),
        (Answer("input"), False),
        (Answer(), None),
    ],
)
def test_a_cause_is_right_where_truth_or_an_honest_reader_has_it(said: Answer, right: bool | None) -> None:
    assert score.program(CULPRIT, said)["right"] is right


def test_a_healthy_program_has_the_cause_none_and_no_place() -> None:
    healthy = {"cause": "healthy", "also_acceptable": [], "place": None}
    found = score.program(healthy, Answer("none", places=[Place("slow.py", 7, "inner")]))
    assert (found["right"], found["placed"], found["gain"]) == (True, None, None)
    assert score.program(healthy, Answer("compute"))["right"] is False


@pytest.mark.parametrize(
    ("places", "right"),
    [
        ([Place("a/slow.py", 7, None)], True),
        ([Place("slow.py", 90, "inner")], True),
        ([Place("slow.py", 90, "outer")], False),
        ([Place("other.py", 7, "inner")], False),
        ([Place("slow.py", 1, "f")] * 2 + [Place("slow.py", 6, "g")], True),
        ([Place("slow.py", 1, "f")] * 3 + [Place("slow.py", 6, "g")], False),
        ([], None),
    ],
)
def test_a_place_is_a_line_or_the_function_among_the_first_three(
    places: list[Place], right: bool | None
) -> None:
    assert score.placed(CULPRIT, Answer(places=places)) is right


def test_an_op_or_a_stage_places_as_well() -> None:
    known = {**CULPRIT, "op_type": "MatMul", "stage": "ParallelMapV2 (decode)"}
    assert score.placed(known, Answer(ops=["_MklMatMul"])) is True
    assert score.placed(known, Answer(ops=["Iterator::Root::ParallelMapV2"])) is True
    assert score.placed(known, Answer(ops=["Softmax"])) is False


def test_a_gain_is_held_against_the_fixed_program() -> None:
    known = {**CULPRIT, "ms_broken": [10.0, 11.0, 12.0], "ms_fixed": [4.0, 5.0, 6.0]}
    near = score.gain(known, Gain(10.0, 5.4, 4.0, 6.0))
    assert near is not None
    assert [near[key] for key in ("tenth", "near", "within_bounds", "direction")] == [True] * 4
    far = score.gain(known, Gain(10.0, 8.0, 7.0, 9.0))
    assert (far["near"], far["within_bounds"]) == (False, False)
    bound = score.gain(known, Gain(10.0, None, None, 6.0))
    assert (bound["near"], bound["bound"]) == (None, True)
    assert score.gain(known, None) is None
    # 6 ms go: a number with bounds, and what goes at most.
    keys = ("saved_ms", "saved_tenth", "saved_within_bounds")
    for saved, expected in (((6.2, 5.0, 7.0), [6.2, True, True]), ((8.0, 0.0, 9.0), [None, None, True])):
        shorter = score.gain(known, Gain(10.0, None, None, None, *saved))
        assert shorter is not None
        assert [shorter[key] for key in keys] == expected


def event(name: str, kind: str, begin: int, long: int, correlation: int = 0) -> dict[str, object]:
    args = {"device": 0, "correlation": correlation}
    return {"ph": "X", "name": name, "cat": kind, "ts": begin, "dur": long, "args": args, "pid": 0}


def test_a_trace_is_read_by_arithmetic(tmp_path: Path) -> None:
    """Two steps of 100 µs. Kernels 0 to 30 and 20 to 60, a collective 50 to 150 of which 90 lie alone, a copy
    under it: 150 µs are busy. Both kernels were launched in the steps, the collective was not."""
    path = tmp_path / "trace.json"
    events = [
        event("gemm", "kernel", 0, 30, correlation=7),
        event("relu", "kernel", 20, 40, correlation=8),
        event("cudaLaunchKernel", "cuda_runtime", 0, 1, correlation=7),
        event("cudaLaunchKernel", "cuda_runtime", 1, 1, correlation=8),
        event("cudaLaunchKernel", "cuda_runtime", 200, 1, correlation=9),
        event("ncclDevKernel_AllReduce", "kernel", 50, 100, correlation=9),
        event("Memcpy HtoD", "gpu_memcpy", 140, 10),
        event("ProfilerStep#3", "user_annotation", 0, 100),
        event("ProfilerStep#4", "user_annotation", 100, 100),
        event("ProfilerStep#4", "gpu_user_annotation", 0, 500),
    ]
    path.write_text(json.dumps({"traceEvents": events}))
    assert reading.truth(path) == {
        "limit": ["communication"],
        "busy_ms": {"0": [0.15, 0.15, 0.06]},
        "longest": ["ncclDevKernel_AllReduce", "relu"],
        "step_ms": [0.1],
    }


def test_an_answer_to_a_trace_is_held_against_its_truth() -> None:
    known = {
        "limit": ["idle"],
        "busy_ms": {"0": [10.0, 8.0], "1": [12.0, 10.0]},
        "step_ms": [20.0],
        "longest": ["void gemm<float, 3>(int)"],
    }
    right = Answer("python", limit="idle", busy_ms={"GPU 1": 12.1}, step_ms=20.5, ops=["gemm<float,3>"])
    found = score.trace(known, right)
    assert {key: found[key] for key in ("limit", "cause", "busy", "step", "longest")} == {
        "limit": True,
        "cause": None,
        "busy": True,
        "step": True,
        "longest": True,
    }
    wrong = score.trace(
        known, Answer(limit="copy", busy_ms={"GPU 0": 20.0}, step_ms=30.0, ops=["relu", "gemm"])
    )
    assert [wrong[key] for key in ("limit", "busy", "step", "longest")] == [False] * 4
    nothing = score.trace(known, Answer())
    assert [nothing[key] for key in ("limit", "busy", "step", "longest")] == [None] * 4


def test_the_mean_of_devices_is_a_busy_time() -> None:
    known = {"limit": ["idle"], "busy_ms": {"0": [10.0], "1": [20.0]}}
    assert score.trace(known, Answer(busy_ms={"gpu": 15.0}))["busy"] is True


def test_an_answer_is_read_from_json() -> None:
    found = answer.of({"cause": "wait", "places": [{"file": "a.py", "line": 3, "function": None}]})
    assert found == Answer("wait", places=[Place("a.py", 3, None)])


def test_what_a_tool_says_last_names_no_folder() -> None:
    assert tools.last("one\n\n  File /home/me/x.py is missing\n") == "File x.py is missing"
    assert tools.last("") == "no answer"
