"""Compile times of XLA by program, pipeline, pass and stage of code generation."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

COLUMNS = ("module", "part", "within", "name", "times", "total_ps", "self_ps", "share")
"""A row is a name in one place of a module's compiles. part: passes, backend, or kernel (compiled on its own
threads, beside the backend). within: the pipelines or stages around it, outermost first. times: executions.
share: self time as part of the module's compiles; passes and backend of a module add up to 1, and so do its
kernels."""

_PREFIX, _SUFFIX = "__compute_module_", "_kernel_module"


class Compiled(NamedTuple):
    """The compiles of a module: how many, and the time of their passes, backends and kernels."""

    module: str
    compiles: int
    passes_ps: int
    backend_ps: int
    kernel_ps: int


def rows(slices: Sequence[Sequence[Any]]) -> tuple[list[dict[str, Any]], list[Compiled]]:
    """Rows with COLUMNS, the longest self time first, and the modules, the longest first. slices: rows of the
    statement compile_slices."""
    paths: dict[int, tuple[str, ...]] = {}
    times: dict[tuple[str, str, str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    sums: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    compiles: dict[str, set[int]] = defaultdict(set)
    # A slice comes after the one around it: ids follow the order of time on a track.
    for compiled, module, part, number, parent, name, kernel, dur, self_ps in sorted(
        slices, key=lambda row: row[3]
    ):
        module = module or "unknown"
        called = name.removesuffix(f" ({module})") if kernel is None else _kernel(kernel)
        around = paths.get(parent, ()) if part != "kernel" else ()
        paths[number] = (*around, called)
        found = times[module, part, " > ".join(around), called]
        found[0] += 1
        found[1] += dur
        # A kernel's thread does nothing else in that time: slices on top belong to its compile.
        found[2] += dur if part == "kernel" else self_ps
        sums[module][part] += dur if part == "kernel" else self_ps
        compiles[module].add(compiled)
    made = [_row(key, figures, sums[key[0]]) for key, figures in times.items()]
    modules = [
        Compiled(module, len(compiles[module]), *(parts[part] for part in ("passes", "backend", "kernel")))
        for module, parts in sums.items()
    ]
    return (
        sorted(made, key=lambda row: (-row["self_ps"], row["module"], row["within"] or "", row["name"])),
        sorted(modules, key=lambda module: (-(module.passes_ps + module.backend_ps), module.module)),
    )


def _kernel(module: str) -> str:
    """The instruction that a kernel's module was made for."""
    return module.removeprefix(_PREFIX).removesuffix(_SUFFIX)


def _row(key: tuple[str, str, str, str], figures: Sequence[int], sums: Mapping[str, int]) -> dict[str, Any]:
    module, part, within, name = key
    whole = sums["kernel"] if part == "kernel" else sums["passes"] + sums["backend"]
    cells = (module, part, within or None, name, *figures, figures[2] / whole if whole else 0.0)
    return dict(zip(COLUMNS, cells, strict=True))
