"""Parts of dumps run alone: what comes out is what jax computes, and a stage that changes it is named."""

import contextlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.cli import main
from stepscope.errors import NothingFound, StepscopeError, UnreadableSource
from stepscope.xla_tools.replay import cut, inputs, shapes, wire
from stepscope.xla_tools.replay.running import ReplayRun, Runner
from tests.later import Later

np = Later("numpy")

SAMPLE = Path("tests/samples/xla_dump")
AFTER = SAMPLE / "module_0002.jit_train_step.cpu_after_optimizations.hlo.pb"
BEFORE = SAMPLE / "module_0002.jit_train_step.before_optimizations.hlo.pb"

LAYOUTS = """HloModule layouts

ENTRY e {
  p = f32[2,3,4]{0,2,1} parameter(0)
  q = s32[6]{0} parameter(1)
  turned = f32[3,4,2]{2,1,0} bitcast(p)
  folded = f32[4,6]{0,1} bitcast(p)
  bits = f32[3,2]{0,1} bitcast(q)
  ROOT all = (f32[3,4,2]{2,1,0}, f32[4,6]{0,1}, f32[3,2]{0,1}) tuple(turned, folded, bits)
}
"""


def runner(folder: Path, given: Any = None) -> Runner:
    return Runner(folder, python=None, seconds=250, runs=1, seed=0, inputs=given)


def argument(array: Any, order: tuple[int, ...] | None = None) -> inputs.Argument:
    """An array as a snapshot has it; order: its layout, the fastest dimension first."""
    kind = next(number for number, name in shapes.DTYPES.items() if name == array.dtype.name)
    order = order if order is not None else tuple(reversed(range(array.ndim)))
    data = array.transpose(order[::-1]).tobytes()
    return inputs.Argument(shapes.ArrayShape(kind, array.shape, order), data)


def results(ran: Any) -> list[Any]:
    assert isinstance(ran, ReplayRun), ran
    with np.load(ran.results) as packed:
        return [packed[name] for name in packed.files]


def test_bitcasts_are_what_they_do_to_bytes(tmp_path: Path) -> None:
    text = tmp_path / "layouts.txt"
    text.write_text(LAYOUTS)
    p = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    q = np.arange(6, dtype=np.int32)
    run = runner(tmp_path, [argument(p, (0, 2, 1)), argument(q)])
    program = cut.Module(run.proto_of_text(str(text))).whole()
    turned, folded, bits = results(run.run(program, (), keep=True))
    in_memory = p.transpose(1, 2, 0).reshape(-1)
    assert (turned == in_memory.reshape(3, 4, 2)).all()
    assert (folded == in_memory.reshape(6, 4).T).all()
    assert (bits == q.view(np.float32).reshape(2, 3).T).all()


