"""Compiled programs: what the core reads of HLO, as proto and as text, and what it says they cost."""

import functools
import json
import os
import random
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope import _core
from tests import corpus
from tests.tiers import cases, some

DUMPS = "xla_dumps"
PROGRAMS = int(os.environ.get("STEPSCOPE_HLO_PROGRAMS", str(cases(24, 60))))
"""Generated programs that XLA is asked about; a compiler takes its time."""


@functools.cache
def _unpacked() -> tempfile.TemporaryDirectory[str]:
    archives = sorted(corpus.path(DUMPS).glob("*.tar.xz"))
    folder = tempfile.TemporaryDirectory(prefix="stepscope-hlo-")
    for archive in archives:
        with tarfile.open(archive) as packed:
            packed.extractall(folder.name, filter="data")
    return folder


def unpacked(name: str = "") -> Path:
    """The unpacked archives of the corpus, or one of them."""
    return Path(_unpacked().name) / name


def truths() -> Iterator[tuple[Path, dict[str, Any]]]:
    """Dump folders and what is known of them."""
    for path in sorted(unpacked().glob("*/truth.json")):
        yield path.parent / "dump", json.loads(path.read_text())


def summary(path: Path) -> dict[str, Any]:
    (found,) = _core.hlo_summaries([str(path)])
    assert isinstance(found, dict), found
    return found


def costs(found: dict[str, Any]) -> tuple[float, float, float]:
    return found["flops"], found["transcendentals"], found["bytes"]


# --- what is known ---------------------------------------------------------------------------------


@pytest.mark.repeats("reads recordings that do not ship")
def test_programs_are_as_the_corpus_says() -> None:
    for folder, truth in truths():
        for module in truth["modules"]:
            found = summary(folder / module["file"])
            for key in ("id", "name", "computations", "instructions", "opcodes", "flops", "transcendentals"):
                assert found[key] == module[key], (module["file"], key)
            assert found["bytes"] == module["bytes_accessed"]
            assert found["opcodes"].get("fusion", 0) == module["fusions"]
            memory = found["memory"]
            classes = {"out": "output", "param": "parameter", "tls": "thread_local", "const": "constant"}
            for name in ("out", "param", "tls", "const", "temp"):
                assert memory[f"{classes.get(name, name)}_bytes"] == module["by_class"].get(name, 0)
            assert memory["allocated_bytes"] == module["allocation_bytes"]
            assert found["heap_needed_bytes"] == module["heap_peak"]


@pytest.mark.repeats("reads recordings that do not ship")
def test_memory_is_what_xla_says() -> None:
    asked = 0
    for folder, truth in truths():
        said = truth.get("memory_analysis")
        if said is None:
            continue
        name = max(truth["modules"], key=lambda module: module["instructions"])["file"]
        memory = summary(folder / name)["memory"]
        assert memory["parameter_bytes"] == said["argument_size_in_bytes"]
        assert memory["temp_bytes"] == said["temp_size_in_bytes"]
        assert memory["alias_bytes"] == said["alias_size_in_bytes"]
        assert memory["output_bytes"] + memory["alias_bytes"] == said["output_size_in_bytes"]
        asked += 1
    assert asked == 7


@pytest.mark.repeats("reads recordings that do not ship")
def test_costs_are_those_of_xla() -> None:
    asked = 0
    for folder, truth in truths():
        if "cost_analysis" not in truth:
            continue
        name = max(truth["modules"], key=lambda module: module["instructions"])["file"]
        stem = name.split(".cpu_after")[0]
        for stage, key in (
            ("cpu_after_optimizations", "cost_analysis"),
            ("before_optimizations", "lowered_cost_analysis"),
        ):
            said = truth[key]
            wanted = [said.get(it, 0.0) for it in ("flops", "transcendentals", "bytes accessed")]
            for ending in ("hlo.pb", "txt"):
                # XLA adds in floats of 32 bits.
                assert costs(summary(folder / f"{stem}.{stage}.{ending}")) == pytest.approx(wanted, rel=1e-5)
                asked += 1
    assert asked == 28


