"""The core reads HloProto as protobuf's own Python does, with TensorFlow's descriptors."""

import os
import random
from pathlib import Path
from typing import Any

import pytest

from stepscope import _core
from tests.formats.test_hlo import unpacked
from tests.later import proto


@pytest.fixture(scope="module")
def messages() -> Any:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    return proto("compiler.xla.service.hlo_pb2")


def _dims(shape: Any) -> tuple[int, ...]:
    return tuple(shape.dimensions)


def _parsed(text: str) -> tuple[int, ...]:
    """The dimensions of an array's shape as text."""
    return tuple(int(one) for one in text.split("[")[1].split("]")[0].split(",") if one)


def _files() -> list[Path]:
    found = sorted(unpacked().rglob("*.hlo.pb"))
    stages = [path for path in found if "optimizations" in path.name]
    passes = random.Random(3).sample([path for path in found if ".after_" in path.name], 12)
    return [*stages, *passes]


@pytest.mark.repeats("reads recordings that do not ship")
def test_modules_are_read_as_protobuf_reads_them(messages: Any) -> None:
    for path in _files():
        data = path.read_bytes()
        told = messages.HloProto.FromString(data).hlo_module
        found = _core.hlo_module(data)
        assert (found["name"], found["id"], found["unknown_fields"]) == (told.name, told.id, 0)
        rows = found["instruction_rows"]
        assert [one["name"] for one in found["computation_rows"]] == [one.name for one in told.computations]
        by_name = {row["name"]: row for row in rows}
        names = {one.id: one.name for computation in told.computations for one in computation.instructions}
        computations = {one.id: one.name for one in told.computations}
        assert len(by_name) == len(rows) == len(names)
        for computation, row in zip(told.computations, found["computation_rows"], strict=True):
            assert rows[row["root"]]["name"] == names[computation.root_id]
            for one in computation.instructions:
                row = by_name[one.name]
                assert found["computation_rows"][row["computation"]]["name"] == computation.name
                assert (row["opcode"], row["op_name"]) == (one.opcode, one.metadata.op_name)
                assert [rows[at]["name"] for at in row["operands"]] == [names[id] for id in one.operand_ids]
                called = [found["computation_rows"][at]["name"] for at in row["called"]]
                assert called == [computations[id] for id in one.called_computation_ids]
                assert (row["fusion_kind"], row["target"]) == (one.fusion_kind, one.custom_call_target)
                assert row["direction"] == one.comparison_direction
                assert row["frame"] == one.metadata.stack_frame_id or one.metadata.source_file
                if not row["shape"].startswith("("):
                    assert _parsed(row["shape"]) == _dims(one.shape)


@pytest.mark.repeats("reads recordings that do not ship")
def test_calls_of_python_are_read_as_protobuf_reads_them(messages: Any) -> None:
    path = unpacked("jax_scan/dump/module_0008.jit_rnn_step.cpu_after_optimizations.hlo.pb")
    index = messages.HloProto.FromString(path.read_bytes()).hlo_module.stack_frame_index
    found = _core.hlo_module(path.read_bytes())["frames"]
    expected = []
    for frame in index.stack_frames:
        place = index.file_locations[frame.file_location_id - 1]
        file, function = (
            index.file_names[place.file_name_id - 1],
            index.function_names[place.function_name_id - 1],
        )
        expected.append((file, place.line, function, frame.parent_frame_id))
    assert found == expected


@pytest.mark.repeats("reads recordings that do not ship")
def test_buffers_are_read_as_protobuf_reads_them(messages: Any) -> None:
    for path in _files():
        data = path.read_bytes()
        told = messages.HloProto.FromString(data).buffer_assignment
        buffers = _core.hlo_module(data)["buffers"]
        if buffers is None:
            assert not told.buffer_allocations
            continue
        assert [one[:2] for one in buffers["logical"]] == [(one.id, one.size) for one in told.logical_buffers]
        assert [(one[0], one[1], one[3]) for one in buffers["allocations"]] == [
            (one.index, one.size, one.is_parameter_aliased_with_output) for one in told.buffer_allocations
        ]
        assigned = [
            [(part.logical_buffer_id, part.offset, part.size) for part in one.assigned]
            for one in told.buffer_allocations
        ]
        assert [one[6] for one in buffers["allocations"]] == assigned
        said = [one.buffer_allocation_index for one in told.heap_simulator_traces if one.events]
        assert [one[3] for one in buffers["traces"]] == said


@pytest.mark.repeats("reads recordings that do not ship")
def test_mutants_that_protobuf_reads_are_read(messages: Any) -> None:
    """Where protobuf accepts bytes, the core reads a module as well, with as many instructions."""
    data = unpacked("tf_while_jit").rglob("*cpu_after_optimizations.hlo.pb")
    whole = next(iter(data)).read_bytes()
    chance = random.Random(11)
    read = 0
    for _ in range(700):
        made = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            made[chance.randrange(len(made))] = chance.randrange(256)
        try:
            told = messages.HloProto.FromString(bytes(made)).hlo_module
        except Exception:  # noqa: BLE001, S112 - the error's class differs between versions of protobuf
            continue
        instructions = sum(len(one.instructions) for one in told.computations)
        try:
            found = _core.hlo_module(bytes(made))
        except _core.CoreError:
            # What names no opcode in its first instruction is taken for something else than a module.
            first = told.computations[0].instructions[0] if told.computations and instructions else None
            assert first is None or not first.opcode.replace("-", "").isalnum() or not first.opcode.islower()
            continue
        assert found["instructions"] == instructions
        read += 1
    assert read > 100
