"""Two recordings side by side: differences add up, the largest come first, and nothing is judged."""

import functools
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.cli import main
from stepscope.instruments.compare import sides
from stepscope.instruments.compare.figures import Measured
from stepscope.instruments.compare.matching import NamedItem
from stepscope.instruments.compare.ops import Op
from stepscope.report.comparing import build
from stepscope.session import trace
from tests.asked import ask
from tests.corpus import SAMPLES

A = SAMPLES / "tf_data" / "two_maps_first_slow.xplane.pb.gz"
B = SAMPLES / "tf_data" / "not_bottleneck_prefetch.xplane.pb.gz"

times = st.dictionaries(st.sampled_from(["input", "compute", "wait", "python"]), st.integers(1, 10**12))


def run(*words: str) -> tuple[int | None, str, str]:
    """Exit code, stdout and stderr of the verb."""
    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
        code = main(["diff", *words])
    return code, out.getvalue(), err.getvalue()


@functools.cache
def printed(*paths: Path) -> Any:
    """What the verb says of recordings; nobody changes it."""
    code, out, err = run(*map(str, paths), "--format", "json", "--no-cache")
    assert code == 0, err
    return json.loads(out)


@given(times, times)
def test_the_rows_add_up_and_the_largest_change_is_first(a: dict[str, int], b: dict[str, int]) -> None:
    one = Measured("a", 3, sum(a.values()), 1, parts=a)
    other = Measured("b", 3, sum(b.values()), 1, parts=b)
    report = build(one, other)
    rows = [
        row for section in report.sections if section.name == "compared_parts" for row in section.table.rows
    ]  # type: ignore[union-attr]
    assert sum(row[3] for row in rows) == sum(b.values()) - sum(a.values())
    assert [abs(row[3]) for row in rows] == sorted((abs(row[3]) for row in rows), reverse=True)
    assert {row[0]: row[4] for row in rows} == {
        name: "both" if name in a and name in b else "A only" if name in a else "B only"
        for name in {**a, **b}
    }
    assert "not known" in report.headline[-1]