@pytest.mark.repeats("reads recordings that do not ship")
def test_each_opcode_costs_what_xla_says() -> None:
    said = json.loads(next(unpacked("cost").rglob("costs.json")).read_text())
    for name, sides in said.items():
        for side, answer in sides.items():
            wanted = [answer.get(it, 0.0) for it in ("flops", "transcendentals", "bytes accessed")]
            (path,) = unpacked("cost").rglob(f"{name}.{side}.pb")
            found = summary(path)
            assert found["written"] == "bare module"
            assert costs(found) == pytest.approx(wanted, rel=1e-5), (name, side)


@pytest.mark.repeats("reads recordings that do not ship")
def test_what_runs_is_loops_as_often_as_they_go_round() -> None:
    found = summary(unpacked("jax_scan/dump/module_0008.jit_rnn_step.cpu_after_optimizations.hlo.pb"))
    module = _core.hlo_module(
        unpacked("jax_scan/dump/module_0008.jit_rnn_step.cpu_after_optimizations.hlo.pb").read_bytes()
    )
    (loop,) = [row for row in module["instruction_rows"] if row["opcode"] == "while"]
    assert loop["trip_count"] == 32
    body, condition = (module["computation_rows"][at] for at in loop["called"])
    rest = found["flops"] - body["flops"] - condition["flops"]
    assert found["run_flops"] == rest + 32 * body["flops"] + 33 * condition["flops"]
    assert found["run_open_loops"] == found["run_custom_calls"] == 0


# --- text and proto --------------------------------------------------------------------------------


