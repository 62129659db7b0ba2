"""The XLA of a Python: where jaxlib and TensorFlow are, and questions to them in child processes.

XLA ends a process whose flags it does not like, so it is never asked in ours. A child gets a plain
environment, no accelerator and no core file.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from stepscope import strict_json
from stepscope.errors import StepscopeError, UsageError
from stepscope.xla_tools.child_python import run_python

LIBRARIES = ("jaxlib", "tensorflow")
_SECONDS = 180

_WHERE = """
import importlib.util, json, pathlib, sys
found = {}
for name in ("jaxlib", "tensorflow"):
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        spec = None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        here = pathlib.Path(folder)
        versions = []
        for info in sorted(here.parent.glob("*.dist-info")):
            project, _, version = info.name[: -len(".dist-info")].partition("-")
            record = info / "RECORD"
            if project.startswith((name, "tf_nightly")) and record.exists():
                if f"\\n{name}/__init__.py," in "\\n" + record.read_text(errors="replace"):
                    versions.append(version)
        found.setdefault(name, [str(here), versions[0] if versions else ""])
print("\\n" + json.dumps(found))
"""

_QUIET = """
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except ModuleNotFoundError:  # Windows leaves no core files
    pass
"""

TRIGGERS = {
    ("jaxlib", "XLA_FLAGS"): "from jaxlib import xla_client\nprint('loaded', flush=True)\n"
    "xla_client.CompileOptions()\n",
    ("tensorflow", "XLA_FLAGS"): "import tensorflow as tf\nprint('loaded', flush=True)\n"
    "tf.function(lambda x: x + 1, jit_compile=True)(1.0)\n",
    ("tensorflow", "TF_XLA_FLAGS"): "from tensorflow.python.client import _pywrap_tf_session as s\n"
    "print('loaded', flush=True)\ns.TF_GetXlaConstantFoldingDisabled()\n",
}
"""The least that makes a library read a variable."""


class Library(NamedTuple):
    """An installed library with an XLA. folder: of its package. version: empty when nothing says."""

    name: str
    version: str
    folder: Path

    @property
    def title(self) -> str:
        """As people name it: jaxlib 0.10.2."""
        return f"{self.name} {self.version}".rstrip()


class ChildOutput(NamedTuple):
    """What a child said: its exit code, whether it loaded the library, and both its outputs."""

    code: int
    loaded: bool
    text: str
    out: bytes


def installed(python: str | None = None) -> list[Library]:
    """The libraries of a Python (ours without one), found without importing them. UsageError when it is no
    Python."""
    if python is None:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(_WHERE, {})  # it imports nothing of theirs, and a child takes longer to start than to look
        return _listed(json.loads(out.getvalue()))
    answer = _run(python, _WHERE, {})
    try:
        found = strict_json.parse(answer.out.strip().rpartition(b"\n")[2], lenient=True)
    except strict_json.OddJson as error:
        raise UsageError(
            "This program is not a Python that works",
            seen=(answer.text.strip().splitlines() or [f"exit code {answer.code}"])[-1][:300],
            todo="give --python the interpreter that has your jaxlib or TensorFlow",
            path=python,
        ) from error
    return _listed(found)


def _listed(found: Mapping[str, Sequence[str]]) -> list[Library]:
    return [Library(name, found[name][1], Path(found[name][0])) for name in LIBRARIES if name in found]


def shared_objects(library: Library) -> list[Path]:
    """The files of a library that may hold descriptors, the most likely first."""
    found = []
    for path in library.folder.rglob("*.so*"):
        try:
            size = path.stat().st_size
        except OSError:  # a link to nothing
            continue
        if size > 1 << 20 and not path.is_symlink():
            found.append((not any(word in path.name for word in ("common", "framework")), -size, path))
    return [path for _, _, path in sorted(found)]


def ask(
    library: Library, variable: str, value: str, python: str | None = None, code: str = ""
) -> ChildOutput:
    """Starts a child with a variable set, lets it read the variable, then runs `code`."""
    return _run(
        python,
        _QUIET + TRIGGERS[library.name, variable] + code,
        {variable: value, "TF_CPP_MIN_LOG_LEVEL": "0"},
    )


def run_code(code: str, python: str | None = None) -> ChildOutput:
    """Runs code in a child that reads no flags."""
    return _run(python, _QUIET + code, {})


def _run(python: str | None, code: str, extra: dict[str, str]) -> ChildOutput:
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("TF_", "XLA_"))}
    ours |= {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "-1", **extra}
    try:
        done = run_python(python, ["-c", code], ours, _SECONDS)
    except subprocess.TimeoutExpired as error:
        raise StepscopeError(
            "The library did not answer",
            seen=f"a child process of {python or sys.executable} ran for {_SECONDS} seconds",
            todo="try again when the machine is less busy, or leave the library out with --catalogue",
            slug="no-answer",
        ) from error
    text = done.stderr.decode("utf-8", "replace")
    return ChildOutput(done.returncode, b"loaded" in done.stdout, text, done.stdout)
