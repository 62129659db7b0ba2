"""Lines of the program on which transformations of a dataset were written.

Every dataset of TensorFlow runs DatasetV2.__init__; the stack at that moment shows the method and the line of
the program that called it.
"""

import contextlib
import inspect
import linecache
import os
import re
import sys
import weakref
from types import CodeType, FrameType
from typing import Any, Dict, List, Optional, Tuple

from .environment import relative
from .patches import Patches
from .places import is_framework

_DATA = tuple(f"{os.sep}{lib}{os.sep}python{os.sep}data{os.sep}" for lib in ("tensorflow", "tensorflow_core"))
TEXT = 200
"""Characters of a line, or of an argument."""


class DatasetSites:
    """Sites of the datasets that are alive, by identity: a dataset may have neither equality nor a hash."""

    def __init__(self) -> None:
        self._sites: Dict[int, Tuple[Any, Dict[str, Any]]] = {}
        self._made = 0

    def watch(self, patches: Patches) -> None:
        """Records the site of every dataset from now on."""
        from tensorflow.python.data.ops import dataset_ops

        def make(init: Any) -> Any:
            def __init__(self_: Any, *args: Any, **kwargs: Any) -> None:
                init(self_, *args, **kwargs)
                with contextlib.suppress(Exception):  # without weak references, it gets no line
                    self.note(self_, sys._getframe(1))

            return __init__

        patches.wrap(dataset_ops.DatasetV2, "__init__", make)

    def note(self, dataset: Any, frame: Optional[FrameType]) -> None:
        """Records the site of a new dataset, and its number: TensorFlow names it by its own count."""
        made, self._made = self._made, self._made + 1
        key = id(dataset)

        def forget(_: Any, key: int = key) -> None:
            self._sites.pop(key, None)

        try:
            self._sites[key] = (weakref.ref(dataset, forget), {"made": made, **site(frame)})
        except Exception as error:  # noqa: BLE001  an odd stack or argument must not keep a dataset from being
            self._sites[key] = (weakref.ref(dataset, forget), {"made": made, "unknown": str(error)})

    def chain(self, dataset: Any) -> List[Dict[str, Any]]:
        """The dataset and its inputs, sources first; position 0 is the first source."""
        rows: List[Dict[str, Any]] = []
        positions: Dict[int, int] = {}
        todo: List[Tuple[Any, bool]] = [(dataset, False)]
        while todo:
            node, visited = todo.pop()
            if id(node) in positions:
                continue
            inputs = list(node._inputs())
            if not visited:
                todo.append((node, True))
                todo.extend((each, False) for each in reversed(inputs))
                continue
            positions[id(node)] = len(rows)
            known = self._sites.get(id(node))
            rows.append(
                {
                    "position": len(rows),
                    "transformation": "",
                    "dataset": op_name(node),
                    "inputs": [positions[id(each)] for each in inputs],
                    **(known[1] if known and known[0]() is node else {}),
                    **_cardinality(node),
                }
            )
        return rows


def _cardinality(dataset: Any) -> Dict[str, int]:
    """Its number of elements, -1 when it never ends; nothing where only reading it would tell."""
    from tensorflow.python.eager import context

    if not context.executing_eagerly():
        return {}  # in a graph the answer would be one more op of the program's
    try:
        count = int(dataset.cardinality())
    except Exception:  # noqa: BLE001  datasets of the program's own making may have none: it is left out
        return {}
    return {"cardinality": count} if count >= -1 else {}


def op_name(dataset: Any) -> str:
    """ParallelMapDataset for _ParallelMapDataset: TensorFlow's op without its version."""
    if type(dataset).__name__ == "DatasetV1Adapter":
        dataset = dataset._dataset
    return re.sub(r"V\d+$", "", type(dataset).__name__.lstrip("_"))


def site(frame: Optional[FrameType]) -> Dict[str, Any]:
    """Transformation, file, line, function and arguments, from the stack within DatasetV2.__init__."""
    method: Optional[FrameType] = None
    while frame is not None and is_framework(frame.f_code.co_filename):
        path = frame.f_code.co_filename
        if any(part in path for part in _DATA) and (method is None or method.f_back is frame):
            method = frame
        frame = frame.f_back
    record: Dict[str, Any] = {}
    if method is not None:
        record["transformation"] = _name(method)
        record["arguments"] = _arguments(method)
    record.update(program_line(frame))
    return record


def program_line(frame: Optional[FrameType]) -> Dict[str, Any]:
    """File, line, function and text of the innermost frame of the program's, from a frame outwards; nothing
    without one."""
    while frame is not None and is_framework(frame.f_code.co_filename):
        frame = frame.f_back
    return {} if frame is None else line_of(frame.f_code, frame.f_lineno, frame.f_globals)


def line_of(code: CodeType, line: int, module: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
    """File, line, function and text of a line of some code. module: its globals, for source without a
    file."""
    place: Dict[str, Any] = {"file": relative(code.co_filename), "line": line, "function": code.co_name}
    text = linecache.getline(code.co_filename, line, module).strip()
    if text:
        place["text"] = text[:TEXT]
    return place


def _name(method: FrameType) -> str:
    name = method.f_code.co_name
    if name == "__init__":
        return re.sub(r"V\d+$", "", type(method.f_locals.get("self")).__name__.lstrip("_"))
    # An experimental transformation passes `apply` a function of its own: the outer one has the name.
    return method.f_code.co_qualname.split(".")[0] if name == "_apply_fn" and _has_qualname else name


_has_qualname = hasattr(compile("", "", "exec"), "co_qualname")


def _is_small(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= TEXT)


def _arguments(method: FrameType) -> Dict[str, Any]:
    """Small arguments: numbers, truth values, short text, and functions by name and place."""
    code, values = method.f_code, method.f_locals
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    found: Dict[str, Any] = {}
    for name in names:
        value = values.get(name)
        if name in ("self", "name", "cls") or value is None:
            continue
        if _is_small(value):
            found[name] = value
        elif inspect.isfunction(value) or inspect.ismethod(value):
            place = value.__code__
            found[name] = f"{value.__qualname__} ({relative(place.co_filename)}:{place.co_firstlineno})"
        elif callable(value):
            found[name] = type(value).__name__
        elif isinstance(value, (list, tuple)) and len(value) <= 8 and all(map(_is_small, value)):
            found[name] = list(value)
    return found
