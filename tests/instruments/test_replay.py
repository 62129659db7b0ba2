"""Steps replayed with other times, against programs whose truth was measured."""

from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from stepscope import _core
from stepscope.instruments.causes import ranking
from stepscope.instruments.replay import recorded_steps, uncovered_work
from stepscope.instruments.replay.recorded_steps import SliceKind
from stepscope.instruments.replay.whatif import DurationChange, ReplayedSteps, ask
from stepscope.instruments.step_breakdown import part_tables
from stepscope.instruments.step_breakdown.evidence import SteppedSource, StepSpan
from stepscope.instruments.step_breakdown.labels import Label
from stepscope.session.trace import open as open_trace
from tests.tiers import some

SAMPLES = Path(__file__).parent.parent / "samples"
SVD = SAMPLES / "gpu" / "torch_svd.json.gz"
SLOW_MAP = SAMPLES / "capture" / "slow_map"
MS = 1_000_000_000


def asked(path: Path, change: DurationChange) -> ReplayedSteps:
    with open_trace(path) as trace:
        return ask(trace.query, trace.stream, change)[0]


@pytest.mark.parametrize(
    "path",
    some(
        [SVD, SLOW_MAP, SAMPLES / "gpu" / "jax_uploads.xplane.pb.gz", SAMPLES / "capture" / "python_loop"],
        (SVD, SLOW_MAP),
        "a device and a pipeline differ most",
    ),
    ids=lambda path: path.name,
)
def test_nothing_changed_gives_the_recorded_steps(path: Path) -> None:
    found = asked(path, DurationChange())
    assert found.misses <= 0.05
    assert found.replayed_ps <= found.recorded_ps


def test_an_op_that_launches_kernels_goes_with_them() -> None:
    """Without it a step takes 6.75 ms, measured beside the recording; by the parts of the step 8.1 ms."""
    found = asked(SVD, DurationChange(ops={"aten::_linalg_svd": 0.0}))
    assert found.then_ps is not None
    assert abs(found.then_ps - 6.75 * MS) < 0.1 * 6.75 * MS
    with open_trace(SVD) as trace:
        (judged,) = uncovered_work.raised(trace.query, trace.stream, ranking.judge(trace.query))
    assert judged.left_ps == found.then_ps


class Counted(int):
    """The number of a step that counts how often it is looked at."""

    looks = 0

    def __hash__(self) -> int:
        """As that of the number."""
        Counted.looks += 1
        return hash(int(self))


def test_steps_are_chosen_in_one_go() -> None:
    """However many the source has, each step that is wanted is looked at once."""
    source = SteppedSource(0, "run", "host", [StepSpan(step, step, step + 1) for step in range(300)])

    def never(asked: object) -> NoReturn:
        raise AssertionError(asked)

    wanted = [Counted(1000 + step) for step in range(50)]
    assert recorded_steps.read(never, never, source, wanted) is None
    assert Counted.looks == len(wanted)


def test_threads_that_call_the_same_share_what_is_known_of_it() -> None:
    """There may be ten thousand of them, with a row each for every function."""
    with open_trace(SLOW_MAP) as trace:
        (source,) = part_tables.sources_with_steps(trace.query)
        read = recorded_steps.read(trace.query, trace.stream, source, [step.id for step in source.steps])
    assert len(set(read.kinds)) == len(read.kinds) < len(read.numbers)
    assert set(read.numbers.values()) == set(range(len(read.kinds)))


def test_half_of_an_op_is_between_all_of_it_and_none() -> None:
    whole, half, none = (
        asked(SVD, DurationChange(ops={"aten::_linalg_svd": left})) for left in (1.0, 0.5, 0.0)
    )
    assert whole.then_ps == whole.replayed_ps
    assert whole.then_ps is not None
    assert half.then_ps is not None
    assert none.then_ps is not None
    assert none.then_ps < half.then_ps < whole.then_ps


def test_an_op_that_is_not_there_is_told_and_changes_nothing() -> None:
    found = asked(SVD, DurationChange(ops={"NoSuchOp": 0.0}))
    assert found.unknown == ("NoSuchOp",)
    assert found.then_ps == found.replayed_ps


def test_without_input_a_step_of_a_slow_pipeline_is_what_the_program_does() -> None:
    """By the pipeline's own model 6.9 ms."""
    found = asked(SLOW_MAP, DurationChange(without="input"))
    assert found.then_ps is not None
    assert abs(found.then_ps - 6.9 * MS) < 0.1 * 6.9 * MS
    slower = asked(SLOW_MAP, DurationChange(without="dispatch"))
    assert slower.then_ps is not None
    assert slower.then_ps > 0.9 * slower.recorded_ps, "the pipeline limits"
    assert next(iter(slower.then)) == "PyFunc"


def test_work_behind_a_wait_limits_the_steps_once_that_is_gone() -> None:
    """Had the program slept instead of waiting for its input, the input would take as long without that."""
    with open_trace(SLOW_MAP) as trace:
        (judged,) = ranking.judge(trace.query)
        slept = replace(judged, cause="wait", left_ps=MS, low_ps=0, high_ps=2 * MS)
        (found,) = uncovered_work.raised(trace.query, trace.stream, [slept])
        (same,) = uncovered_work.raised(trace.query, trace.stream, [judged])
    assert same == judged, "waiting for input has a model of its own"
    assert 20 * MS < found.left_ps <= judged.mean_ps
    assert found.low_ps <= found.left_ps <= found.high_ps


def test_where_nothing_tells_what_a_device_waits_for_nothing_is_predicted() -> None:
    found = asked(
        SAMPLES / "gpu" / "jax_graph.xplane.pb.gz", DurationChange(ops={"gemm_fusion_dot_general": 0.5})
    )
    assert found.then_ps is None or found.gaps_ps <= 0.1 * found.recorded_ps


@pytest.mark.parametrize(
    ("label", "op_type"),
    [
        ("compute", "MatMul"),
        ("communication", "CollectiveReduceV2"),
        ("copy", "Copy"),
        ("compile", "XlaCompile"),
        ("python", "PyFunc"),
    ],
)
def test_ops_of_a_label_go_with_it(label: Label, op_type: str) -> None:
    """Classes of ops are the core's, and have the words of labels."""
    of_class, wait, _, is_op = _core.slice_class("a", None, "a", op_type)
    kind = SliceKind("host", "a", None, "a", op_type, of_class, wait, is_op)
    assert (of_class, is_op) == (label, True)
    assert DurationChange(without=label).left(kind) == 0.0
    assert DurationChange(without="dispatch").left(kind) == 1.0
