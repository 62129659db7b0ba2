"""What the recorder tells of compilations: which argument changed and how, and the line of the call."""

import functools
import json
import sys
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stepscope.capture import compilations
from stepscope.capture.arguments import MOST_LEAVES, changes, described, held
from stepscope.capture.compilations import Compilations
from tests.capture.launching import PROGRAMS, lines, record, run

Pair = namedtuple("Pair", "left right")


def call(x: Any, n: Any = 1, **more: Any) -> None:
    """A function with arguments."""


def new(before: tuple[Any, ...], after: tuple[Any, ...], by_value: Any = None) -> list[tuple[str, ...]]:
    """What differs between two calls of `call`."""
    old, now = described(call, before, {}), described(call, after, {})
    assert changes(old, old) == []
    return [tuple(one) for one in changes(old, now, by_value)]


F32 = np.zeros((8, 3), np.float32)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ((1,), (2,), [("x", "value", "1", "2")]),
        ((1,), (1.0,), [("x", "type", "int 1", "float 1.0")]),
        ((F32,), (F32[:5],), [("x", "shape", "(8, 3)", "(5, 3)")]),
        ((F32,), (F32.astype(np.int64),), [("x", "dtype", "float32", "int64")]),
        ((F32,), (3,), [("x", "type", "float32(8, 3)", "int 3")]),
        (({"w": F32, "rate": 0.1},), ({"w": F32, "rate": 0.2},), [("x['rate']", "value", "0.1", "0.2")]),
        (([1, 2],), ([1, 2, 3],), [("x", "structure", "list of 2", "list of 3")]),
        ((Pair(1, [F32]),), (Pair(1, [F32[:2]]),), [("x[1][0]", "shape", "(8, 3)", "(2, 3)")]),
        ((1,), (1, 5), [("n", "structure", "not given", "int 5")]),
        ((F32 + 1,), (F32 + 2,), []),
        (("a" * 500,), ("a" * 500,), []),
        ((len,), (max,), [("x", "function", "len", "max")]),
    ],
)
def test_what_changed(before: tuple[Any, ...], after: tuple[Any, ...], expected: list[Any]) -> None:
    assert new(before, after) == expected


def test_values_count_only_where_they_are_compiled_in() -> None:
    assert new((1, 2), (3, 4), {"n"}) == [("n", "value", "2", "4")]
    assert new((1, 2), (1.5, 2), ()) == [("x", "type", "int 1", "float 1.5")]


def test_objects_are_told_apart_and_never_asked() -> None:
    class Odd:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

        def __repr__(self) -> str:
            raise AssertionError

        __eq__ = __hash__ = None  # type: ignore[assignment]

    one, other = Odd(), Odd()
    assert new((one,), (one,)) == []
    ((argument, what, *_),) = new((one,), (other,))
    assert (argument, what) == ("x", "object")


def test_an_object_that_is_gone_is_not_the_next() -> None:
    """Python gives its `id` to what is made at its place."""
    gone = [described(None, (lambda x: x,), {})["argument 0"].identity for _ in range(20)]
    assert len(set(gone)) == 20
    kept = [lambda x: x for _ in range(2)]
    assert new((kept[0],), (kept[0],)) == []
    assert [change[1] for change in new((kept[0],), (kept[1],))] == ["function"]


def test_huge_and_endless_arguments_end() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert len(described(call, (endless,), {})) < 100
    assert len(described(call, (list(range(10**5)),), {})) == MOST_LEAVES


def test_what_a_function_holds() -> None:
    rate = 0.1

    def step(x: Any) -> Any:
        return x * rate

    assert held(step)["rate"].value == "0.1"
    assert held(functools.partial(call, n=3))["n"].value == "3"
    assert held(len) == {}


def told(*calls: tuple[Any, tuple[Any, ...]], **more: Any) -> list[dict[str, Any]]:
    """The lines of calls, each a function and arguments."""
    found: list[dict[str, Any]] = []
    made = Compilations(found.append)
    for function, args in calls:
        made.saw("jax", function, function, function.__code__, (args, {}), 5, 9, **more)
    return found


