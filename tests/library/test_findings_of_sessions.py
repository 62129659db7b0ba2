"""Findings about programs of TensorFlow 1: what their ops and runs tell."""

from tests.draw import UNIT_PS, Tables, draw
from tests.library.test_findings import STEPS, Row, found
from tests.report import made_recordings, made_tables
from tests.report.recordings import derived


def only(tables: Tables, name: str) -> Row:
    """The one row of a finding."""
    (row,) = found(tables, (name,))[name]
    return row


def test_summaries_are_one_finding_and_no_dominant_op() -> None:
    tables = draw(STEPS + "cpu/t thread : [a:HistogramSummary][s:ScalarSummary][b:Add]")
    row = only(tables, "summaries_in_steps")
    assert (row["severity"], row["op"], row["op_type"], row["slices"]) == ("high", "a", "HistogramSummary", 2)
    assert row["impact_ps"] == (len("[a:HistogramSummary]") + len("[s:ScalarSummary]")) * UNIT_PS
    assert "dominant_op" not in found(tables, ("dominant_op",))
    few = draw(STEPS + "cpu/t thread : [s:ScalarSummary][b:Add" + "." * 400 + "]")
    assert found(few, ("summaries_in_steps",)) == {}


def test_an_update_of_a_whole_table() -> None:
    row = only(made_recordings.a_table_that_is_updated_whole(), "whole_table_updates")
    assert (row["severity"], row["scope"]) == ("high", "Adam/update_e")
    assert row["rows_ps"] == len("[Adam/update_e/ScatterAdd:ScatterAdd]") * UNIT_PS
    beside = "[Adam/update_e/ScatterAdd:ScatterAdd]"
    # Not of another scope whose name begins alike, and not where rows take most of the update.
    for other in ("[Adam/update_e2/Sqrt:Sqrt" + "." * 500 + "]", "[Adam/update_e/Sqrt:Sqrt]"):
        assert found(draw(f"{STEPS}cpu/t thread : {beside}{other}"), ("whole_table_updates",)) == {}


def test_python_in_files_of_a_step_each_is_one_finding() -> None:
    tables = made_recordings.runs_of_two_kinds()
    for row in tables.rows["slice"]:
        row.update(name="PyFunc", op_name="f", op_type="PyFunc")
    row = only(tables, "python_in_pipeline")
    assert (row["severity"], row["runs"], row["share"]) == ("high", 6, 1)
    assert row["impact_ps"] == 105 * UNIT_PS


def test_evaluation_between_steps() -> None:
    """From the end of one round to that of another lies one round and what is trained before it."""
    row = only(made_recordings.rounds_of_an_estimator(), "phases_beside_steps")
    assert (row["severity"], row["phase"], row["rounds"], row["share"]) == ("high", "Evaluation", 2, 0.75)
    assert (row["mean_ps"], row["impact_ps"]) == (30 * UNIT_PS, 60 * UNIT_PS)
    assert "throttle_secs" in row["advice"]
    predicting = only(made_recordings.rounds_of_an_estimator("predict"), "phases_beside_steps")
    assert (predicting["phase"], "throttle_secs" in predicting["advice"]) == ("Prediction", False)
    assert found(made_recordings.rounds_of_an_estimator(rounds=1), ("phases_beside_steps",)) == {}


def test_time_between_runs() -> None:
    row = only(made_recordings.runs_apart(5), "time_between_runs_unseen")
    assert (row["severity"], row["mean_run_ps"], row["mean_gap_ps"]) == ("low", 10 * UNIT_PS, 5 * UNIT_PS)
    assert (row["gaps"], row["impact_ps"]) == (2, 10 * UNIT_PS)
    assert only(made_recordings.runs_apart(60), "time_between_runs_unseen")["severity"] == "medium"
    assert found(made_recordings.runs_apart(1), ("time_between_runs_unseen",)) == {}


def test_time_between_runs_of_a_recorder_is_for_steps_that_come_after_them() -> None:
    """What recorded the runs is not the remedy for what it did not record."""
    tables = made_recordings.runs_apart(5)
    assert "`stepscope record" in only(tables, "time_between_runs_unseen")["advice"]
    tables.source(format="capture", producer="stepscope")
    assert only(tables, "time_between_runs_unseen")["advice"].startswith("Let the program run for longer")


def test_time_between_runs_is_unknown_where_others_lie_between() -> None:
    tables = made_recordings.runs_apart(60)
    for row in tables.rows["step_stored"]:
        row["step"] *= 20
    assert found(tables, ("time_between_runs_unseen",)) == {}


def test_time_between_runs_is_unknown_where_few_follow_each_other() -> None:
    """What lies between the two of them is mostly what saves the recording of the first."""
    tables = made_recordings.runs_apart(60, 5)
    for row, step in zip(tables.rows["step_stored"], (11, 35, 43, 55, 56), strict=True):
        row["step"] = step
    assert found(tables, ("time_between_runs_unseen",)) == {}


