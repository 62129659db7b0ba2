"""Tensors of a pickle of PyTorch, found without running any of it.

A pickle is a list of instructions for a machine with a stack. They are followed here as far as values go:
names of Python objects stay names, and what a pickle would call or build of them becomes a record of what
they were called with. Of a tensor PyTorch pickles which storage its values are in, and its shape.
"""

import pickletools
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from stepscope.formats import Damaged
from stepscope.formats._checkpoint_rows import MOST_DIMENSIONS

_MOST_VALUES = 5_000_000
_MOST_DEPTH = 100
_STORAGES = {
    "Double": "float64",
    "Float": "float32",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Long": "int64",
    "Int": "int32",
    "Short": "int16",
    "Char": "int8",
    "Byte": "uint8",
    "Bool": "bool",
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
    "QInt8": "qint8",
    "QUInt8": "quint8",
    "QInt32": "qint32",
}
"""Types of elements, by what PyTorch calls their storage."""
_SCALARS = (str, int, float, bytes, type(None))
_OF_MODULES = ("_parameters", "_buffers", "_modules")
"""Where a module keeps its tensors and modules: not part of their names."""


class PickledName(NamedTuple):
    """A Python object that a pickle names."""

    module: str
    name: str


class Storage(NamedTuple):
    """Where values of tensors are."""

    key: str
    dtype: str
    elements: int


class PickledTensor(NamedTuple):
    """A tensor: elements of a storage."""

    storage: Storage
    dtype: str
    offset: int
    shape: tuple[int, ...]


class _PickledCall:
    """What a pickle would call or make: its arguments, its state, and what was put into it."""

    __slots__ = ("args", "items", "state")

    def __init__(self, args: Sequence[Any] = ()) -> None:
        self.args = args
        self.items: dict[Any, Any] = {}
        self.state: Any = None


def tensors(root: Any) -> Iterator[tuple[str, PickledTensor]]:
    """The tensors below a value with the keys that lead to them, joined by dots; each value once, but a
    tensor under each of its names."""
    seen: set[int] = set()
    work: list[tuple[tuple[str, ...], Any]] = [((), root)]
    while work:
        path, value = work.pop()
        if isinstance(value, PickledTensor):
            yield ".".join(path), value
            continue
        inner = list(_inner(value))
        if not inner or id(value) in seen or len(path) > _MOST_DEPTH:
            continue
        seen.add(id(value))
        for key, below in reversed(inner):
            named = path if key is None or key in _OF_MODULES else (*path, str(key))
            work.append((named, below))


def _inner(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, _PickledCall):
        yield from value.items.items()
        yield None, value.state
        yield None, value.args
    elif isinstance(value, (list, tuple)) and not isinstance(value, (PickledName, Storage)):
        yield from enumerate(value)


def read_pickle(file: BinaryIO) -> Any:
    """The value of the pickle that begins here. Damaged when it is none that can be followed."""
    try:
        return _Machine().run(file)
    except (
        ValueError, IndexError, KeyError, TypeError, OverflowError, RecursionError, MemoryError,
    ) as error:  # fmt: skip
        raise Damaged(f"its pickle cannot be followed: {str(error) or type(error).__name__}") from error


