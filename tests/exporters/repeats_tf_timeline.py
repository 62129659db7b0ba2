"""Timelines as TensorFlow makes them: held against TensorFlow's own, character by character."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope import _core
from tests import corpus
from tests.later import Later, proto

text_format = Later("google.protobuf.text_format")
step_stats_pb2 = proto("core.framework.step_stats_pb2")
config_pb2 = proto("core.protobuf.config_pb2")
timeline = Later("tensorflow.python.client.timeline")

FLAGS = list(itertools.product((False, True), (False, True), ("schedule", "gpu", "all")))
SAMPLE = corpus.SAMPLES / "run_metadata" / "two_servers.pb"
FILES = [*sorted(SAMPLE.parent.glob("*.pb*")), *corpus.files("tf1/*/run_meta*")]


def theirs(stats: Any, dataflow: bool, memory: bool, op_time: str) -> str:
    """What TensorFlow writes."""
    made = timeline.Timeline(stats).generate_chrome_trace_format(dataflow, memory, op_time)
    assert isinstance(made, str)
    return made


def ours(source: _core.Input, dataflow: bool, memory: bool, op_time: str) -> str:
    """What we write; nothing may be lost."""
    text, events, lost, damage = _core.tf_timeline(source, dataflow=dataflow, memory=memory, op_time=op_time)
    assert (lost, damage) == (0, None)
    assert events == text.count('"ph": ')
    return text


def stats_of(path: Path) -> Any:
    """The StepStats of a file."""
    if path.suffix == ".pbtxt":
        return text_format.Parse(path.read_text(), config_pb2.RunMetadata()).step_stats
    if path.name.endswith("step_stats.pb"):
        return step_stats_pb2.StepStats.FromString(path.read_bytes())
    return config_pb2.RunMetadata.FromString(path.read_bytes()).step_stats


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_recordings(path: Path) -> None:
    stats = stats_of(path)
    for flags in FLAGS:
        assert ours(_core.Input.file(str(path)), *flags) == theirs(stats, *flags), flags


def test_files_that_tensorflow_wrote() -> None:
    folder = corpus.path("tf1/resnet14_ref")
    for name, dataflow, memory, op_time in (
        ("timeline_0005_df0_mem0.json", False, False, "schedule"),
        ("timeline_0005_df0_mem1.json", False, True, "schedule"),
        ("timeline_0005_df1_mem0.json", True, False, "schedule"),
        ("timeline_0005_df1_mem1.json", True, True, "schedule"),
    ):
        source = _core.Input.file(str(folder / "run_meta_0005.pb"))
        assert ours(source, dataflow, memory, op_time) == (folder / name).read_text(), name


NAMES = st.sampled_from(["a", "b", "a/b", "a:1", "b:2", "RecvTensor", "a/_3", "é\n\"'\\\x01", ""])
DEVICES = st.sampled_from(
    [
        "/job:w/task:0/device:CPU:0",
        "/job:w/GPU:0",
        "/gpu:0/stream:all",
        "/job:w/stream:all",
        "/gpu:0/stream:3",
        "/gpu:0/memcpy",
        "",
    ]
)
MICROS = st.one_of(st.integers(0, 30), st.integers(-5, 5), st.integers(-(2**40), 2**40))
LABELS = st.one_of(
    st.builds(
        "{}{} = {}({}){}".format,
        st.sampled_from(["", "[1MB] ", "x = ", "y\n"]),
        NAMES,
        st.sampled_from(["MatMul", "", "F(x", "Op = "]),
        st.lists(st.one_of(NAMES, st.sampled_from(["a/_3", "b/_1/_2", "^a", "/_9"])), max_size=3).map(
            ", ".join
        ),
        st.sampled_from(["", ")", " tail", "\n(z)"]),
    ),
    st.builds("{}@@{}:{}#{}".format, NAMES, NAMES, NAMES, NAMES),
    st.text(alphabet=" =(),@#:ab\n", max_size=12),
)


@st.composite
def step_stats(draw: st.DrawFn) -> Any:
    """Executions on a few devices whose names and inputs meet each other often."""
    stats = step_stats_pb2.StepStats()
    for name in draw(st.lists(DEVICES, min_size=1, max_size=4)):
        device = stats.dev_stats.add(device=name)
        for _ in range(draw(st.integers(0, 5))):
            node = device.node_stats.add(node_name=draw(NAMES), timeline_label=draw(LABELS))
            node.all_start_micros = draw(MICROS)
            node.all_end_rel_micros = draw(MICROS)
            node.all_start_nanos = draw(MICROS)
            node.thread_id = draw(st.integers(0, 3))
            for _ in range(draw(st.integers(0, 2))):
                tensor = node.output.add(slot=draw(st.integers(0, 2))).tensor_description
                tensor.dtype = draw(st.sampled_from([0, 1, 3, 14, 20, 101, 999]))
                for size in draw(st.lists(st.integers(-1, 3), max_size=2)):
                    tensor.shape.dim.add(size=size, name=draw(NAMES))
                tensor.shape.unknown_rank = draw(st.booleans())
                if draw(st.booleans()):
                    tensor.ClearField("shape")
                if draw(st.booleans()):
                    found = tensor.allocation_description
                    found.requested_bytes = draw(MICROS)
                    found.allocated_bytes = draw(MICROS)
                    found.allocator_name = draw(NAMES)
                    found.allocation_id = draw(MICROS)
                    found.has_single_reference = draw(st.booleans())
                    found.ptr = draw(st.integers(0, 2**64 - 1))
    return stats


@settings(max_examples=300, deadline=None)
@given(step_stats(), st.sampled_from(FLAGS), st.booleans())
def test_drawn_steps(stats: Any, flags: tuple[bool, bool, str], as_text: bool) -> None:
    message = config_pb2.RunMetadata(step_stats=stats)
    data = text_format.MessageToString(message).encode() if as_text else message.SerializeToString()
    assert ours(_core.Input.bytes(data), *flags) == theirs(stats, *flags)