def test_the_verb_says_what_sql_says() -> None:
    told = printed(A, B)
    means = [ask(path, "SELECT AVG(dur_ps) FROM step WHERE averaged")[0][0] for path in (A, B)]
    (steps,) = [one for one in told["sections"] if one["name"] == "compared_steps"]
    for row, mean in zip(steps["table"]["rows"], means, strict=True):
        assert row["mean_ps"] == pytest.approx(mean, abs=1)
    (parts,) = [one for one in told["sections"] if one["name"] == "compared_parts"]
    for key, path in (("a", A), ("b", B)):
        wanted = dict(
            ask(
                path,
                "SELECT p.label, SUM(p.dur_ps) FROM step_part AS p JOIN step AS s ON s.id = p.step_id"
                " WHERE s.averaged GROUP BY p.label",
            )
        )
        steps_of = ask(path, "SELECT COUNT(*) FROM step WHERE averaged")[0][0]
        found = {row["name"]: row[key] for row in parts["table"]["rows"] if row[key]}
        assert found == {label: ps // steps_of for label, ps in wanted.items() if ps // steps_of}
    assert "more" in told["headline"][0]


@pytest.mark.repeats("instruments/test_compare_gate.py compares recordings of one program")
def test_the_same_recording_twice_has_no_difference() -> None:
    told = printed(A, A)
    for section in told["sections"][1:]:
        assert {row["change"] for row in section["table"]["rows"]} == {0}
        for row in section["table"]["rows"]:
            assert row.get("matched", "both") in ("both", "name", "as they are")


def test_one_side_is_refused() -> None:
    code, _, err = run(str(A))
    assert code == 2
    assert "two sides" in err


def test_recordings_without_steps_are_compared_whole() -> None:
    a, b = ((Op(NamedItem("d/MatMul", "MatMul", scope=("d",)), "compute", 2, ps),) for ps in (5, 3))
    report = build(Measured("x", 0, 0, 0, {"idle": 9}, ops=a), Measured("y", 4, 7, 7, {"idle": 7}, ops=b))
    assert "Steps are not known of x" in report.headline[0]
    assert "compared_parts" not in [one.name for one in report.sections], "a recording is no step"
    (steps,) = [one for one in report.sections if one.name == "compared_steps"]
    assert steps.table is not None
    assert [row[3:] for row in steps.table.rows] == [(0, None, None), (4, 7, 7)]
    (names,) = [one for one in report.sections if one.name == "compared_names"]
    assert names.table.rows == (("d/MatMul", 5, 3, -2, 2, 2, "name", None, "host"),)
    neither = build(Measured("x", 0, 0, 0, ops=a), Measured("x", 0, 0, 0, ops=b))
    assert neither.headline[0] == "Steps are known of neither, so whole recordings are compared."
    (ops,) = [one for one in report.sections if one.name == "compared_ops"]
    assert ops.table.rows == (("MatMul", 5, 3, -2, "both"),)


def test_hosts_with_steps_come_first() -> None:
    with trace.open(A, B, cache=False) as opened:
        names = [side.name for side in sides.each(opened.query)]
    assert len(names) == len(set(names)) == 2


def test_parts_add_up_to_the_difference_of_the_steps() -> None:
    """Exactly, picosecond by picosecond; and the rows of ops to the difference of their sums."""
    told = printed(A, B)
    rows = {one["name"]: one["table"]["rows"] for one in told["sections"] if one["table"]}
    steps = rows["compared_steps"]
    assert sum(row["change"] for row in rows["compared_parts"]) == steps[1]["mean_ps"] - steps[0]["mean_ps"]
    for side in ("a", "b"):
        ops = sum(row[side] or 0 for row in rows["compared_names"])
        assert sum(row[side] for row in rows["compared_scopes"]) == ops
        with_ops = ask(
            A if side == "a" else B,
            "SELECT SUM(o.self_ps) FROM op_slice AS o JOIN step AS s ON s.source_id = o.source_id"
            " AND s.step = o.step WHERE s.averaged AND o.place IN ('device', 'host')",
        )[0][0]
        number = steps[0 if side == "a" else 1]["steps"]
        assert ops == with_ops // number
    assert all(row["matched"] for row in rows["compared_names"])


def test_what_a_fusion_replaced_is_under_their_scope() -> None:
    def op(name: str, kind: str, ps: int) -> Op:
        return Op(NamedItem(name, kind, scope=tuple(name.split("/")[:-1])), "compute", 1, ps)

    a = (op("net/block/MatMul", "MatMul", 5), op("net/block/BiasAdd", "BiasAdd", 3))
    b = (op("net/block/Fused", "_FusedMatMul", 6),)
    report = build(Measured("x", 1, 9, 9, ops=a), Measured("y", 1, 8, 8, ops=b))
    (alone,) = [one for one in report.sections if one.name == "compared_alone"]
    (row,) = alone.table.rows
    assert row[:5] == ("net/block", 2, 8, 1, 6)


def test_runs_of_one_path_are_chosen_by_name(tmp_path: Path) -> None:
    """A folder with three runs of which two are called alike."""
    for name in ("old/train", "new/train", "other"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "vm.xplane.pb.gz").write_bytes((A if name == "other" else B).read_bytes())
    base = (str(tmp_path), "--no-cache", "--format", "json")
    with trace.open(tmp_path, cache=False) as opened:
        runs = [side.run_id for side in sides.runs(opened.query)]
    assert len(set(runs)) == 3
    code, _, err = run(*base)
    assert code == 2
    assert "two sides" in err
    code, out, err = run(*base, "--a", runs[0], "--b", runs[1])
    assert code == 0, err
    assert json.loads(out)["title"] == f"{runs[0]} (A) and {runs[1]} (B)"
    code, _, err = run(*base, "--a", "none", "--b", runs[1])
    assert code == 2
    assert "There is no run or host none" in err
