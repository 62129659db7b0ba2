"""Arguments of a call, as a framework distinguishes them when it looks for a compiled version.

For arrays these are shape and element type, for Python's own values the value, for everything else the
identity of the object. No object of the program is kept, and none of its code runs: objects of classes from
neither Python nor a framework are equal only if identical.
"""

import functools
import inspect
import itertools
import types
import weakref
from typing import Any, Collection, Dict, Iterator, List, NamedTuple, Optional, Tuple

MOST_LEAVES = 2000
"""Most parts of a large argument that are read."""
_MOST_DEPTH = 30
_MOST_TEXT = 120
_VALUES = (type(None), bool, int, float, complex, str, bytes)
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, functools.partial)
ARRAYS = ("numpy", "jax", "jaxlib", "tensorflow", "keras", "tf_keras", "ml_dtypes")
"""Packages whose objects may be asked for a shape."""


class Leaf(NamedTuple):
    """A part of an argument; for arrays with shape and dtype, for containers with the length as value."""

    kind: str
    """array, container, value, function, object or spec (of a composite tensor or an iterator)."""
    type: str
    shape: str = ""
    dtype: str = ""
    value: str = ""
    identity: int = 0


Leaves = Dict[str, Leaf]
"""Parts by path: x, x[0], x['w']."""


class ArgumentChange(NamedTuple):
    """A difference between two calls."""

    argument: str
    what: str
    """value, shape, dtype, type, structure, function or object."""
    was: str
    became: str