def rows(module: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The instructions by name, with names for what is a number."""
    computations = [one["name"] for one in module["computation_rows"]]
    instructions, frames = module["instruction_rows"], module["frames"]
    found = {}
    for row in instructions:
        made = {key: value for key, value in row.items() if key != "id"}  # text says none
        made["computation"] = computations[row["computation"]]
        made["called"] = [computations[at] for at in row["called"]]
        made["operands"] = [instructions[at]["name"] for at in row["operands"]]
        made["after"] = sorted(instructions[at]["name"] for at in row["after"])
        made["frame"] = frames[row["frame"] - 1][:3] if row["frame"] else None
        found[row["name"]] = made
    return found


@pytest.mark.repeats("reads recordings that do not ship")
def test_text_and_proto_of_a_stage_are_the_same() -> None:
    pairs = 0
    for path in sorted(unpacked().rglob("*.hlo.pb")):
        text = path.with_name(path.name.removesuffix(".hlo.pb") + ".txt")
        if not text.exists() or "traces" in path.parts:
            continue
        of_proto, of_text = (_core.hlo_module(one.read_bytes()) for one in (path, text))
        assert (of_text["lost"], of_text["dangling"], of_text["cut"], of_proto["dangling"]) == (
            0,
            0,
            False,
            0,
        )
        assert rows(of_proto) == rows(of_text), path.name
        for key in ("name", "opcodes", "parameters", "scheduled", "run_flops", "run_bytes", "doubles"):
            assert of_proto[key] == of_text[key], (path.name, key)
        pairs += 1
    assert pairs > 150


@pytest.mark.repeats("reads recordings that do not ship")
def test_older_text_is_read() -> None:
    """Operands with their shapes before them, source lines in the instructions."""
    long = _core.hlo_module(corpus.path("xla/compiler_ir_hlo.txt").read_bytes())
    short = _core.hlo_module(corpus.path("xla/compiler_ir_optimized_hlo.txt").read_bytes())
    proto = _core.hlo_module(corpus.path("xla/compiler_ir_optimized_hlo_serialized.pb").read_bytes())
    assert long["lost"] == long["dangling"] == short["lost"] == short["dangling"] == 0
    assert costs(short) == costs(proto)
    assert short["opcodes"] == proto["opcodes"]
    assert {one[0] for one in long["frames"]} == {one[0] for one in long["frames"] if one[0]}


# --- XLA is asked ----------------------------------------------------------------------------------


@pytest.mark.repeats("programs of the samples are compared in instruments/test_xla_programs.py")
@pytest.mark.parametrize("part", some(range(4), (0,), "other programs of the same kinds"))
def test_generated_programs_cost_what_xla_says(part: int) -> None:
    pytest.importorskip("jax")
    from tests.formats.hlo_programs import ask

    answers = 0
    for seed in range(part * PROGRAMS // 4, (part + 1) * PROGRAMS // 4):
        what, found = ask(seed)
        for one in found:
            module = _core.hlo_module(one.proto)
            wanted = (one.flops, one.transcendentals, one.bytes)
            assert costs(module) == pytest.approx(wanted, rel=1e-5), f"seed {seed}, {one.side}: {what}"
            answers += 1
    assert answers > PROGRAMS / 4


# --- hostile bytes ---------------------------------------------------------------------------------

_TEXT = """HloModule m, is_scheduled=true

%f (a: f32[2]) -> f32[2] {
  %a = f32[2]{0} parameter(0)
  ROOT %t = f32[2]{0} tanh(%a), metadata={op_name="x" source_file="a.py" source_line=3}
}

ENTRY %main (b: f32[2]) -> f32[2] {
  %b = f32[2]{0} parameter(0)
  ROOT %c = f32[2]{0} fusion(%b), kind=kLoop, calls=%f, backend_config={"a":{"b":[1]}}
}
"""


def _try(data: bytes) -> None:
    refused = module = None
    try:
        module = _core.hlo_module(data)
    except _core.CoreError as error:
        refused = error
    if refused is not None:
        assert refused.seen
        assert refused.offset is None or 0 <= refused.offset <= len(data)
    else:
        assert len(module["instruction_rows"]) == module["instructions"]


def _field(number: int, body: bytes) -> bytes:
    tag, size, made = number << 3 | 2, len(body), b""
    for value in (tag, size):
        while value > 127:
            made += bytes([value & 127 | 128])
            value >>= 7
        made += bytes([value])
    return made + body


def _proto() -> bytes:
    shape = b"\x10\x0b\x1a\x01\x02"
    add = _field(1, b"t") + _field(2, b"tanh") + _field(3, shape) + b"\x98\x02\x02" + _field(36, b"\x01")
    parameter = _field(1, b"a") + _field(2, b"parameter") + _field(3, shape) + b"\x98\x02\x01"
    computation = _field(1, b"f") + _field(2, parameter) + _field(2, add) + b"\x28\x05\x30\x02"
    return _field(1, b"m") + _field(3, computation) + b"\x30\x05"


def test_every_wrapping_is_known() -> None:
    bare = _proto()
    for data, written in (
        (bare, "bare module"),
        (_field(1, bare), "proto"),
        (_field(1, _field(1, bare)) + _field(4, b"cpu"), "snapshot"),
    ):
        found = _core.hlo_module(data)
        assert (found["written"], found["name"], found["instructions"]) == (written, "m", 2)
        assert costs(found) == (0.0, 2.0, 16.0)


@pytest.mark.parametrize(
    "data", [_TEXT.encode(), _proto(), _field(1, _proto())], ids=["text", "bare", "proto"]
)
def test_every_cut_and_many_mutants_are_a_module_or_an_error(data: bytes) -> None:
    for end in range(len(data)):
        _try(data[:end])
    chance = random.Random(7)
    for _ in range(cases(400, 2_000)):
        made = bytearray(data)
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(made))
            made[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
        _try(bytes(made))


@given(st.binary(max_size=300))
@settings(max_examples=cases(60, 300), deadline=None)
def test_any_bytes_are_a_module_or_an_error(data: bytes) -> None:
    _try(data)
    _try(b"HloModule " + data)
    _try(_field(1, _field(3, data)))


def test_damage_is_named_with_its_place() -> None:
    whole = _field(1, _proto())
    with pytest.raises(_core.CoreError) as raised:
        _core.hlo_module(whole[:-4])
    assert raised.value.offset == 0
    with pytest.raises(_core.CoreError, match="no computation"):
        _core.hlo_module(b"\x0a\x01x")


def test_a_missing_file_is_an_error_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(_TEXT)
    found = _core.hlo_summaries([str(tmp_path / "gone"), str(tmp_path / "a.txt")])
    assert isinstance(found[0], tuple)
    assert isinstance(found[1], dict)
    assert found[1]["instructions"] == 4


def test_newer_fields_are_counted_and_skipped() -> None:
    newer = _proto() + _field(999, b"what")
    found = _core.hlo_module(newer)
    assert (found["unknown_fields"], found["instructions"]) == (1, 2)
