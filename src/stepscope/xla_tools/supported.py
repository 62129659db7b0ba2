"""Ops that the installed TensorFlow can compile with XLA, and graphs compared with its kernel registry."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stepscope import strict_json
from stepscope.errors import StepscopeError
from stepscope.instruments.xla import clusters
from stepscope.xla_tools import library_answers
from stepscope.xla_tools.flags import installed

COLUMNS = ("op", "types")
AGAINST = ("op", "nodes", "why", "types", "allowed", "example")
"""why: no_kernel, or type: an attribute has a type that no kernel allows."""

_ENDS = frozenset((*clusters.ARGUMENTS, "NoOp", "_SOURCE", "_SINK", "Placeholder"))
"""Ops of a graph's border, which do nothing."""

_CODE = """
import json
import tensorflow as tf
tf.function(lambda x: x + 1, jit_compile=True)(1.0)
from tensorflow.python.framework import kernels
found = []
for one in kernels.get_all_registered_kernels().kernel:
    found.append([one.op, one.device_type, {c.name: [tf.dtypes.as_dtype(t).name for t in
        c.allowed_values.list.type] for c in one.constraint}])
print("\\nBEGIN" + json.dumps([tf.__version__, found]))
"""

Types = dict[str, list[str]]


def registry(device: str, python: str | None) -> tuple[str, dict[str, list[Types]]]:
    """TensorFlow's version, and for each op the types of each of its kernels; kept for each build of it."""
    library = next((library for library in installed.installed(python) if library.name == "tensorflow"), None)
    what = f"kernels of {library.title} in {library.folder}" if library is not None else ""
    asked = library_answers.recall(what) if library is not None else None
    if asked is None:
        asked = _listed_kernels(python)
        if library is not None:
            library_answers.remember(what, installed.shared_objects(library), asked)
    version, kernels = asked
    found: dict[str, list[Types]] = {}
    for op, of, types in kernels:
        if of == device:
            found.setdefault(op, []).append(types)
    return str(version), found


def _listed_kernels(python: str | None) -> list[Any]:
    """TensorFlow's version and all its kernels: op, device and types, as a child process lists them."""
    answer = installed.run_code(_CODE, python)
    _, begun, text = answer.out.decode("utf-8", "replace").rpartition("BEGIN")
    if not begun:
        raise StepscopeError(
            "TensorFlow could not be asked for its ops",
            seen=f"exit code {answer.code}; {(answer.text.strip().splitlines() or ['no output'])[-1][:300]}",
            todo="install TensorFlow, or give --python the interpreter that has it",
            slug="no-tensorflow",
        )
    # What a library prints while the process ends comes after it.
    asked: list[Any] = json.JSONDecoder().raw_decode(text)[0]
    return asked


def types_of(kernels: Sequence[Types]) -> str:
    """The types that kernels of an op allow together, as the tool of TensorFlow's build printed them."""
    merged: dict[str, set[str]] = {}
    for types in kernels:
        for name, allowed in types.items():
            merged.setdefault(name, set()).update(allowed)
    return " ".join(f"{name}={{{','.join(sorted(allowed))}}}" for name, allowed in sorted(merged.items()))


def once(nodes: Iterable[Sequence[Any]]) -> list[tuple[str, str, Mapping[str, Any]]]:
    """Nodes (name, op, attributes as JSON), each once: a graph that is dumped after each pass has most of its
    nodes in every file, also with what passes note on them."""
    found: dict[tuple[str, str, str], tuple[str, str, Mapping[str, Any]]] = {}
    for name, op, text in nodes:
        attributes = strict_json.members(text)
        bare = clusters.bare_name(name, attributes.get("_XlaCluster"))
        shown_attributes = {key: value for key, value in attributes.items() if not key.startswith("_")}
        found.setdefault(
            (bare, op, json.dumps(shown_attributes, sort_keys=True)), (bare, op, shown_attributes)
        )
    return list(found.values())


def unsupported(
    nodes: Iterable[tuple[str, str, Mapping[str, Any]]], known: Mapping[str, Sequence[Types]]
) -> list[dict[str, Any]]:
    """What keeps nodes (name, op, attributes) off XLA: a row for each op and reason, most nodes first."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for name, op, attributes in nodes:
        if op in _ENDS:
            continue
        kernels = known.get(op)
        types = ""
        if kernels is None:
            why = "no_kernel"
        elif any(_allows(kernel, attributes) for kernel in kernels):
            continue
        else:
            why = "type"
            names = sorted({key for kernel in kernels for key in kernel if key in attributes})
            types = " ".join(f"{key}={_type(attributes[key])}" for key in names)
        row = found.setdefault(
            (op, why, types),
            {
                **{"op": op, "nodes": 0, "why": why, "types": types or None},
                **{"allowed": types_of(kernels) if kernels else None, "example": name},
            },
        )
        row["nodes"] += 1
    return sorted(found.values(), key=lambda row: (-row["nodes"], row["op"]))


def _allows(kernel: Types, attributes: Mapping[str, Any]) -> bool:
    """Whether the attributes that a graph says have allowed types; what it does not say never refuses it."""
    return all(
        _type(attributes[key]) in allowed
        for key, allowed in kernel.items()
        if key in attributes and isinstance(attributes[key], str) and allowed
    )


_NAMES = {"float": "float32", "double": "float64", "half": "float16"}


def _type(value: Any) -> str:
    """DT_FLOAT, as graphs say it, in the words of the registry."""
    name = str(value).removeprefix("DT_").removesuffix("_REF").lower()
    return _NAMES.get(name, name)