def test_a_call_is_compared_with_the_most_similar_before() -> None:
    rows = told(
        (call, (F32, 1)), (call, (F32[:5], 2)), (call, (F32, 3)), (call, (F32, 3)), (call, (F32[:4], 7))
    )
    assert [row["what"] for row in rows] == ["first", "shape", "value", "unknown", "shape"]
    assert rows[2]["changes"] == [{"argument": "n", "what": "value", "was": "1", "became": "3"}]
    assert [row["number"] for row in rows] == [1, 2, 3, 4, 5]
    assert rows[0]["call"]["function"].endswith("told")
    assert rows[0]["call"]["file"].endswith("test_compilations.py")
    json.dumps(rows)


def test_a_value_that_may_be_traced_counts_only_where_nothing_else_changed() -> None:
    rows = told((call, (F32, 1)), (call, (F32[:5], 2)), (call, (F32[:5], 3)), guessed=True)
    assert [[one["what"] for one in row.get("changes", [])] for row in rows] == [[], ["shape"], ["value"]]


def test_functions_made_anew_say_what_they_hold() -> None:
    def make(rate: float) -> Any:
        return lambda x: x * rate

    rows = told(*((make(rate), (F32,)) for rate in (0.3, 0.2)))
    assert rows[1]["what"] == "new_function"
    assert rows[1]["changes"] == [{"argument": "rate", "what": "value", "was": "0.3", "became": "0.2"}]


def test_no_end_of_compilations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilations, "MOST", 40)
    found: list[dict[str, Any]] = []
    made = Compilations(found.append)
    for number in range(45):
        made.saw("jax", call, call, call.__code__, ((number,), {}), 5, 9)
    assert (len(found), made.dropped) == (40, 5)


def test_another_key_is_told_of_the_dictionary_that_has_it() -> None:
    before = described(None, ({"loss": F32, "at 1": F32},), {})
    after = described(None, ({"loss": F32, "at 2": F32},), {})
    (change,) = changes(before, after)
    assert change == ("argument 0", "structure", "dict of 2 with 'at 1'", "dict of 2 with 'at 2'")
    longer = described(None, ({"loss": F32, "at 2": F32, "at 3": F32},), {})
    (change,) = changes(before, longer)
    assert change == ("argument 0", "structure", "dict of 2", "dict of 3")


CASES = {
    # What changed, which argument, in how many of the steps, on which line of the program it is called.
    "floats": ("value", "opts['rate']", "train(x, opts)"),
    "anew": ("new_function", "rate", "update(x)"),
    "static": ("value", "n", "power(x, i)"),
    "shapes": ("shape", "x", "total(x)"),
    "graph": ("graph", "graph", "session.run(rate.assign("),
    "xla": ("shape", "x", "total(x)"),
    "lambdas": ("new_function", "rate", "jax.jit(lambda"),
    "partials": ("new_function", "argument 0 of partial", "jax.jit(functools.partial"),
    "keys": ("structure", "metrics", "update({"),
}
JAX = {"static", "shapes", "lambdas", "partials", "keys"}


@pytest.mark.repeats("each case records JAX or TensorFlow")
@pytest.mark.parametrize("case", CASES)
def test_program(case: str, tmp_path: Path) -> None:
    """All steps compile: they are recorded, and the answer says why."""
    change, argument, text = CASES[case]
    pytest.importorskip("jax" if case in JAX else "tensorflow")
    program = PROGRAMS / "compiling.py"
    done = record("--out", "out", "--steps", "8", "--", sys.executable, program, case, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "recorded 8 steps" in done.stderr
    rows = [row for row in lines(tmp_path / "out" / "compilations.ndjson") if row["what"] != "first"]
    own = [row for row in rows if row["what"] == change and row["changes"][0]["argument"] == argument]
    assert len(own) >= 16, rows
    (at,) = {row["call"]["line"] for row in own}
    assert text in program.read_text().splitlines()[at - 1]
    asked = run(sys.executable, "-m", "stepscope", "--no-cache", "--format", "json", "out", cwd=tmp_path)
    assert asked.returncode == 0, asked.stderr
    summary = json.loads(asked.stdout)
    answer = summary["answer"]
    assert answer["cause"] == "compile"
    assert answer["place"]["line"] == at
    assert answer["retraced"]["steps"] >= 8
    assert (answer["retraced"]["change"], answer["retraced"]["argument"]) == (change, argument)
    assert answer["retraced"]["was"] != answer["retraced"]["became"]
    assert any(argument in reason for reason in answer["because"])
