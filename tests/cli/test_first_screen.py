"""The summary fits a real terminal of 80 columns and 40 lines, whatever was recorded."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.tiers import ALL, some

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux here")
SAMPLES = Path(__file__).resolve().parents[1] / "samples"
_PATIENCE_S = 240  # bounds a hang; no screen takes so long
DIFFER = ("capture/slow_map", "chrome/horovod.json")
"""Steps, a pipeline and lines of code; and the one that fills the screen, whose steps nothing marks."""
EVERY = (
    "capture/python_loop",
    "capture/slow_map",
    "chrome/horovod.json",
    "chrome/kineto_cuda.json",
    "graph/small.pb",
    "kineto/capitals_of_2021.json",
    "profile/memory.json",
    "profile/node.cpuprofile",
    "profiler_hook",
    "run_metadata",  # two runs
    "run_metadata/horovod",
    "tf_data/mirrored_slow_map.xplane.pb.gz",
    "xplane/keras_tensorboard.xplane.pb.gz",
)
RECORDINGS = EVERY if ALL else DIFFER


def screens(folder: Path, columns: int, lines: int) -> dict[str, list[str]]:
    """What each recording's summary leaves on a screen, with the prompt below it."""
    server = ["tmux", "-L", f"stepscope-{os.getpid()}-{folder.name}", "-f", os.devnull]
    environment = f"env -u COLUMNS -u LINES -u NO_COLOR LC_ALL=C.UTF-8 STEPSCOPE_CACHE_DIR={folder}"
    shell = f"{environment} PS1='$ ' sh"
    size = ["-x", str(columns), "-y", str(lines)]
    subprocess.run([*server, "new-session", "-d", *size, "-c", str(SAMPLES), shell], check=True)
    found = {}
    try:
        for name in RECORDINGS:
            command = f"clear; {sys.executable} -m stepscope {name} > /dev/tty; printf done"
            subprocess.run([*server, "send-keys", command, "Enter"], check=True)
            end = time.monotonic() + _PATIENCE_S
            text: list[str] = []
            while not (text and text[-1].startswith("done$")):
                assert time.monotonic() < end, f"no end of {name}: {text}"
                time.sleep(0.1)
                done = subprocess.run(
                    [*server, "capture-pane", "-p"], capture_output=True, text=True, check=True
                )
                text = done.stdout.rstrip("\n").split("\n")
            found[name] = text[:-1]
    finally:
        subprocess.run([*server, "kill-server"], check=False)
    return found


@pytest.mark.parametrize(("columns", "lines"), some([(80, 40), (200, 50)], (80,), "a larger screen"))
def test_the_first_screen_holds_the_answer(tmp_path: Path, columns: int, lines: int) -> None:
    for name, text in screens(tmp_path, columns, lines).items():
        runs = "2 runs" if name == "run_metadata" else "1 run"
        assert f": {runs}, 1 host" in text[0], f"{name}: the title has left the screen\n" + "\n".join(text)
        assert any(line.startswith("Next") for line in text), name
        shown = "\n".join(text)
        # A graph shows what could run: there is no time to report.
        assert ("stepscope graph" if name.startswith("graph") else "stepscope report") in shown, name
        if name.startswith(("capture", "profiler_hook", "run_metadata/", "tf_data", "xplane")):
            assert any(line.startswith("Step  ") for line in text), f"{name}: no bar"
            ops = next(i for i, line in enumerate(text) if line.startswith(("Ops  ", "Op types")))
            assert 1 <= next(k for k, line in enumerate(text[ops + 1 :]) if line[:1] != " ") <= 5, name
            assert "--all shows them" in " ".join(shown.split()), name
