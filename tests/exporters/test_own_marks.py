"""Steps and devices survive an export to a Chrome trace, and a file that lies about them does no harm."""

import itertools
import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope import exporters
from stepscope.exporters import own_marks
from stepscope.instruments.exported_steps import exported
from stepscope.session import trace
from tests import corpus
from tests.tiers import some

STEPS = "s.step, s.name, s.kind, s.recovered_from, s.dur_ps, s.averaged, s.reason"


def facts(path: Path, absolute: bool) -> dict[str, Any]:
    """Steps, slices of each, and the work of each device."""
    begin = "c.origin_unix_ns::HUGEINT * 1000 + s.ts_ps" if absolute else "s.ts_ps - min(s.ts_ps) OVER ()"
    with trace.open(path, cache=False) as opened:
        return {
            "steps": opened.query(
                f"SELECT {STEPS}, {begin} AS begin_ps FROM step AS s"
                " JOIN capture AS c ON c.source_id = s.source_id"
                # Each source counts from its own origin: only the absolute time orders steps of several.
                " ORDER BY c.origin_unix_ns, s.ts_ps, s.step"
            ).rows(),
            "slices": Counter(
                opened.query(
                    "SELECT s.step, d.name, d.kind, d.args_json, k.kind, s.name, s.dur_ps FROM slice AS s"
                    " JOIN track AS k ON k.id = s.track_id LEFT JOIN device AS d ON d.id = k.device_id"
                ).rows()
            ),
            "busy": opened.query(
                "SELECT place, device, sum(sum_busy_ps), sum(window_ps) FROM device_sum"
                " GROUP BY 1, 2 ORDER BY 1, 2"
            ).rows(),
        }


def again(path: Path, folder: Path) -> Path:
    with trace.open(path, cache=False) as opened:
        exporters.write(opened, folder / "merged.json")
    return folder / "merged.json"


SAMPLED = ("profiler_hook", "tf_data/map_py_function.xplane.pb", "event_file")


@pytest.mark.repeats("the samples are read back in test_round_trip.py")
@pytest.mark.parametrize("name", some(SAMPLED, SAMPLED[:1], "three formats"))
def test_samples(tmp_path: Path, name: str) -> None:
    path = corpus.SAMPLES / name
    before = facts(path, absolute=True)
    assert before["steps"]
    assert before["busy"]
    assert facts(again(path, tmp_path), absolute=True) == before


@pytest.mark.repeats("not among the samples")
@pytest.mark.parametrize("name", ["torch/trace_full.json", "tf1/dist_ps/run_meta.pb", "tf1/resnet14_ref"])
def test_corpus(tmp_path: Path, name: str) -> None:
    path = corpus.path(name)
    if path.is_dir():
        shutil.copytree(
            path, tmp_path / "run", ignore=lambda _, names: [n for n in names if "meta_000" not in n]
        )
        path = tmp_path / "run"
    before, after = facts(path, absolute=False), facts(again(path, tmp_path), absolute=False)
    assert before["slices"] == after["slices"]
    assert [row[:7] for row in before["steps"]] == [row[:7] for row in after["steps"]]


def test_steps_of_several_hosts_are_not_forced_into_one_line(tmp_path: Path) -> None:
    for rank in (0, 1):
        (tmp_path / f"rank{rank}").mkdir()
        shutil.copy(corpus.SAMPLES / "tf_data" / "map_py_function.xplane.pb", tmp_path / f"rank{rank}")
    with trace.open(tmp_path, cache=False) as opened:
        written = exporters.write(opened, tmp_path / "merged.json")
    assert any("overlap in time" in note for note in written.notes)
    assert "stepscopeSteps0" not in (tmp_path / "merged.json").read_text()


def test_many_steps_take_several_members() -> None:
    rows = [(f"ProfilerStep#{i}", "train", "profiler_step", "so", i, i * 10, 10, True) for i in range(5000)]
    pieces = own_marks._pieces(rows, own_marks._indexed)
    texts = {f"stepscopeSteps{i}": json.dumps(piece) for i, piece in enumerate(pieces)}
    assert 1 < len(pieces) <= own_marks.MOST_MEMBERS
    found = exported(texts)
    assert [(s.name, s.kind, s.recovered_from, s.reason, s.number, s.ts_ps, s.end_ps) for s in found] == [
        (*row[:6], row[5] + row[6]) for row in rows
    ]


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
row = st.tuples(
    *[st.integers(-2, 5)] * 4, st.none() | st.integers(0, 9), *[st.integers(-9, 99)] * 2, st.booleans()
)
words = st.lists(st.sampled_from(["train", "file", "marker", "\ud800", "x"]), max_size=6)


@given(
    st.one_of(anything, st.fixed_dictionaries({"words": words, "rows": st.lists(row | anything, max_size=5)}))
)
@settings(deadline=None)
def test_steps_that_make_no_sense_are_none(told: Any) -> None:
    steps = exported({"stepscopeSteps0": json.dumps(told)})
    for before, after in itertools.pairwise(steps):
        assert before.ts_ps <= before.end_ps <= after.ts_ps


LIES = [
    '"stepscopeSteps0": {"words": ["a"], "rows": [[0,0,0,0,0,0,0,0]]}',
    '"stepscopeSteps0": {"words": ["\\ud800","train","file"], "rows": [[0,1,2,0,7,0,5,true]]}',
    '"stepscopeSteps0": {"words": ["a","train","file"], "rows": [[0,1,2,0,7,0,99999999999999999999,true]]}',
    '"stepscopeSteps0": 7, "stepscopeDevices0": {"name": 1}',
    '"stepscopeDevices0": [{"name": "\\ud800", "kind": "cpu", "args": null, "tids": [[0, 99]], "pids": []}]',
    '"stepscopeDevices0": [{"name": "d", "kind": "cpu", "args": "{", "tids": [[0, 99]], "pids": []}]',
    '"stepscopeDevices0": [{"name": "d", "kind": "cpu", "args": null, "tids": [[0, 1e99]], "pids": []}]',
    '"stepscopeDevices0": [{"name": "d", "kind": "cpu", "args": null, "tids": [[-5, 9]], "pids": [[2, 1]]}]',
]


@pytest.mark.parametrize("lie", some(LIES, list(LIES)[:2], "every lie"))
def test_a_file_that_lies_is_read(tmp_path: Path, lie: str) -> None:
    text = again(corpus.SAMPLES / "profiler_hook" / "timeline-5.json", tmp_path).read_text()
    text = re.sub(r'"stepscopeSteps0": \{.*?\]\]\}, ', "", text, count=1)
    text = re.sub(r'"stepscopeDevices0": \[.*?\}\], ', "", text, count=1)
    assert "stepscopeSteps" not in text
    (tmp_path / "merged.json").unlink()
    (tmp_path / "lie.json").write_text(text.replace('"traceEvents"', lie + ', "traceEvents"', 1))
    with trace.open(tmp_path / "lie.json", cache=False) as opened:
        assert opened.query("SELECT count(*) FROM slice").rows() == [(29,)]
        assert opened.query("SELECT count(*) FROM step").rows() == [(1,)]
        assert opened.query("SELECT count(*) FROM device_sum").rows()