def test_a_part_computes_what_jax_computes(tmp_path: Path) -> None:
    import jax

    def step(x: Any, n: Any) -> Any:
        def body(carry: Any, _: Any) -> Any:
            return jax.numpy.tanh(carry @ x), carry.sum()

        return jax.lax.scan(body, x, None, length=5), n + 1

    x = np.linspace(-1, 1, 16, dtype=np.float32).reshape(4, 4)
    lowered = jax.jit(step).lower(x, np.int8(3))
    module = cut.Module(lowered.compiler_ir("hlo").as_serialized_hlo_module_proto())
    (wanted, sums), counted = jax.jit(step)(x, np.int8(3))
    whole = results(
        runner(tmp_path, [argument(x), argument(np.array(3, np.int8))]).run(module.whole(), (), keep=True)
    )
    for one, other in zip(whole, (wanted, sums, counted), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
    (loop,) = [
        one.name
        for number in module.computations
        for one in module.instructions(number)
        if one.opcode == "while"
    ]
    part = module.part(f"%{loop}")
    # The counter and what it counts to come along; the matrices do not.
    assert [one.dimensions for one in part.parameters] == [(4, 4)]
    taken = results(runner(tmp_path, [argument(x)]).run(part, (), keep=True))
    assert any(one.shape == (4, 4) and np.allclose(one, wanted, rtol=1e-5) for one in taken)
    assert any(one.shape == (5,) and np.allclose(one, sums, rtol=1e-5) for one in taken)


def test_every_instruction_is_cut_or_refused() -> None:
    for path in (AFTER, BEFORE):
        module = cut.Module(inputs.read(path.read_bytes()).module)
        for number in module.computations:
            for one in module.instructions(number):
                if one.opcode in ("parameter", "constant", "tuple", "get-tuple-element", "after-all"):
                    with pytest.raises(NothingFound):
                        module.part(one.name)
                    continue
                made = cut.Module(module.part(one.name).proto).whole()
                assert len(made.parameters) == len(module.part(one.name).parameters)


@given(st.integers(0, 10**9), st.binary(max_size=12))
@settings(max_examples=40, deadline=None)
def test_damaged_modules_end_in_a_program_or_our_error(at: int, put: bytes) -> None:
    data = bytearray(AFTER.read_bytes())
    at %= len(data)
    data[at : at + len(put)] = put
    with contextlib.suppress(StepscopeError):
        module = cut.Module(inputs.read(bytes(data if put else data[:at])).module)
        assert module.whole().proto


def changed(path: Path, into: Path) -> None:
    """The module with every add as a subtraction."""
    module = wire.read(wire.first(wire.read(path.read_bytes()), 1))
    for number, field in enumerate(module):
        if field.number == 3:
            computation = wire.read(field.body)
            for at, one in enumerate(computation):
                if one.number == 2 and wire.name(fields := wire.read(one.body), 2) == "add":
                    swapped = [wire.text(2, "subtract") if it.number == 2 else it for it in fields]
                    computation[at] = wire.text(2, wire.write(swapped))
            module[number] = wire.text(3, wire.write(computation))
    into.write_bytes(wire.write([wire.text(1, wire.write(module))]))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that is compiled quickly."""
    import jax

    lowered = jax.jit(lambda x: jax.numpy.tanh(x) * 2 + 1).lower(np.ones((4, 8), np.float32))
    proto = lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()
    path = tmp_path_factory.mktemp("small") / "module_0002.jit_f.before_optimizations.hlo.pb"
    path.write_bytes(wire.write([wire.text(1, proto)]))
    return path


def test_the_pass_that_changes_values_is_named(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stem = "module_0002.jit_f"
    shutil.copy(small, tmp_path / small.name)
    same = tmp_path / f"{stem}.0001.simplification.after_first.before_second.hlo.pb"
    shutil.copy(small, same)
    changed(small, tmp_path / f"{stem}.0002.simplification.after_second.before_third.hlo.pb")
    shutil.copy(small, tmp_path / f"{stem}.cpu_after_optimizations.hlo.pb")
    assert main(["xla", "replay", str(tmp_path), "--stage", "passes", "--format", "json", "--runs", "1"]) == 1
    told = capsys.readouterr()
    rows = json.loads(told.out)["rows"]
    assert [(row["pass"], row["verdict"]) for row in rows] == [
        (None, "reference"),
        ("second", "differs"),
        (None, "differs"),
    ]
    assert rows[1]["compared_with"] == "before_optimizations"
    assert rows[1]["beyond"] > 0
    assert rows[0]["median_ps"] > 0
    assert "second: " in told.err
    assert "1 stage with the same program as the one before left out" in told.err


def test_flags_are_compared(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["xla", "replay", str(small), "--against-flags=--xla_cpu_enable_fast_math=true", "--", "3"]
    assert main([*words[:3], "--format", "json", *words[3:]]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["flags"] for row in rows] == [None, "--xla_cpu_enable_fast_math=true"]
    assert [row["runs"] for row in rows] == [3, 3]
    assert rows[1]["verdict"] in ("identical", "within")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([str(AFTER), "--instruction", "nothing_like_this"], 2),
        ([str(AFTER), "--flags=--xla_no_such_flag_at_all=1"], 2),
        ([str(AFTER), "--python", "/nothing/here"], 2),
        ([str(AFTER), "--", "many"], 2),
        ([str(AFTER), "--runs", "0"], 2),
        ([str(AFTER), "--tolerance", "7"], 2),
        ([str(AFTER), "--flags", "xla_dump_to=x"], 2),
        ([str(SAMPLE), "--stage", "before..after", "--against-flags", ""], 2),
        ([], 2),
    ],
)
def test_mistakes_have_three_parts(words: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["xla", "replay", *words]) == code
    said = capsys.readouterr().err
    assert "seen:" in said
    assert "to do:" in said


def test_without_jax(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\necho \'{"missing": "No module named jax"}\'\n')
    python.chmod(0o755)
    assert main(["xla", "replay", str(AFTER), "--python", str(python)]) == 2
    assert "stepscope[replay]" in capsys.readouterr().err


def test_collectives_and_calls_of_python_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "module.txt"
    text.write_text(
        "HloModule m\n\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
        "  ROOT c = f32[] add(a, b)\n}\n\n"
        "ENTRY e {\n  p = f32[4]{0} parameter(0)\n"
        "  r = f32[4]{0} all-reduce(p), replica_groups={{0,1}}, to_apply=add\n"
        '  ROOT t = f32[4]{0} custom-call(r), custom_call_target="xla_ffi_python_cpu_callback"\n}\n'
    )
    module = cut.Module(runner(tmp_path).proto_of_text(str(text)))
    for name in ("r", "t"):
        with pytest.raises(StepscopeError, match="cannot run alone"):
            module.part(name)
    with pytest.raises(UnreadableSource):
        cut.Module(b"\x1a\x02\x0a\x00")


def literal(array: Any) -> bytes:
    """A LiteralProto of f32 or s32."""
    field, kind = (8, 11) if array.dtype == np.float32 else (4, 4)
    values = wire.text(8, array.tobytes()) if field == 8 else wire.packed(4, map(int, array.reshape(-1)))
    return wire.write([wire.text(1, shapes.plain_shape(kind, array.shape)), values])


def test_arguments_of_snapshots(tmp_path: Path) -> None:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    b = np.array([-1, 7], dtype=np.int32)
    module = inputs.read(AFTER.read_bytes()).module
    literals = [literal(one) for one in (a, b)]
    hlo = wire.write([wire.text(1, module)])
    classic = wire.write([wire.text(1, hlo), *(wire.text(2, one) for one in literals), wire.text(4, "Host")])
    partition = wire.write([wire.text(1, one) for one in literals])
    message = wire.write([wire.text(1, module), wire.text(2, partition)])
    parts = []
    for one in (a, b):
        shape = shapes.plain_shape(11 if one is a else 4, one.shape)
        parts.append(len(shape).to_bytes(8, "little") + shape + one.tobytes())
    sizes = wire.write([wire.text(2, wire.write([wire.number(2, len(one))])) for one in parts])
    described = wire.write([wire.text(1, module), wire.text(2, sizes)])
    behind = wire.encoded(len(described)) + described + b"".join(parts)
    for data in (classic, message, behind):
        found = inputs.read(data)
        assert found.module == module
        assert [one.data for one in found.arguments] == [a.tobytes(), b.tobytes()]
        assert [one.array.dimensions for one in found.arguments] == [(2, 3), (2,)]
    for end in range(len(behind) - 1, len(described), -3):
        with pytest.raises(UnreadableSource):
            inputs.read(behind[:end])