def test_tensors_of_other_processes_are_no_collectives() -> None:
    row = only(derived(made_recordings.tensors_of_other_processes()), "unhidden_collectives")
    text = "".join(str(value) for value in row.values())
    assert "RecvTensor" in text
    assert "collective" not in text


def test_tensors_of_other_processes_beside_steps_that_a_recorder_timed() -> None:
    """`stepscope record` has the steps in one source, and RunMetadata of some in others."""
    tables = derived(made_recordings.tensors_of_other_processes())
    tables.source(1)
    for row in tables.rows["slice"]:
        row["source_id"] = 1
    row = only(tables, "unhidden_collectives")
    assert "RecvTensor" in row["waits"]
    assert "parameter servers" in row["advice"]


def test_small_tensors_of_other_processes_wait_and_are_not_made_fewer_bytes() -> None:
    row = only(derived(made_recordings.tensors_of_other_processes("w/read", 4)), "unhidden_collectives")
    assert (row["tensor"], row["tensor_bytes"], row["tensor_share"]) == ("w/read", 4, 1.0)
    assert "bytes travel" not in row["advice"]
    row = only(derived(made_recordings.tensors_of_other_processes("w/read", 524_288)), "unhidden_collectives")
    assert "bytes travel" in row["advice"]


def test_a_cluster_that_xla_compiles_again_is_named() -> None:
    """Not for each run of its op: in half of them there is a program."""
    row = only(made_recordings.a_cluster_that_compiles_again(), "recompilation")
    assert (row["steps"], row["cluster"], row["times"]) == (2, "c", 2)


def test_a_sparse_gradient_that_the_program_makes_dense() -> None:
    made = made_tables.a_gradient_made_dense
    row = only(made(), "gradient_made_dense")
    took = {s["op_name"]: s["dur_ps"] for s in made().rows["slice"]}
    whole = took["UnsortedSegmentSum"] + took["mul"] + took["Adam/update_e/ApplyAdam"]
    assert (row["scope"], row["used_rows"], row["impact_ps"]) == ("Adam/update_e", 640, whole)
    assert row["share"] == whole / sum(took.values())
    for other in (made(ids=40_000), made(product="[100000,32]"), made(updated="[32]")):
        assert found(other, ("gradient_made_dense",)) == {}


def test_a_cluster_that_is_fed_another_shape_in_each_run() -> None:
    made = made_recordings.a_cluster_of_many_shapes
    row = only(made(), "clusters_of_many_shapes")
    took = len("[cluster:XlaLaunch........]") * UNIT_PS
    assert (row["op"], row["op_type"], row["impact_ps"]) == ("cluster", "XlaLaunch", took)
    assert row["share"] == took / (took + len("[b:Add]") * UNIT_PS)
    assert (row["argument"], row["shapes"], row["runs"]) == ("x_0_0", 3, 3)
    assert (row["first_shape"], row["last_shape"]) == ("[500,64]", "[520,64]")
    for lengths in ((500, 510), (500, 500, 500), (500, 510, 500, 510)):
        assert found(made(*lengths), ("clusters_of_many_shapes",)) == {}
    plain = made()
    for slice_ in plain.rows["slice"]:
        slice_["op_type"] = "MatMul"
    assert found(plain, ("clusters_of_many_shapes",)) == {}


def test_a_product_with_one_hot_rows() -> None:
    """Itself, or what Reshape made of it; not another product."""
    made = made_tables.a_one_hot_product
    for changed in ("one_hot", "Reshape"):
        row = only(made(changed), "one_hot_products")
        assert (row["severity"], row["op"], row["product"]) == ("high", "one_hot", "MatMul")
        assert row["one_hot_bytes"] == 102_400_000
        ops = (
            "[one_hot:OneHot...]",
            "[MatMul:MatMul....]",
            "[gradients/MatMul_grad/MatMul_1:MatMul............]",
        )
        assert row["impact_ps"] == sum(map(len, ops)) * UNIT_PS
    assert found(made("hidden"), ("one_hot_products",)) == {}


def test_runs_of_a_step_that_compute_the_same() -> None:
    """Not in a loop of the graph, not more often than there are runs, and not in different steps."""
    made = made_tables.runs_that_compute_again
    row = only(made(), "ops_run_again")
    assert (row["severity"], row["session_runs"], row["op"], row["op_share"]) == ("medium", 2, "a", 1)
    assert row["impact_ps"] == len("[a:MatMul...........]") * UNIT_PS
    assert abs(row["share"] - 1 / 3) < 0.01
    for other in (("a", "b"), ("while/a", "while/a"), ("a", "a", "a")):
        assert found(made(other), ("ops_run_again",)) == {}
    assert found(made(steps=2), ("ops_run_again",)) == {}