def described(python: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Leaves:
    """The arguments of a call, by the names that the function gives them."""
    found: Leaves = {}
    for name, value in _named(python, args, kwargs):
        _add(found, name, value, 0)
    return found


def held(python: Any) -> Leaves:
    """The arguments that a function carries: variables of the enclosing function, arguments of
    functools.partial."""
    found: Leaves = {}
    for _ in range(20):
        if isinstance(python, functools.partial):
            for number, value in enumerate(python.args):
                _add(found, f"argument {number} of partial", value, 0)
            for name, value in python.keywords.items():
                _add(found, name, value, 0)
        python = getattr(python, "func", None) or getattr(python, "__wrapped__", None) or python
        if isinstance(python, types.MethodType):
            python = python.__func__
        if isinstance(python, types.FunctionType):
            break
    names = getattr(getattr(python, "__code__", None), "co_freevars", ())
    for name, cell in zip(names, getattr(python, "__closure__", None) or ()):
        try:
            value = cell.cell_contents
        except ValueError:  # a variable without a value yet
            continue
        _add(found, name, value, 0)
    return found


def changes(
    before: Leaves, after: Leaves, by_value: Optional[Collection[str]] = None
) -> List[ArgumentChange]:
    """The differences, most telling first. by_value: arguments whose values count; None: all of them."""
    found = []
    grown = _grown(before, after)
    for path in grown:
        found.append(ArgumentChange(path, "structure", _shown(before[path]), _shown(after[path])))
    if not grown:
        found = _keys_changed(before, after)
        grown = [change.argument for change in found]
    for path in (*after, *(path for path in before if path not in after)):
        old, new = before.get(path), after.get(path)
        if old is None or new is None:
            if not grown:
                found.append(ArgumentChange(path, "structure", _given(old), _given(new)))
        elif old != new and path not in grown:
            counts = by_value is None or path.partition("[")[0] in by_value
            found += _differing(path, old, new, counts)
    return sorted(found, key=lambda change: _ORDER.index(change.what))


def _grown(before: Leaves, after: Leaves) -> List[str]:
    """Containers whose length changed."""
    return [path for path in after if path in before and _container_changed(before[path], after[path])]


def _given(leaf: Optional[Leaf]) -> str:
    return _shown(leaf) if leaf else "not given"


def _keys_changed(before: Leaves, after: Leaves) -> List[ArgumentChange]:
    """Dictionaries of the same length with other keys."""
    gone, new = _alone(before, after), _alone(after, before)
    return [
        ArgumentChange(
            path,
            "structure",
            f"{_shown(before[path])} with {gone[path]}",
            f"{_shown(after[path])} with {key}",
        )
        for path, key in new.items()
        if path in gone
    ]


def _alone(these: Leaves, those: Leaves) -> Dict[str, str]:
    """The first entry of each container that only these arguments have, by path of the container."""
    found: Dict[str, str] = {}
    for path in these:
        around, _, key = path.rpartition("[")
        if path not in those and around in those and around in these and these[around].kind == "container":
            found.setdefault(around, key.rstrip("]"))
    return found


_ORDER = ("shape", "dtype", "structure", "type", "value", "function", "object")


def _differing(path: str, old: Leaf, new: Leaf, counts: bool) -> Iterator[ArgumentChange]:
    if (old.kind, old.type) != (new.kind, new.type):
        yield ArgumentChange(path, "type", _shown(old), _shown(new))
    elif old.kind == "array":
        if old.shape != new.shape:
            yield ArgumentChange(path, "shape", old.shape, new.shape)
        if old.dtype != new.dtype:
            yield ArgumentChange(path, "dtype", old.dtype, new.dtype)
    elif old.kind == "spec":
        yield ArgumentChange(path, "shape", old.value, new.value)
    elif counts and old.value != new.value:
        yield ArgumentChange(path, "function" if old.kind == "function" else "value", old.value, new.value)
    elif counts and old.identity != new.identity:
        yield ArgumentChange(path, old.kind, _shown(old), _shown(new))


def _container_changed(old: Leaf, new: Leaf) -> bool:
    return old.kind == new.kind == "container" and old != new


def _shown(leaf: Leaf) -> str:
    if leaf.kind == "array":
        return f"{leaf.dtype}{leaf.shape}"
    if leaf.kind == "container":
        return f"{leaf.type} of {leaf.value}"
    return f"{leaf.type} {leaf.value}" if leaf.kind in ("value", "function") and leaf.value else leaf.type


def _named(python: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Iterator[Tuple[str, Any]]:
    try:
        bound = inspect.signature(python).bind(*args, **kwargs)
    except (TypeError, ValueError):
        yield from ((f"argument {number}", value) for number, value in enumerate(args))
        yield from kwargs.items()
        return
    kinds = bound.signature.parameters
    for name, value in bound.arguments.items():
        if kinds[name].kind is inspect.Parameter.VAR_KEYWORD:
            yield from value.items()
        else:
            yield name, value


def _add(found: Leaves, path: str, value: Any, depth: int) -> None:
    if len(found) >= MOST_LEAVES or depth > _MOST_DEPTH:
        return
    parts = _parts(value)
    if parts is None:
        found[path] = _leaf(value)
        return
    found[path] = Leaf("container", type(value).__name__, value=str(len(parts)))
    for name, part in parts:
        _add(found, f"{path}[{name}]", part, depth + 1)


def _parts(value: Any) -> Optional[List[Tuple[str, Any]]]:
    """The items of a container of Python's own; None for anything else."""
    if isinstance(value, tuple):
        return [(str(number), part) for number, part in enumerate(tuple.__iter__(value))]
    if isinstance(value, list):
        return [(str(number), part) for number, part in enumerate(list.__iter__(value))]
    if isinstance(value, dict):
        keyed = [
            (repr(key)[:_MOST_TEXT] if type(key) in _VALUES else str(number), part)
            for number, (key, part) in enumerate(dict.items(value))
        ]
        return sorted(keyed, key=lambda item: item[0])
    return None


def _leaf(value: Any) -> Leaf:
    kind = type(value)
    if kind in _VALUES:
        long = kind in (str, bytes) and len(value) > _MOST_TEXT
        return Leaf("value", kind.__name__, value=repr(value[:_MOST_TEXT] if long else value)[:_MOST_TEXT])
    if isinstance(value, _FUNCTIONS):
        return Leaf("function", "function", value=_name(value), identity=_identity(value))
    if isinstance(value, type):
        return Leaf("value", "class", value=f"{value.__module__}.{value.__qualname__}")
    if kind.__module__.partition(".")[0] in ARRAYS:
        spec = getattr(value, "_type_spec", None)
        shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
        if spec is not None and (dtype is None or shape is None):
            return Leaf("spec", kind.__name__, value=str(spec)[:400])
        if shape is not None and dtype is not None:
            name = getattr(dtype, "name", None)
            name = name if isinstance(name, str) else str(dtype)
            weak = " (weak)" if getattr(value, "weak_type", False) else ""
            return Leaf("array", "array", _shape(shape), name + weak)
        if kind.__name__ in ("DType", "dtype"):
            return Leaf("value", "dtype", value=str(value))
    return Leaf("object", kind.__qualname__, identity=_identity(value))


_numbers = itertools.count(1)
_seen: "Dict[int, Tuple[weakref.ref[Any], int]]" = {}
"""The objects that were asked for and are alive, with their numbers, by `id`."""


def _identity(value: Any) -> int:
    """A number for an object. `id` gives that of an object that is gone to the next: to a lambda written in a
    call, say."""
    key = id(value)
    if key in _seen and _seen[key][0]() is value:
        return _seen[key][1]
    try:
        kept = weakref.ref(value, lambda _: _seen.pop(key, None))
    except TypeError:
        return -key
    _seen[key] = (kept, next(_numbers))
    return _seen[key][1]


def _shape(shape: Any) -> str:
    """(8, 3), with None for an open dimension."""
    try:
        return str(tuple(getattr(size, "value", size) for size in shape))
    except (TypeError, ValueError):  # of unknown rank
        return "unknown"


def _name(function: Any) -> str:
    for _ in range(20):
        name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None)
        if isinstance(name, str):
            return name.rpartition("<locals>.")[2]
        function = getattr(function, "func", None)
    return "function"
