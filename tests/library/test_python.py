"""Time of Python by line, function and module: drawn samples, traced calls, and a twin by brute force."""

import json
from collections import defaultdict
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.draw import UNIT_PS, Tables
from tests.library.answers import rows
from tests.report import made_recordings
from tests.report.recordings import derived
from tests.tiers import cases

MS = 10**9


def recorded(origin_ns: int | None = 2_000_000) -> Tables:
    """A trace with two steps of 10 ms, and beside it a capture that began 2 ms later, in whose clock the
    steps are from -2 to 18 ms. Line 9 calls load(), which calls a library; line 12 calls the framework."""
    tables = Tables()
    tables.source(0)
    tables.source(1, producer="stepscope", format="capture")
    tables.rows["capture"][0]["origin_unix_ns"] = 0
    tables.rows["capture"][1]["origin_unix_ns"] = origin_ns
    for i in range(2):
        facts = {"kind": "train", "recovered_from": "marker", "averaged": True}
        tables.add("step_stored", step=i, ts_ps=i * 10 * MS, dur_ps=10 * MS, **facts)
    own = {"source_id": 1}
    for function, file, line, module, code in (
        ("<module>", "train.py", 9, "__main__", "program"),
        ("load", "train.py", 4, "__main__", "program"),
        ("loads", "json/__init__.py", 300, "json", "python"),
        ("<module>", "train.py", 12, "__main__", "program"),
        ("call", "tf/x.py", 7, "tf.x", "library"),
    ):
        tables.add("frame", function=function, file=file, line=line, module=module, code=code, **own)
    for parent, frame, place in (
        (None, 0, 0),
        (0, 1, 1),
        (1, 2, 1),
        (None, 3, 3),
        (3, 4, 3),
        (None, 4, None),
    ):
        tables.add("stack", parent_id=parent, frame_id=frame, place_id=place, **own)
    return tables


def sample(tables: Tables, at_ms: float, stack: int, cpu: int | None = None, main: bool = True) -> None:
    """A look that stands for a millisecond."""
    facts = {"ts_ps": int(at_ms * MS), "weight_ps": MS, "stack_id": stack, "cpu_ps": cpu}
    tables.add("stack_sample", source_id=1, is_main=main, thread_name="t", **facts)


def test_a_line_has_what_its_libraries_take_and_only_within_steps() -> None:
    tables = recorded()
    sample(tables, -3, 1)  # before the first step
    for at, stack, cpu in ((-2, 1, MS), (0, 2, MS), (1, 2, 0), (7, 4, None), (17.4, 1, 0)):
        sample(tables, at, stack, cpu)
    sample(tables, 17.6, 1)  # its middle is behind the last step
    sample(tables, 0, 1, main=False)
    first, second = rows(tables, "python_lines")
    assert (first["file"], first["line"], first["function"]) == ("train.py", 4, "load")
    assert (first["time_ps"], first["per_step_ps"], first["samples"]) == (4 * MS, 2 * MS, 4)
    assert (first["share"], first["cpu_share"]) == (0.8, 0.5)
    assert (second["line"], second["time_ps"], second["cpu_share"]) == (12, MS, None)
    functions = [(row["function"], row["code"], row["samples"]) for row in rows(tables, "python_functions")]
    assert functions == [("load", "program", 2), ("loads", "python", 2), ("call", "library", 1)]
    assert [(row["module"], row["samples"]) for row in rows(tables, "python_modules")] == [
        ("__main__", 2), ("json", 2), ("tf.x", 1),
    ]  # fmt: skip
    steps = {
        row["step_id"]: row["samples"] for row in rows(tables, "python_time") if row["step_id"] is not None
    }
    assert steps.keys() == {0, 1}


def test_without_steps_all_samples_count() -> None:
    tables = recorded(origin_ns=None)  # no clock to compare with
    sample(tables, 0, 0)
    sample(tables, 500, 0)
    (row,) = rows(tables, "python_lines")
    assert (row["line"], row["time_ps"], row["per_step_ps"]) == (9, 2 * MS, None)


def test_a_sample_without_code_of_the_program_has_no_line() -> None:
    tables = recorded()
    sample(tables, 0, 5)
    sample(tables, 1, 0)
    (row,) = rows(tables, "python_lines")
    assert (row["line"], row["share"]) == (9, 0.5)
    assert len(rows(tables, "python_functions")) == 2


