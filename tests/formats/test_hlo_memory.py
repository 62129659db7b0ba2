"""How much memory a long HLO text takes: in pieces a part of its size, as a whole not many times that.
In pieces it says the same."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from stepscope import _core
from tests import corpus
from tests.formats.test_hlo import unpacked

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")

_CHILD = """
import sys
from stepscope import _core
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) * 1024
before = peak()
(found,) = _core.hlo_summaries([sys.argv[1]], 1, int(sys.argv[2]))
print(found["instructions"], peak() - before)
"""
BYTES = 24 << 20
LINES = "lines of other kinds, which take less"
SHORT = "  %v.{0} = f32[128,256]{{1,0}} add(%v.{1}, %v.{1})\n"
NAMED = (
    "  %v.{0} = f32[128,256]{{1,0}} multiply(%v.{1}, %v.{1}), metadata={{op_name="
    '"jit(step)/jvp(layer_7)/mlp/mul" stack_frame_id=7}}\n'
)
CONFIGURED = (
    '  %v.{0} = f32[128,256]{{1,0}} custom-call(%v.{1}), custom_call_target="f", '
    'backend_config={{"kind":["a","b"]}}, metadata={{op_name="jit(step)/call"}}\n'
)


def write_text(path: Path, line: str, size: int) -> int:
    """A text of so many bytes with one long computation of such lines; how many instructions it has."""
    count = size // len(line.format(1000, 999))
    with path.open("w") as file:
        file.write(
            "HloModule m, is_scheduled=true\n\nENTRY %main {\n  %v.0 = f32[128,256]{1,0} parameter(0)\n"
        )
        file.writelines(line.format(number, number - 1) for number in range(1, count))
        file.write(f"  ROOT %r = f32[128,256]{{1,0}} tanh(%v.{count - 1})\n}}\n")
    return count + 1


def peak_of(path: Path, whole: bool = False) -> tuple[int, int]:
    """Instructions of a text and the bytes that reading it takes at most. whole: not in pieces."""
    words = [sys.executable, "-c", _CHILD, str(path), str(1 << 40 if whole else 0)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    instructions, peak = done.stdout.split()
    return int(instructions), int(peak)


@pytest.mark.parametrize(
    ("line", "most"),
    [
        (SHORT, 6.5),
        pytest.param(NAMED, 3.6, marks=pytest.mark.repeats(LINES)),
        pytest.param(CONFIGURED, 3.6, marks=pytest.mark.repeats(LINES)),
    ],
    ids=["short", "named", "configured"],
)
def test_a_long_text_takes_few_times_its_size(tmp_path: Path, line: str, most: float) -> None:
    path = tmp_path / "module_0000.m.before_optimizations.txt"
    instructions = write_text(path, line, BYTES)
    seen, peak = peak_of(path, whole=True)
    assert seen == instructions
    assert peak / path.stat().st_size < most


def write_computations(path: Path, size: int) -> int:
    """A text of so many bytes with many computations that an entry calls; how many instructions it has."""
    one = (
        "%f.{0} {{\n  %p.{0} = f32[128,256]{{1,0}} parameter(0)\n"
        + "".join(NAMED.replace("{0}", f"{{0}}.{at + 1}").replace("{1}", f"{{0}}.{at}") for at in range(50))
        + "}}\n\n"
    ).replace("%v.{0}.0", "%p.{0}")
    count = size // len(one.format(10_000))
    with path.open("w") as file:
        file.write("HloModule m, is_scheduled=true\n\n")
        file.writelines(one.format(number) for number in range(count))
        file.write("ENTRY %main {\n  %a.0 = f32[128,256]{1,0} parameter(0)\n")
        for number in range(count):
            called = f"fusion(%a.{number}), kind=kLoop, calls=%f.{number}"
            file.write(f"  %a.{number + 1} = f32[128,256]{{1,0}} {called}\n")
        file.write("}\n")
    return count * 52 + 1


def test_in_pieces_it_takes_a_part_of_its_size(tmp_path: Path) -> None:
    """Of one long computation names and shapes are kept, of many short ones next to nothing. What any text
    takes, such as the code that reads it, is the same for both lengths."""
    path = tmp_path / "module_0000.m.before_optimizations.txt"
    for write, most in ((partial(write_text, line=NAMED), 0.3), (write_computations, 0.1)):
        peaks = []
        for size in (BYTES, 2 * BYTES):
            wanted = write(path, size=size)
            seen, peak = peak_of(path)
            assert seen == wanted
            peaks.append(peak)
        assert (peaks[1] - peaks[0]) / BYTES < most


def texts() -> list[Path]:
    found = [*unpacked().rglob("*.txt"), *corpus.path("jax/xla_dump").rglob("*.txt")]
    return sorted(path for path in found if path.read_bytes()[:10] == b"HloModule ")


def told(paths: list[Path], whole_bytes: int) -> tuple[list[Any], dict[str, list[dict[str, Any]]]]:
    """What the core makes of texts: sums and tables."""
    names = [str(path) for path in paths]
    store = _core.build()
    rows = [(name, at, at, str(at), "m", None) for at, name in enumerate(names)]
    read = _core.hlo_tables(store, rows, whole_bytes)
    assert read == [None] * len(rows)
    tables = {name: store.rows(name) for name in ("hlo_computation", "hlo_instruction")}
    return _core.hlo_summaries(names, 1, whole_bytes), tables


@pytest.mark.repeats("reads recordings that do not ship")
def test_in_pieces_it_says_the_same() -> None:
    paths = texts()
    assert len(paths) > 100
    assert told(paths, 0) == told(paths, 1 << 40)
