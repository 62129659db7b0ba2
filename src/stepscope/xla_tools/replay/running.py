"""Programs run in child processes, by the Python that has jax: it may abort, hang or fill the memory."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import strict_json
from stepscope.errors import StepscopeError
from stepscope.escapes import printable
from stepscope.xla_tools.child_python import run_python
from stepscope.xla_tools.replay import cut, shapes
from stepscope.xla_tools.replay.inputs import Argument

OPTIONAL = (
    "algsimp", "cse", "constant_folding", "fusion", "reshape-mover", "simplification", "dot-library-rewriter",
    "tree_reduction_rewriter", "scatter_simplifier", "gather_simplifier",
    "post_scatter_expansion_simplification", "simplification_after_layout_assignment", "transpose-folding",
    "while-loop-simplifier", "while-loop-invariant-code-motion", "while-loop-constant-sinking",
    "conditional_simplifier", "conditional-to-select", "zero_sized_hlo_elimination", "simplify-sorts",
    "simplify-fp-conversions", "slice-sinker", "convert-mover", "map-inline", "hlo-constant-splitter",
    "multi_output_fusion", "all-reduce-folder",
)  # fmt: skip
"""Passes that a program compiles without. A stage that all passes compile again would repeat the mistake of a
later one."""
PLAIN = (
    f"--xla_disable_hlo_passes={','.join(OPTIONAL)}",
    "--xla_allow_excess_precision=false",
    "--xla_backend_optimization_level=0",
)
_CHILD = Path(__file__).with_name("child.py")


class ReplayRun(NamedTuple):
    """What a run gave. first_ns: with what is done once. spent_ns: of each run after it. results: file with
    what came out, or None."""

    compile_ns: int
    first_ns: int
    spent_ns: list[int]
    device: str
    jax: str
    outputs: int
    results: Path | None


class ReplayFailure(NamedTuple):
    """Why there is no result. at: compile, run or process."""

    at: str
    message: str


class Runner:
    """Runs programs with the same inputs. folder: for files in between. python: who has jax, ours without.
    inputs: None for generated ones, a .npz, or arguments of a snapshot."""

    def __init__(
        self,
        folder: Path,
        *,
        python: str | None,
        seconds: float,
        runs: int,
        seed: int,
        inputs: str | Sequence[Argument] | None,
    ) -> None:
        self._folder, self._python, self._seconds = folder, python, seconds
        self._runs, self._seed = runs, seed
        self._inputs: str | list[dict[str, Any]] | None = inputs if isinstance(inputs, str) else None
        self._given = None if inputs is None or isinstance(inputs, str) else list(inputs)
        if self._given is not None:
            self._inputs = []
            for number, argument in enumerate(self._given):
                path = folder / f"argument{number}"
                path.write_bytes(argument.data)
                self._inputs.append({"path": str(path), "order": argument.array.order})
        self._number = 0

    def proto_of_text(self, path: str) -> bytes:
        """The HloModuleProto of a text dump, as jaxlib reads it."""
        out = self._folder / "module.pb"
        reply = self._ask("parse", {"path": str(Path(path).absolute()), "out": str(out)}, ())
        if isinstance(reply, ReplayFailure):
            raise StepscopeError(
                "jaxlib could not read the text",
                seen=reply.message,
                todo="dump with --xla_dump_hlo_as_proto, and give the .hlo.pb",
                slug="replay",
                path=path,
            )
        return out.read_bytes()

    def run(
        self, program: cut.ReplayProgram, flags: Sequence[str], *, keep: bool
    ) -> ReplayRun | ReplayFailure:
        """Compiles and runs a program. keep: whether its results are compared later."""
        self._number += 1
        proto = self._folder / f"{self._number}.pb"
        proto.write_bytes(program.proto)
        out = self._folder / f"{self._number}.npz" if keep else None
        unknown = [parameter.type for parameter in program.parameters if parameter.type not in shapes.DTYPES]
        if unknown:
            return ReplayFailure(
                "compile", f"it takes a parameter of element type {unknown[0]}, which numpy has not"
            )
        if (wrong := self._unfit(program)) is not None:
            return ReplayFailure("run", wrong)
        reply = self._ask(
            "run",
            {
                "proto": str(proto),
                "parameters": [
                    {"type": shapes.DTYPES[parameter.type], "dimensions": parameter.dimensions}
                    for parameter in program.parameters
                ],
                "runs": self._runs,
                "seed": self._seed,
                "inputs": self._inputs,
                "out": out and str(out),
            },
            flags,
        )
        return reply if isinstance(reply, ReplayFailure) else ReplayRun(**reply, results=out)

    def _unfit(self, program: cut.ReplayProgram) -> str | None:
        """Why arguments of a snapshot are not those of a program."""
        if self._given is None:
            return None
        have = [(argument.array.type, argument.array.dimensions) for argument in self._given]
        want = [(parameter.type, parameter.dimensions) for parameter in program.parameters]
        if have == want:
            return None
        return f"the snapshot has {len(have)} arrays that are not the {len(want)} parameters of this program"

    def compare(self, a: Path, b: Path, tolerance: float | None) -> dict[str, Any]:
        """How far results differ, as child.compare() says."""
        reply = self._ask("compare", {"a": str(a), "b": str(b), "tolerance": tolerance}, ())
        return {"other": reply.message} if isinstance(reply, ReplayFailure) else reply

    def _ask(self, what: str, spec: Mapping[str, Any], flags: Sequence[str]) -> Any:
        path = self._folder / "spec.json"
        path.write_text(json.dumps(spec))
        arguments = [str(_CHILD), what, str(path)]
        try:
            done = run_python(self._python, arguments, _environment(flags), self._seconds, self._folder)
        except subprocess.TimeoutExpired:
            return ReplayFailure(
                "process", f"it had not ended after {self._seconds:g} s; --timeout allows more"
            )
        errors = done.stderr.decode("utf-8", "replace")
        reply = strict_json.value(done.stdout.decode("utf-8", "replace").strip().rpartition("\n")[2])
        if not isinstance(reply, dict):
            return ReplayFailure("process", _last_words(done.returncode, errors))
        if "missing" in reply:
            raise StepscopeError(
                "Replaying needs jax",
                seen=printable(reply["missing"]),
                todo="pip install 'stepscope[replay]', or give --python an interpreter that has jax",
                slug="replay-needs-jax",
                path=self._python or sys.executable,
            )
        if "refused" in reply:
            return ReplayFailure(reply["refused"], printable(" ".join(reply["said"].split()))[:600])
        return reply


def _environment(flags: Sequence[str]) -> dict[str, str]:
    """Ours, with flags added and dumps left out: what is replayed is dumped already."""
    kept = shlex.split(os.environ.get("XLA_FLAGS", "").replace("'", '"')) if "XLA_FLAGS" in os.environ else []
    words = [word for word in kept if not word.lstrip("-").startswith("xla_dump")]
    made = {**os.environ, "XLA_FLAGS": " ".join([*words, *flags]), "TF_CPP_MIN_LOG_LEVEL": "1"}
    return {name: value for name, value in made.items() if name != "PYTHONPATH" or value}


def _last_words(code: int, errors: str) -> str:
    """Why a process ended without an answer: what it said, or by which signal."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    marks = ("Unknown flag", "Check failed", "LLVM ERROR", "Couldn't interpret", "Error:", "Illegal value")
    messages = [line for line in lines if any(mark in line for mark in marks)] or lines[-1:]
    ended = f"it ended by signal {-code}" if code < 0 else f"exit code {code}"
    return printable(f"{messages[0][:400]} ({ended})" if messages else ended)