@pytest.mark.parametrize(
    ("producer", "name", "category", "is_python"),
    [
        ("tf_profiler", "$train.py:4 load", None, True),
        ("jax", "$train.py:4 load", None, True),
        ("kineto", "train.py(4): load", "python_function", True),
        ("viztracer", "load (train.py:4)", None, True),
        ("tf_profiler", "MatMul", None, False),
        ("unknown", "$train.py:4 load", None, False),
    ],
)
def test_traced_calls_are_used_alike(producer: str, name: str, category: str | None, is_python: bool) -> None:
    tables = Tables()
    tables.source(0, producer=producer)
    tables.add("track", kind="thread", records="execution", name="main")
    facts = {"category": category, "track_id": 0, "depth": 0}
    tables.slices(0, [{"name": name, "ts_ps": i * MS, "dur_ps": MS, **facts} for i in range(3)])
    found = rows(tables, "python_lines")
    assert [(r["function"], r["time_ps"], r["share"], r["samples"], r["told_by"]) for r in found] == (
        [(name, 3 * MS, 1.0, 3, "slices")] if is_python else []
    )


@settings(max_examples=cases(12, 100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(st.integers(-6, 50), st.integers(0, 5), st.none() | st.integers(0, 4), st.booleans()),
        max_size=25,
    ),
    st.integers(-3, 3),
    st.booleans(),
)
def test_lines_agree_with_their_twin(
    looks: list[tuple[int, int, int | None, bool]], origin_ms: int, averaged: bool
) -> None:
    tables = recorded(origin_ms * 1_000_000)
    tables.rows["step_stored"][0]["averaged"] = averaged
    for at, stack, cpu, main in looks:
        sample(tables, at / 2, stack, None if cpu is None else cpu * MS // 4, main)
    steps = [(i * 10 * MS, averaged or i == 1) for i in range(2)]
    counted: dict[bool, list[tuple[dict[str, Any], int | None]]] = {True: [], False: []}
    for one in tables.rows["stack_sample"]:
        middle = one["ts_ps"] + MS // 2 + origin_ms * MS
        within = next((i for i, (begin, _) in enumerate(steps) if begin <= middle < begin + 10 * MS), None)
        if one["is_main"]:
            counted[within is not None and steps[within][1]].append((one, within))
    chosen = counted[True] or counted[False]
    expected: dict[tuple[str, int], list[int | None]] = defaultdict(list)
    for one, _ in chosen:
        place = tables.rows["stack"][one["stack_id"]]["place_id"]
        if place is not None:
            frame = tables.rows["frame"][place]
            expected[frame["function"], frame["line"]].append(one["cpu_ps"])
    number = len({within for _, within in chosen if within is not None})
    found = rows(tables, "python_lines")
    assert len(found) == len(expected)
    for row in found:
        times = expected[row["function"], row["line"]]
        known = [cpu for cpu in times if cpu is not None]
        assert row["time_ps"] == len(times) * MS
        assert row["samples"] == len(times)
        assert row["per_step_ps"] == (len(times) * MS // number if number else None)
        assert row["share"] == pytest.approx(float(Fraction(len(times), len(chosen))))
        share = sum(known) / (len(known) * MS) if known else None
        assert row["cpu_share"] == (None if share is None else pytest.approx(share))
    assert [row["time_ps"] for row in found] == sorted((row["time_ps"] for row in found), reverse=True)


def parts(tables: Tables, **labels: int) -> None:
    """Both steps go to these labels, in milliseconds."""
    for step in range(2):
        for label, ms in labels.items():
            tables.add("step_part", step_id=step, label=label, dur_ps=ms * MS)


@pytest.mark.parametrize(
    ("python_ms", "severity"), [(6, "high"), (5, "high"), (3, "medium"), (2, "low"), (1, "low"), (0, None)]
)
def test_python_between_ops_names_the_line(python_ms: int, severity: str | None) -> None:
    tables = recorded()
    parts(tables, python=python_ms, compute=10 - python_ms)
    # Line 9 calls line 4, which calls a library; what the framework does in line 12 is another label.
    for stack, label, quarters in ((2, "python", 1), (1, "python", 1), (0, "python", 1), (4, "dispatch", 4)):
        tables.add(
            "stack_part", step_id=0, stack_id=stack, label=label, dur_ps=python_ms * MS * quarters // 4
        )
    found = rows(tables, "python_between_ops")
    if severity is None:
        assert found == []
        return
    assert [(row["line"], row["function"]) for row in found] == [(4, "load"), (9, "<module>")]
    assert [row["line_share"] for row in found] == pytest.approx([2 / 3, 1 / 3])
    assert (found[0]["severity"], found[0]["impact_ps"]) == (severity, 2 * python_ms * MS)
    assert (found[0]["share"], found[0]["lines"]) == (python_ms / 10, 2)


@pytest.mark.parametrize(("producer", "impact_ms"), [("step_stats", None), ("tf_profiler", 6)])
def test_python_that_ops_call_is_not_between_them(producer: str, impact_ms: int | None) -> None:
    """Two steps have 6 ms of Python. An op calls it for as long in one run, which was traced beside them."""
    tables = recorded()
    parts(tables, python=6, compute=4)
    tables.add("stack_part", step_id=0, stack_id=1, label="python", dur_ps=6 * MS)
    tables.source(2, producer)
    tables.add("track", id=0, source_id=2, kind="thread")
    called = {"track_id": 0, "name": "PyFunc:PyFunc", "op_name": "PyFunc", "op_type": "PyFunc", "ts_ps": 0}
    tables.slices(2, [{**called, "dur_ps": 6 * MS}])
    found = rows(tables, "python_between_ops")
    assert [row["impact_ps"] for row in found] == ([] if impact_ms is None else [impact_ms * MS])


def test_python_between_ops_needs_samples() -> None:
    tables = recorded()
    parts(tables, python=10)
    assert rows(tables, "python_between_ops") == []


def purposes(module: str, function: str) -> Tables:
    """Line 12 calls this function of a library, which calls the operating system."""
    tables = recorded()
    tables.add("frame", source_id=1, function=function, module=module, code="library")
    tables.add("frame", source_id=1, function="write", module="os", code="python")
    tables.add("stack", source_id=1, parent_id=3, frame_id=5, place_id=3)
    tables.add("stack", source_id=1, parent_id=6, frame_id=6, place_id=3)
    for at, stack in ((0, 7), (1, 7), (9, 6), (12, 1)):
        sample(tables, at, stack)
    sample(tables, 2, 7, main=False)
    sample(tables, 40, 7)
    return tables


@pytest.mark.parametrize(
    ("module", "function", "purpose"),
    [
        ("tensorflow.python.checkpoint.checkpoint", "Checkpoint.save", "checkpoint"),
        ("tensorflow.python.training.saver", "Saver.save", "checkpoint"),
        ("keras.src.saving.saving_lib", "save_model", "checkpoint"),
        ("numpy.lib.npyio", "savez", "checkpoint"),
        ("tensorflow.python.ops.summary_ops_v2", "scalar", "summary"),
        ("logging", "Logger.info", "log"),
        ("numpy.lib.npyio", "load", None),
        ("tensorflow.python.eager.execute", "quick_execute", None),
    ],
)
def test_storing_and_logging_in_the_loop(module: str, function: str, purpose: str | None) -> None:
    tables = purposes(module, function)
    found = rows(tables, "per_step_io")
    if purpose is None:
        assert found == []
        return
    (row,) = found
    assert (row["purpose"], row["file"], row["line"]) == (purpose, "train.py", 12)
    assert (row["impact_ps"], row["share"], row["in_steps"], row["severity"]) == (3 * MS, 0.15, 2, "low")
    assert rows(tables, "device_waits_for_host") == []


@pytest.mark.parametrize(
    ("module", "function"),
    [
        ("tensorflow.python.saved_model.load", "load"),
        ("tensorflow.python.checkpoint.checkpoint", "Checkpoint.restore"),
        ("keras.src.saving.saving_lib", "load_model"),
        ("torch.serialization", "load"),
        ("torch.nn.modules.module", "Module.load_state_dict"),
        ("torch.nn.modules.linear", "Linear.__init__"),
        ("transformers.modeling_utils", "PreTrainedModel.from_pretrained"),
    ],
)
def test_a_model_loaded_in_the_loop_is_no_storing(module: str, function: str) -> None:
    tables = purposes(module, function)
    (row,) = rows(tables, "models_in_steps")
    assert (row["file"], row["line"], row["share"], row["severity"]) == ("train.py", 12, 0.15, "low")
    assert rows(tables, "per_step_io") == []
    assert rows(purposes("torch.nn.modules.linear", "Linear.forward"), "models_in_steps") == []


def test_storing_takes_a_step_at_most() -> None:
    """A sample may stand for time after the step in which it was taken."""
    tables = made_recordings.storing_in_the_loop()
    for row in tables.rows["stack_sample"]:
        row["weight_ps"] *= 2
    (row,) = rows(tables, "per_step_io")
    assert (row["share"], row["impact_ps"]) == (1.0, 20 * MS)


@pytest.mark.parametrize(("caller", "stores"), [("torch.utils.data.dataloader", False), ("shelf", True)])
def test_what_a_loader_reads_is_no_storing(caller: str, stores: bool) -> None:
    """Its data set may read each sample from a file of its own."""
    tables = purposes(caller, "fetch")
    tables.rows["frame"][-1]["module"] = "torch.serialization"
    assert (rows(tables, "per_step_io") != []) == stores


@pytest.mark.parametrize(
    ("module", "function"),
    [
        ("tensorflow.python.framework.ops", "_EagerTensorBase.numpy"),
        ("jax._src.api", "block_until_ready"),
        ("jax._src.array", "ArrayImpl.__float__"),
    ],
)
def test_lines_that_wait_for_the_device_need_a_device(module: str, function: str) -> None:
    tables = purposes(module, function)
    assert rows(tables, "device_waits_for_host") == []
    tables.add("device", name="gpu", kind="gpu")
    (row,) = rows(tables, "device_waits_for_host")
    assert (row["line"], row["impact_ps"], row["in_steps"]) == (12, 3 * MS, 2)
    assert (row["share"], row["idle_share"]) == (0.15, 1.0)
    assert rows(tables, "per_step_io") == []


def test_waiting_for_a_device_that_is_busy_costs_nothing() -> None:
    """Of 20 ms, 3 are spent waiting; where the device is idle for 2, no more is lost."""
    tables = purposes("jax._src.api", "block_until_ready")
    tables.add("device", name="gpu", kind="gpu")
    for step, ms in ((0, 10), (1, 8)):
        tables.add("step_part", step_id=step, label="compute", dur_ps=ms * MS)
    tables.add("step_part", step_id=1, label="dispatch", dur_ps=2 * MS)
    (row,) = rows(tables, "device_waits_for_host")
    assert (row["impact_ps"], row["share"], row["idle_share"], row["severity"]) == (2 * MS, 0.15, 0.1, "low")
    tables.rows["step_part"][1]["dur_ps"] = 8 * MS + 1
    tables.rows["step_part"][2]["dur_ps"] = 2 * MS - 1
    assert rows(tables, "device_waits_for_host") == []


def test_a_method_of_an_array_that_waits_has_no_file() -> None:
    tables = purposes("jax._src.api", "nothing")
    tables.rows["frame"][5].update(file="<built-in>", function="block_until_ready", module=None)
    assert rows(tables, "device_waits_for_host") == []
    tables.add("device", name="gpu", kind="gpu")
    (row,) = rows(tables, "device_waits_for_host")
    assert (row["line"], row["impact_ps"]) == (12, 3 * MS)


GROWS = "positions_computed_again"


def test_products_that_grow_from_step_to_step_compute_earlier_positions_again() -> None:
    """Each of seven steps has four rows more than the one before, from 8 to 32; the first ones are new."""
    (row,) = rows(derived(made_recordings.positions_computed_again()), GROWS)
    assert (row["more_rows"], row["most_rows"], row["in_steps"]) == (4, 32, 7)
    each = row["impact_ps"] / sum(1 - 4 / many for many in range(8, 36, 4))
    assert row["share"] == pytest.approx(row["impact_ps"] / (7 * 11 * UNIT_PS), rel=0.1)
    assert each == pytest.approx(11 * UNIT_PS, rel=0.1)


@pytest.mark.parametrize(
    "many", [[32] * 7, [8, 12, 40, 16, 8, 32, 12], [8, 12, 16, 20]], ids=["alike", "wild", "few"]
)
def test_products_of_other_sizes_compute_nothing_again(many: list[int]) -> None:
    """With a cache, and where batches have any length, they do not grow by the same number."""
    tables = made_recordings.positions_computed_again(steps=len(many))
    for row, number in zip(tables.rows["slice"], many, strict=True):
        row["args_json"] = json.dumps({"Input Dims": [[number, 8], [8, 8]]})
    assert rows(derived(tables), GROWS) == []