class _Machine:
    """A stack, its marks, and what the pickle will refer to again."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def run(self, file: BinaryIO) -> Any:
        for count, (code, argument, _) in enumerate(pickletools.genops(file)):
            if count > _MOST_VALUES:
                raise ValueError(f"more than {_MOST_VALUES:,} instructions")
            if code.name == "STOP":
                return self.stack.pop()
            if code.name in ("PROTO", "FRAME"):
                continue
            self._follow(code.name, argument)
        raise ValueError("it does not end")

    def _follow(self, name: str, argument: Any) -> None:
        rule = getattr(self, f"_on_{name.lower()}", None)
        if rule is not None:
            rule()
        elif name.endswith("GET"):
            self.stack.append(self.memo[argument])
        elif name.endswith("PUT"):
            self.memo[argument] = self.stack[-1]
        elif name in ("GLOBAL", "INST"):
            module, _, named = argument.partition(" ")
            self.stack.append(PickledName(module, named))
            if name == "INST":
                self.stack[-1:] = [_PickledCall(self._marked(but_last=True))]
        elif name == "PERSID":
            self.stack.append(_persistent(argument))
        elif argument is not None:
            self.stack.append(argument)
        else:
            raise ValueError(f"{name} is not known")

    def _marked(self, *, but_last: bool = False) -> list[Any]:
        """What lies above the last mark, taken off the stack."""
        at = self.marks.pop()
        top = [self.stack.pop()] if but_last else []
        found = self.stack[at:]
        self.stack[at:] = top
        return found

    def _on_mark(self) -> None:
        self.marks.append(len(self.stack))

    def _on_none(self) -> None:
        self.stack.append(None)

    def _on_newtrue(self) -> None:
        self.stack.append(True)

    def _on_newfalse(self) -> None:
        self.stack.append(False)

    def _on_pop(self) -> None:
        self.stack.pop()

    def _on_pop_mark(self) -> None:
        self._marked()

    def _on_dup(self) -> None:
        self.stack.append(self.stack[-1])

    def _on_memoize(self) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def _on_empty_list(self) -> None:
        self.stack.append([])

    _on_empty_set = _on_empty_list

    def _on_empty_tuple(self) -> None:
        self.stack.append(())

    def _on_empty_dict(self) -> None:
        self.stack.append({})

    def _on_list(self) -> None:
        self.stack.append(self._marked())

    _on_frozenset = _on_list

    def _on_tuple(self) -> None:
        self.stack.append(tuple(self._marked()))

    def _on_tuple1(self) -> None:
        self.stack[-1:] = [tuple(self.stack[-1:])]

    def _on_tuple2(self) -> None:
        self.stack[-2:] = [tuple(self.stack[-2:])]

    def _on_tuple3(self) -> None:
        self.stack[-3:] = [tuple(self.stack[-3:])]

    def _on_dict(self) -> None:
        pairs = self._marked()
        self.stack.append({})
        self._set(pairs)

    def _on_setitem(self) -> None:
        key, value = self.stack[-2:]
        del self.stack[-2:]
        self._set([key, value])

    def _on_setitems(self) -> None:
        self._set(self._marked())

    def _on_append(self) -> None:
        self._extend([self.stack.pop()])

    def _on_appends(self) -> None:
        self._extend(self._marked())

    _on_additems = _on_appends

    def _set(self, pairs: Sequence[Any]) -> None:
        target = self.stack[-1]
        items = target.items if isinstance(target, _PickledCall) else target
        if not isinstance(items, dict):
            raise ValueError("keys are set in what has none")
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            # Tuples within tuples take as long to hash as they are long when written out.
            plain = isinstance(key, _SCALARS) or (
                isinstance(key, tuple) and all(isinstance(part, _SCALARS) for part in key)
            )
            items[key if plain else f"key {len(items)}"] = value

    def _extend(self, values: Sequence[Any]) -> None:
        target = self.stack[-1]
        if isinstance(target, _PickledCall):
            target.items.update(enumerate(values, len(target.items)))
        elif isinstance(target, list):
            target.extend(values)
        else:
            raise ValueError("values are appended to what is no list")

    def _on_stack_global(self) -> None:
        module, name = self.stack[-2:]
        if not isinstance(module, str) or not isinstance(name, str):
            raise ValueError("a name is no text")
        self.stack[-2:] = [PickledName(module, name)]

    def _on_binpersid(self) -> None:
        self.stack[-1] = _persistent(self.stack[-1])

    def _on_reduce(self) -> None:
        called, args = self.stack[-2:]
        self.stack[-2:] = [_made(called, args)]

    _on_newobj = _on_reduce

    def _on_newobj_ex(self) -> None:
        _, args, named = self.stack[-3:]
        self.stack[-3:] = [_PickledCall([*args, *named.values()])]

    def _on_obj(self) -> None:
        self.stack.append(_PickledCall(self._marked()[1:]))

    def _on_build(self) -> None:
        state = self.stack.pop()
        if isinstance(self.stack[-1], _PickledCall):
            self.stack[-1].state = state


def _persistent(place: Any) -> Any:
    """A storage: its kind, type, key, device and number of elements, as PyTorch's own pickler tells."""
    if not isinstance(place, tuple) or len(place) < 5 or place[0] != "storage":
        return _PickledCall()
    _, kind, key, _, elements = place[:5]
    if not isinstance(elements, int) or not isinstance(key, (str, int)):
        return _PickledCall()
    name = kind.name.removesuffix("Storage") if isinstance(kind, PickledName) else ""
    return Storage(str(key), _STORAGES.get(name, "uint8"), elements)


def _is_shape(value: Any) -> bool:
    if not isinstance(value, tuple) or len(value) > MOST_DIMENSIONS:
        return False
    return all(isinstance(side, int) and 0 <= side < 2**63 for side in value)


def _made(called: Any, args: Any) -> Any:
    """What a call would give: a tensor where it makes one of a storage, what it wraps, or a record."""
    if not isinstance(args, tuple):
        raise ValueError("a call without arguments")
    if not isinstance(called, PickledName):
        return _PickledCall(args)
    if called.name == "_rebuild_from_type_v2" and len(args) > 2:
        return _made(args[0], args[2])
    if called.name.startswith("_rebuild_parameter") and args:
        return args[0]
    if called.name.startswith("_rebuild_") and args and isinstance(args[0], Storage):
        storage, offset, shape = args[:3]
        dtype = storage.dtype
        # Since types that no storage has a name of, behind the gradient and its hooks.
        if len(args) > 6 and isinstance(args[6], PickledName):
            dtype = args[6].name
        if isinstance(offset, int) and _is_shape(shape):
            return PickledTensor(storage, dtype, offset, shape)
    return _PickledCall(args)
