"""compilations.ndjson of a capture folder: rows of compilation; what does not fit is lost and counted."""

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stepscope.formats import _compilations
from tests.asked import ask
from tests.each import each
from tests.formats.capture_folder import STARTED_NS, line, write

MS = 10**9


def read(*lines: dict[str, Any]) -> _compilations.CompilationRows:
    return _compilations.read(lines, lambda ns: None if ns is None else ns * 1000)


def test_rows_say_which_function_where_and_what_was_new(tmp_path: Path) -> None:
    folder = write(tmp_path / "c", xplane=False)
    first, second, third = ask(
        folder,
        "SELECT ts_ps, dur_ps, function, file, line, call_file, call_line, call_function, number, change, "
        "argument, was, became FROM compilation ORDER BY id",
    )
    told = ("step_fn", "train.py", 3, "train.py", 9, "main")
    assert first == (100 * MS, 100 * MS, *told, 1, "first", None, None, None)
    assert second == (1100 * MS, 100 * MS, *told, 2, "value", "n", "0", "1")
    assert third[-4:] == ("value", "n", "1", "2")
    (row,) = ask(folder, "SELECT times, steps, was, became FROM compilation_sum WHERE change <> 'first'")
    assert row == (2, 2, "1", "2")


def test_lines_that_cannot_be_used_are_counted(tmp_path: Path) -> None:
    good: dict[str, Any] = {
        "function": "f",
        "begin_unix_ns": STARTED_NS,
        "end_unix_ns": STARTED_NS,
        "number": 1,
    }
    lines = line(**good, what="of tomorrow") + line(function="f") + line(dropped=7) + b"[1]\n"
    folder = write(tmp_path / "c", xplane=False, **{"compilations.ndjson": lines})
    assert ask(folder, "SELECT function, change FROM compilation") == [("f", "unknown")]
    notes = ask(folder, "SELECT slug, events FROM source_note WHERE detail LIKE '%ompilation%' ORDER BY slug")
    assert notes == [("compilations-capped", 7), ("damaged-piece", 2)]


@each(
    "changed",
    [
        {"end_unix_ns": 1},
        {"end_unix_ns": STARTED_NS + 2**50},
        {"number": None},
        {"number": True},
        {"function": 3},
        {"begin_unix_ns": 2**70},
    ],
)
def test_impossible_lines(changed: dict[str, Any]) -> None:
    good = {"function": "f", "begin_unix_ns": STARTED_NS, "end_unix_ns": STARTED_NS + 9, "number": 1}
    assert read(good).odd == 0
    assert read({**good, **changed}) == ([], 1, 0)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
KEYS = ("function", "begin_unix_ns", "end_unix_ns", "number", "what", "call", "changes", "line", "dropped")


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), VALUES), max_size=5))
def test_anything_is_a_row_or_counted(lines: list[dict[str, Any]]) -> None:
    found = read(*lines)
    assert len(found.rows) + found.odd <= len(lines)
