"""Names of files in a dump folder of XLA: module, stage, pass, and the place in the chain."""

import re
from typing import NamedTuple

CHAIN = ("input", "options", "sharding", "before", "pass", "after", "memory", "kernel", "object", "other")
"""The order of a compile, from what the framework hands over to what runs."""

MODULES = ("hlo.pb", "pb", "hlo_snapshot.pb", "txt")
"""Endings of files that hold a module, the best first."""


class Named(NamedTuple):
    """What a name says. place: one of CHAIN. kind: what it is. stage: the stage, or the pipeline of a pass.
    number: of the pass. what: kernel, object or step of sharding. suffix: what stages and passes end in.
    clock: the timestamp before the name, if any."""

    module: str
    id: int | None
    place: str
    kind: str
    stage: str | None = None
    passed: str | None = None
    before: str | None = None
    number: int | None = None
    what: str | None = None
    suffix: str = ""
    clock: str = ""


_ENDING = r"\.(txt|hlo\.pb|hlo_snapshot\.pb|pb|dot|html|svg|json)(?:\.gz)?"
_HEAD = r"^(?:(\d{9,})\.)?module_(\d+)"
_PASS = re.compile(_HEAD + r"\.(.+?)\.(\d{4,})\.(.+?)\.after_(.+?)(?:\.before_(.+?))?" + _ENDING + "$")
_STAGE = re.compile(
    _HEAD + r"(?:\.(.+?))?\.(before_optimizations"
    r"|(?:(?:sm_\d+\.\d+_)?[a-z]+_)?after_optimizations(?:_before_buffer_assignment)?)"
    r"(-[a-z-]+|\.top_level)?" + _ENDING + "$"
)
_OPTIONS = re.compile(_HEAD + r"\.(.+)\.(debug_options|config\.pbtxt|flagfile)$")
_OBJECT = re.compile(_HEAD + r"\.(.+?)\.obj-file\.(.+)\.o$")
_KERNEL = re.compile(
    _HEAD + r"\.(.+?)\.([^.].*?)(?:\.(ir-(?:no|with)-opt\.ll|ptx|cubin|thunk_sequence\.txt)"
    r"|-((?:pre-optimization|post-optimization|post-lowering)\.mlir))$"
)
_SNAPSHOT = re.compile(_HEAD + r"\.(.+?)\.(?:execution_?\d+|\d+)\.(?:hlo_)?snapshot(?:\.pb)?$")
_MODULE = re.compile(_HEAD + r"\.(.+?)" + _ENDING + "$")
_FOLDER = re.compile(r"^module_(\d+)\.([^.]+)$")
_JAX_IR = re.compile(r"^jax_ir(\d+)_(.+?)(?:_compile)?\.mlir$")
_IN_FOLDER = {
    "module.mlir": ("input", "StableHLO"),
    "compile_options.pb": ("options", "compile options"),
    "topology.pb": ("options", "topology"),
}
_MEMORY = {
    "-buffer-assignment": "buffer assignment",
    "-buffer-assignment-values": "buffer assignment values",
    "-live-range": "live ranges",
    "-memory-usage-report": "memory usage report",
}


def folder(name: str) -> tuple[int, str] | None:
    """Number and name of the module that a folder of JAX is about."""
    match = _FOLDER.match(name)
    return (int(match[1]), match[2]) if match else None


def folder_name(name: str, parents: tuple[str, ...]) -> Named | None:
    """What a file says that lies in a folder of JAX; parents: the folders around it, outermost first."""
    for at, parent in enumerate(parents):
        if found := folder(parent):
            number, module = found
            if at and parents[at - 1] == "shardy":
                return Named(module, number, "sharding", "StableHLO with shardings", what=name)
            place, kind = _IN_FOLDER.get(name, ("other", "other"))
            return Named(module, number, place, kind)
    return None


def _stage_name(match: re.Match[str]) -> Named:
    clock, number, module, stage, part, ending = match.groups()
    name, at = module or "", int(number)
    if part in _MEMORY:
        return Named(name, at, "memory", _MEMORY[part], stage, suffix=ending, clock=clock or "")
    place = "before" if stage == "before_optimizations" else "after"
    kind = _kind(ending) if part is None else "drawing" if ending in ("dot", "html") else part[1:]
    return Named(name, at, place, kind, stage, suffix=ending, clock=clock or "")


def _kind(ending: str) -> str:
    return {"txt": "HLO text", "dot": "drawing", "html": "drawing", "svg": "drawing", "json": "JSON"}.get(
        ending, "HLO proto"
    )


def named(name: str) -> Named | None:
    """What a name says; None when it is not a name of a dump."""
    if match := _PASS.match(name):
        clock, number, module, at, stage, passed, before, ending = match.groups()
        return Named(
            module,
            int(number),
            "pass",
            _kind(ending),
            stage,
            passed,
            before,
            int(at),
            None,
            ending,
            clock or "",
        )
    if match := _STAGE.match(name):
        return _stage_name(match)
    for pattern, place, kind in (
        (_OPTIONS, "options", "debug options"),
        (_OBJECT, "object", "object file"),
        (_SNAPSHOT, "after", "HLO snapshot"),
    ):
        if match := pattern.match(name):
            what = match[4] if place == "object" else None
            stage, suffix = ("snapshot", "pb") if kind == "HLO snapshot" else (None, "")
            return Named(match[3], int(match[2]), place, kind, stage, what=what, suffix=suffix)
    if match := _KERNEL.match(name):
        return Named(match[3], int(match[2]), "kernel", match[5] or match[6], what=match[4])
    if match := _JAX_IR.match(name):
        return Named(match[2], None, "input", "StableHLO", number=int(match[1]))
    if match := _MODULE.match(name):  # a dump of a name that no version we know of writes
        module, _, stage = match[3].rpartition(".")
        return Named(module or stage, int(match[2]), "other", _kind(match[4]), stage, suffix=match[4])
    return None


def parsed(name: str) -> Named:
    """What the name of a file says that is taken for a module whatever it is called."""
    ending = "txt" if name.endswith((".txt", ".txt.gz")) else "pb"
    return named(name) or Named("", None, "other", "HLO", suffix=ending)


_TF = re.compile(r"__Xla\w*_\.\d+$|__\.\d+$|_\.\d+$")


def function(module: str) -> str:
    """The function that a module was compiled from, so that all its compiles have one name: jit_f and pjit_f
    are f, a_inference_f_103__XlaMustCompile…_.7 is f."""
    name = re.sub(r"__Xla.*$", "", module)
    name = _TF.sub("", name)
    if match := re.match(r"^a?_*(?:inference|forward|backward)_(.+?)_\d+$", name):
        return match[1]
    return re.sub(r"^(?:jit|pjit|pmap|xmap)_(?=.)", "", name)
