"""Older Pythons, where this machine has them, and environments of TensorFlow 1 for them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

NEEDS = {
    ("3.7", "1.15.5"): ("tensorflow==1.15.5", "protobuf<3.21", "numpy<1.19"),
    ("3.6", "1.1.0"): ("tensorflow==1.1.0",),
}


def interpreter(version: str) -> Path:
    """The Python of a version such as 3.7; skips the test where there is none."""
    name = f"python{version}"
    found = [shutil.which(name)]
    if shutil.which("pyenv"):  # it has Pythons that it does not put on the path
        asked = _said(["pyenv", "whence", "--path", name])
        found += asked.splitlines()
    for one in filter(None, found):
        if _said([one, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]) == version:
            return Path(one)
    pytest.skip(f"there is no {name}")


def with_tensorflow(version: str, tensorflow: str) -> Path:
    """A Python of an environment with this TensorFlow, which is made where there is none yet; skips the test
    where it cannot be had. Kept in STEPSCOPE_TEST_VENVS, or in the cache folder of the user."""
    kept = os.environ.get("STEPSCOPE_TEST_VENVS") or Path.home() / ".cache" / "stepscope-test-venvs"
    home = Path(kept) / f"tensorflow-{tensorflow}"
    python = home / "bin" / "python"
    check = [str(python), "-c", "import tensorflow; print(tensorflow.__version__)"]
    if python.exists() and _said(check) == tensorflow:
        return python
    shutil.rmtree(home, ignore_errors=True)
    words = [str(interpreter(version)), "-m", "venv", str(home)]
    pip = [str(python), "-m", "pip", "install", "--quiet"]
    for command in (words, [*pip, "--upgrade", "pip"], [*pip, *NEEDS[version, tensorflow]]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"TensorFlow {tensorflow} cannot be installed: {done.stderr[-300:]}")
    if _said(check) != tensorflow:
        pytest.skip(f"TensorFlow {tensorflow} cannot be imported here")
    return python


def _said(command: list[str]) -> str:
    """What a command says on stdout; nothing when it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
