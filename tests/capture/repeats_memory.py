"""Programs that keep arrays, in each framework: what grows, by how much, and which line keeps it."""

import importlib.util
import sys
from pathlib import Path

import pytest

import stepscope
from tests.capture.launching import PROGRAMS, facts, record

KEEPS = PROGRAMS / "memory"


FRAMEWORKS = {
    **{"tf": "tensorflow", "tf1": "tensorflow", "tf2": "tensorflow"},
    **{"jax": "jax", "keras": "keras", "torch": "torch"},
}
"""Modules by the word that names of programs have for them."""


def recorded(name: str, tmp_path: Path) -> Path:
    """Records a program of the folder; skips where its framework is not installed."""
    framework = next(FRAMEWORKS[word] for word in name.removesuffix(".py").split("_") if word in FRAMEWORKS)
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    program = KEEPS / name
    done = record("--steps", "20", "--out", "out", "--", sys.executable, program, "60", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "trained True\n"), done.stderr
    assert facts(tmp_path / "out")["problems"] == []
    return program


@pytest.mark.parametrize(
    ("name", "holder", "each_bytes", "text"),
    [
        ("keeps_jax.py", "kept", 256 * 64 * 4, "kept.append(g)"),
        ("keeps_tf.py", "self.seen", 512 * 256 * 4, "self.seen[i] = y"),
        ("keeps_keras.py", "Keep.weights", 64 * 128 * 4, "self.weights.append("),
        ("keeps_torch.py", "HISTORY", 64 * 10 * 4, "HISTORY.append(out)"),
        ("jax_list.py", "history", 64 * 16 * 4, 'history["y"].append(np.asarray(y))'),
        ("tf1_fetch.py", "outputs", 64 * 8 * 4, "outputs.append(out)"),
    ],
)
def test_the_line_that_keeps_arrays(
    name: str, holder: str, each_bytes: int, text: str, tmp_path: Path
) -> None:
    program = recorded(name, tmp_path)
    lines = program.read_text().splitlines()
    with stepscope.open(str(tmp_path / "out")) as trace:
        (row,) = trace.analysis("growing_memory")
        assert (row.holder, row.step_bytes, row.each) == (holder, each_bytes, "in one more array")
        assert (Path(row.file).name, lines[row.line - 1].strip()[: len(text)]) == (program.name, text)
        assert trace.memory()


@pytest.mark.parametrize(
    ("name", "what", "text"),
    [
        ("tf1_ops.py", "The graph has 2 more ops", "value = session.run(tf.reduce_max(y)"),
        ("jax_jits.py", "`CACHE` holds 1 more compiled function", "CACHE[i] = jax.jit("),
        ("torch_graph.py", "`losses` keeps 7 more operations of autograd's graph", "losses.append(loss)"),
        ("torch_total.py", "`total` keeps 8 more operations of autograd's graph", "total += loss"),
        ("torch_valid.py", "`self.valid` keeps 7 more operations of autograd's graph", "self.valid.append("),
    ],
)
def test_the_line_that_makes_a_graph_grow(name: str, what: str, text: str, tmp_path: Path) -> None:
    program = recorded(name, tmp_path)
    lines = program.read_text().splitlines()
    with stepscope.open(str(tmp_path / "out")) as trace:
        (row,) = trace.analysis("growing_graph")
        assert row.what == what
        assert (Path(row.file).name, lines[row.line - 1].strip()[: len(text)]) == (program.name, text)


@pytest.mark.parametrize(
    "name", ["tf1_healthy.py", "tf2_healthy.py", "keras_healthy.py", "jax_healthy.py", "torch_healthy.py"]
)
def test_what_keeps_numbers_is_no_leak(name: str, tmp_path: Path) -> None:
    recorded(name, tmp_path)
    with stepscope.open(str(tmp_path / "out")) as trace:
        for finding in ("growing_memory", "growing_graph"):
            assert list(trace.analysis(finding)) == []
