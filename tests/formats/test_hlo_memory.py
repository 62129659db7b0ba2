"""How much memory a long HLO text takes: not many times its size."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")

_CHILD = """
import sys
from stepscope import _core
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) * 1024
before = peak()
(found,) = _core.hlo_summaries([sys.argv[1]], 1)
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


def peak_of(path: Path) -> tuple[int, int]:
    """Instructions of a text and the bytes that reading it takes at most."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(path)], check=True, capture_output=True, text=True
    )
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
    seen, peak = peak_of(path)
    assert seen == instructions
    assert peak / path.stat().st_size < most
