"""A variable that holds more after every step, or a graph: recordings of the recorder's looks."""

import json
from pathlib import Path
from typing import Any

import pytest

import stepscope
from tests.formats.capture_folder import counted, held, write


def grown(folder: Path) -> list[Any]:
    with stepscope.open(folder, cache=False) as opened:
        return list(opened.analysis("growing_memory"))


def test_a_variable_that_grows_is_found_with_its_line(tmp_path: Path) -> None:
    (row,) = grown(write(tmp_path / "c", xplane=False, **{"memory.ndjson": held()}))
    assert (row.holder, row.file, row.line, row.function) == ("kept", "train.py", 12, "main")
    assert (row.step_bytes, row.bytes, row.steps) == (2048, 24 * 2048, 24)
    assert row.each == "in one more array"
    assert row.place == "train.py:12 `main` keeps them"
    assert (row.severity, row.left) == ("low", ""), "10 GB last for five million steps"


@pytest.mark.parametrize(
    ("looks", "severity"),
    [
        (held(each=1 << 20), "high"),
        (held(each=100_000), "medium"),
        (held(steps=(4, 14)), "low"),
        (held(steps=(4, 14), arrays=0), None),  # one array that is larger: it may be as large as it gets
        (held(steps=(4, 8)), None),
        (held(each=1000), None),
        (held(steps=(4, 14, 14)), None),
    ],
)
def test_what_may_be_chance_is_no_growth(looks: bytes, severity: str | None, tmp_path: Path) -> None:
    found = grown(write(tmp_path / "c", xplane=False, **{"memory.ndjson": looks}))
    assert [row.severity for row in found] == ([severity] if severity else [])


def counted_in(folder: Path, looks: bytes) -> list[Any]:
    with stepscope.open(write(folder, xplane=False, **{"memory.ndjson": looks}), cache=False) as opened:
        assert not list(opened.analysis("growing_memory"))
        return list(opened.analysis("growing_graph"))


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("ops", "The graph has 2 more ops"),
        ("compiled functions", "`kept` holds 2 more compiled functions"),
        ("tensors", "`kept` keeps 2 more operations of autograd's graph"),
    ],
)
def test_what_every_step_adds_to_is_found_with_its_line(kind: str, what: str, tmp_path: Path) -> None:
    (row,) = counted_in(tmp_path / "c", counted(kind))
    assert (row.what, row.each, row.many, row.steps) == (what, 2, 100, 24)
    assert (row.place, row.severity) == ("train.py:12 `main` adds them", "medium")


@pytest.mark.parametrize(
    ("kind", "counts", "steps"),
    [
        ("ops", (60, 60, 60), (4, 14, 24)),  # built once
        ("ops", (60, 80, 80), (4, 14, 24)),  # built in two parts
        ("compiled functions", (2, 5, 9), (4, 14, 24)),  # one for some of the steps
        ("tensors", (300, 300, 300), (4, 14, 24)),  # the last loss
        ("tensors", (900, 300, 500), (4, 14, 24)),  # let go of now and then
        ("ops", (60, 64, 66), (4, 6, 8)),  # too few steps to tell
    ],
)
def test_what_some_steps_add_is_no_growth(
    kind: str, counts: tuple[int, ...], steps: tuple[int, ...], tmp_path: Path
) -> None:
    assert counted_in(tmp_path / "c", counted(kind, counts, steps)) == []


def test_what_growing_memory_reports_is_not_said_twice(tmp_path: Path) -> None:
    looks = counted("tensors").splitlines()
    grown = [json.loads(one) for one in looks]
    for one in grown:
        if "holder" in one:
            many = one["operations"]
            one |= {"bytes": many * 4096, "arrays": many}
            if one["look"] > 1:
                one |= {"was_bytes": (many - 20) * 4096, "was_arrays": many - 20}
    text = "".join(json.dumps(one) + "\n" for one in grown).encode()
    folder = write(tmp_path / "c", xplane=False, **{"memory.ndjson": text})
    with stepscope.open(folder, cache=False) as opened:
        assert len(list(opened.analysis("growing_memory"))) == 1
        assert list(opened.analysis("growing_graph")) == []
