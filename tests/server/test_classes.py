"""Timeline, tables and treemap give the same class to the same op, in every recording of the samples."""

from collections import defaultdict
from pathlib import Path

import pytest

from stepscope import library
from stepscope.errors import StepscopeError
from stepscope.library.statements import statement
from stepscope.server.timeline import Timeline
from stepscope.session.trace import open as open_trace
from tests.corpus import SAMPLES, each

RECORDINGS = sorted(
    path
    for folder in ("tf_data", "xplane", "chrome", "kineto", "run_metadata", "profiler_hook", "capture")
    for path in (SAMPLES / folder).iterdir()
    if path.name != "truth.json"
)
_OPS = """
SELECT s.name, o.op, o.op_type, o.place, SUM(o.self_ps) AS own_ps
FROM op_slice AS o INNER JOIN slice AS s ON s.id = o.slice_id
GROUP BY ALL
"""
_WHOLLY_OPS = """
SELECT s.name FROM slice AS s LEFT JOIN op_slice AS o ON o.slice_id = s.id
GROUP BY s.name HAVING COUNT(*) = COUNT(o.slice_id)
"""


@pytest.mark.parametrize("path", each(RECORDINGS))
def test_all_views_agree(path: Path) -> None:
    with open_trace(path, cache=False) as trace:
        try:
            drawn = {row[0]: row[1] for row in trace.query(statement("page_names")).rows()}
        except StepscopeError:
            pytest.skip("nothing in it that can be read")
        wholly = {row[0] for row in trace.query(_WHOLLY_OPS).rows()}
        treemap: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        for _, _, place, _, op, op_type, class_, *_ in trace.query(statement("page_ops", most=10**9)).rows():
            treemap[op, op_type, place].add(class_)
        types = {(row[0], row[1]): row[7] for row in trace.ask(library.named("op_types")).rows()}
        made: dict[str, list[tuple[int, set[str], str]]] = defaultdict(list)
        for name, op, op_type, place, own_ps in trace.query(_OPS).rows():
            of_type = types[op_type, place]
            made[name].append((own_ps, treemap[op, op_type, place], of_type))
    for name in wholly & set(made):
        # A name has one colour wherever it lies: that of most of its self time.
        most = max(own_ps for own_ps, _, _ in made[name])
        tables = [(classes, of_type) for own_ps, classes, of_type in made[name] if own_ps == most]
        assert any(drawn[name] in classes for classes, _ in tables), (name, drawn[name], tables)
        if all(len(classes) == 1 for classes, _ in tables):
            assert drawn[name] in {of_type for _, of_type in tables}, (name, drawn[name], tables)


@pytest.mark.parametrize("path", ["run_metadata/two_servers.pb", "profiler_hook"])
def test_fetching_a_batch_is_input(path: str) -> None:
    with open_trace(SAMPLES / path, cache=False) as trace:
        fetches = {
            row[7] for row in trace.ask(library.named("op_types")).rows() if row[0] == "IteratorGetNext"
        }
    assert fetches == {"input"}


def test_frames_have_the_class_that_steps_count_them_to() -> None:
    with open_trace(SAMPLES / "xplane/jax.xplane.pb.gz", cache=False) as trace:
        classes = Timeline(trace).classes
    assert classes["$time sleep"] == "wait"
    assert classes["$api.py:2479 block_until_ready"] == "idle"
    assert classes["$profiler.py:151 start_trace"] == "dispatch"
