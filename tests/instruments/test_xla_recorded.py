"""Programs of JAX and TensorFlow that are recorded here: trips and flops that are known, and what XLA says of
its compiles."""

import sys
from collections import defaultdict
from pathlib import Path

import pytest

from stepscope.cli import main
from stepscope.library.statements import statement
from stepscope.session import trace
from tests.capture import launching
from tests.corpus import SAMPLES
from tests.instruments.timed_programs import rows_of
from tests.later import installed

JAX = """
import jax, jax.numpy as jnp
@jax.jit
def program(a, b, xs):
    with jax.named_scope("big"):
        y = a @ b
    c, _ = jax.lax.scan(lambda c, x: (jnp.tanh(c @ x), None), b[:64, :64], xs)
    return jnp.sin(y).sum() + c.sum()
a, b, xs = jnp.ones((256, 128)), jnp.ones((128, 192)), jnp.ones((7, 64, 64)) * 0.01
for step in range(12):
    jax.block_until_ready(program(a, b, xs))
"""
TF = """
import tensorflow as tf
@tf.function(jit_compile=True)
def program(a, b, x):
    y = tf.matmul(a, b)
    _, c = tf.while_loop(
        lambda i, c: i < 6, lambda i, c: (i + 1, tf.tanh(tf.matmul(c, x))), (tf.constant(0), b[:64, :64]))
    return tf.reduce_sum(tf.sin(y)) + tf.reduce_sum(c)
a, b, x = tf.ones((256, 128)), tf.ones((128, 192)), tf.ones((64, 64)) * 0.01
for step in range(12):
    program(a, b, x).numpy()
"""
COMPILED_BY_TF = """
import sys, tensorflow as tf
program = tf.function(lambda a: tf.reduce_sum(tf.tanh(tf.matmul(a, a))), jit_compile=True)
tf.profiler.experimental.start(sys.argv[1])
program(tf.ones((64, 64))).numpy()
program(tf.ones((32, 32))).numpy()
tf.profiler.experimental.stop()
"""
COMPILED_BY_JAX = """
import sys, jax, jax.numpy as jnp
with jax.profiler.trace(sys.argv[1]):
    jax.block_until_ready(jax.jit(lambda a: jnp.tanh(a @ a).sum())(jnp.ones((64, 64))))
    jax.block_until_ready(jax.jit(lambda a: jnp.tanh(a @ a).sum())(jnp.ones((32, 32))))
"""


@pytest.mark.repeats("tests/capture records a program of JAX and one of TensorFlow")
@pytest.mark.parametrize(
    ("library", "program", "trips"), [("jax", JAX, 7), ("tensorflow", TF, 6)], ids=["jax", "tensorflow"]
)
def test_a_recorded_program(
    library: str, program: str, trips: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    installed(library)
    (tmp_path / "program.py").write_text(program)
    done = launching.record(
        *("--warmup", "1", "--steps", "5", "-o", "rec", "--", sys.executable, "program.py"), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    rows = rows_of(capsys, tmp_path / "rec")
    (loop,) = [row for row in rows if row["opcode"] == "while"]
    runs = loop["executions"]
    assert runs >= 3
    assert (loop["runs"], loop["trips"], loop["per_run"]) == (runs, trips, 1)
    # By hand: 2 x 256 x 128 x 192 flops once, 2 x 64 x 64 x 64 in each turn of the loop.
    big, small = 2 * 256 * 128 * 192, 2 * 64**3
    known = {row["flops"]: row for row in rows}
    assert (known[big]["executions"], known[small]["executions"]) == (runs, trips * runs)
    for flops in (big, small):
        row = known[flops]
        assert row["flops_per_s"] == pytest.approx(flops * row["executions"] / (row["self_ps"] * 1e-12))
        assert row["file"].endswith("program.py")
    assert sum(row["slices"] for row in rows) == sum(row["executions"] for row in rows)
    # The line in the program, whether XLA's metadata or TensorFlow's op log tells it.
    lines = {row["instruction"] for row in rows_of(capsys, tmp_path / "rec", "--by", "line")}
    assert any("program.py:" in str(line) for line in lines)


@pytest.mark.parametrize(
    ("library", "program"),
    [
        ("jax", COMPILED_BY_JAX),
        pytest.param(
            "tensorflow",
            COMPILED_BY_TF,
            marks=pytest.mark.repeats("XLA says the same of its compiles, whoever asks it"),
        ),
    ],
    ids=["jax", "tensorflow"],
)
def test_the_time_of_a_compile(
    library: str, program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two compiles of functions that are called alike."""
    installed(library)
    (tmp_path / "program.py").write_text(program)
    done = launching.run(sys.executable, "program.py", "trace", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "trace").rglob("*.xplane.pb")
    rows = rows_of(capsys, path, "--compile")
    by_part: dict[tuple[str, str], int] = defaultdict(int)
    for row in rows:
        by_part[row["module"], row["part"]] += row["self_ps"]
    with trace.open(str(path), cache=False) as opened:
        slices = opened.query(statement("compile_slices")).rows()
        backends = [row for row in slices if row[5].endswith("Compiler::RunBackend")]
        # The twin: what lies beside a backend in the same slice, behind the backend before.
        pipelines = []
        for _, module, _, number, parent, *_ in backends:
            beside = opened.query(
                "SELECT id, dur_ps, name LIKE '%RunBackend' FROM slice"
                f" WHERE parent_id = {parent} ORDER BY id"
            ).rows()
            before = [row for row in beside if row[0] < number]
            last = max((at for at, row in enumerate(before) if row[2]), default=-1)
            pipelines.append((module, sum(row[1] for row in before[last + 1 :])))
    assert len(backends) >= 2
    # Self times of what lies in the backends of a module add up to them, and so do those of the passes.
    for module in {row[1] for row in backends}:
        assert by_part[module, "backend"] == sum(row[7] for row in backends if row[1] == module)
        assert by_part[module, "passes"] == sum(dur for name, dur in pipelines if name == module)
        shares = sum(row["share"] for row in rows if row["module"] == module and row["part"] != "kernel")
        assert shares == pytest.approx(1)
    names = {row["name"] for row in rows if row["part"] == "passes"}
    assert {"algsimp", "fusion", "layout-assignment"} <= names
    # Kernels bear the names of the instructions that they are for.
    kernels = {row["name"] for row in rows if row["part"] == "kernel"}
    assert kernels & {row["instruction"] for row in rows_of(capsys, path)}
    assert main(["xla", "ops", str(path), "--compile"]) == 0
    assert "passes" in capsys.readouterr().err


def test_a_recording_without_a_compile(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["xla", "ops", str(SAMPLES / "xplane" / "jax.xplane.pb.gz"), "--compile"]) == 2
    err = capsys.readouterr().err
    assert "No compile" in err
    assert "to do" in err
