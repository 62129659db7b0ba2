"""Arrays of each framework: bytes, device, and which of them share memory.

Only imported frameworks count, and no method of an array is called that might run on a device.
"""

import mmap
import sys
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional

FUNCTIONS = "compiled functions"
"""The kind of functions that frameworks compile; each is kept as long as its Python function."""

MOST_VIEWS = 16
"""Most views that are followed to the owner of the bytes."""


MOST_FED = 1000
"""Longest list of values of the program that is gone through."""


class HeldArray(NamedTuple):
    """identity: of the bytes, which several arrays may share. kind: as the framework calls it. made_by: the
    operation of autograd's graph that made it, and that it keeps."""

    identity: int
    bytes: int
    device: str
    kind: str
    made_by: Any = None


class Arrays:
    """Recognises arrays by their exact type: querying a subclass may run code of the program."""

    def __init__(self) -> None:
        self._kinds: Dict[type, Callable[[Any], Optional[HeldArray]]] = {}
        self.functions: List[type] = []
        """Types of compiled functions."""
        self.graphs: List[type] = []
        """Types of graphs that a program adds ops to."""
        for add in (self._numpy, self._jax, self._torch, self._tensorflow):
            add()

    def of(self, value: Any) -> Optional[HeldArray]:
        """The memory of an array; None for other objects, and for empty arrays."""
        ask = self._kinds.get(type(value))
        return None if ask is None else ask(value)

    def knows(self, kind: type) -> bool:
        """Whether values of a type are arrays."""
        return kind in self._kinds

    def _numpy(self) -> None:
        numpy = sys.modules.get("numpy")
        if hasattr(numpy, "ndarray"):
            self._kinds[numpy.ndarray] = self._numpy_facts  # type: ignore[union-attr]

    def _numpy_facts(self, value: Any) -> Optional[HeldArray]:
        owner = value
        while type(owner.base) is type(value):
            owner = owner.base
        if owner.flags.owndata:
            return HeldArray(id(owner), owner.nbytes, "host", "numpy arrays")
        # Without bytes of its own it holds another library's, unless they are a file's.
        base = _keeper(owner.base, type(value))
        if base is None:
            return None
        if self.knows(type(base)):
            return self.of(base)
        return HeldArray(id(base), owner.nbytes, "host", "numpy arrays")

    def _jax(self) -> None:
        module = sys.modules.get("jax._src.array")
        kind = getattr(module, "ArrayImpl", None)
        if kind is not None:
            self._kinds[kind] = _jax
        for name in ("jaxlib._jax", "jaxlib.xla_extension"):
            compiled = getattr(sys.modules.get(name), "PjitFunction", None)
            if isinstance(compiled, type):
                self.functions.append(compiled)

    def _torch(self) -> None:
        torch = sys.modules.get("torch")
        if hasattr(torch, "Tensor"):
            self._kinds[torch.Tensor] = _torch  # type: ignore[union-attr]
            parameter = getattr(sys.modules.get("torch.nn.parameter"), "Parameter", None)
            if parameter is not None:
                self._kinds[parameter] = _torch

    def _tensorflow(self) -> None:
        eager = getattr(sys.modules.get("tensorflow.python.framework.ops"), "EagerTensor", None)
        if eager is not None:
            self._kinds[eager] = _tensorflow
        graph = getattr(sys.modules.get("tensorflow.python.framework.ops"), "Graph", None)
        if isinstance(graph, type):
            self.graphs.append(graph)
        for name in ("polymorphic_function.polymorphic_function", "def_function"):
            function = getattr(sys.modules.get(f"tensorflow.python.eager.{name}"), "Function", None)
            if isinstance(function, type):
                self.functions.append(function)
        module = sys.modules.get("tensorflow.python.ops.resource_variable_ops")
        bases = [getattr(module, "BaseResourceVariable", None) or getattr(module, "ResourceVariable", None)]
        while bases:
            kind = bases.pop()
            if isinstance(kind, type) and kind.__module__.startswith("tensorflow"):
                self._kinds[kind] = _variable
                bases += type.__subclasses__(kind)


def _keeper(base: Any, array: type) -> Any:
    """The owner of the bytes that an array shows; None where these are a file's, or shared between processes.
    array: NumPy's type."""
    for _ in range(MOST_VIEWS):
        if isinstance(base, memoryview):
            base = base.obj
        elif isinstance(base, array):
            inner = array.__dict__["base"].__get__(base)
            if inner is None:
                return base
            base = inner
        else:
            return None if isinstance(base, mmap.mmap) else base
    return None


def _jax(value: Any) -> Optional[HeldArray]:
    if value.is_deleted():
        return None
    devices = sorted(value.devices(), key=lambda device: device.id)
    first = devices[0]
    more = f" and {len(devices) - 1} more" if len(devices) > 1 else ""
    return HeldArray(id(value), value.nbytes, f"{first.platform}:{first.id}{more}", "JAX arrays")


def _torch(value: Any) -> Optional[HeldArray]:
    kind = "parameters" if value.requires_grad and value.is_leaf else "tensors"
    device = str(value.device)
    storage = getattr(value, "untyped_storage", None) or getattr(value, "storage", None)
    if device == "meta" or storage is None or value.layout is not sys.modules["torch"].strided:
        return None
    found = storage()
    size = found.nbytes() if hasattr(found, "nbytes") else found.size() * found.element_size()
    return HeldArray(found.data_ptr() or id(value), size, device, kind, value.grad_fn)


def _tensorflow(value: Any) -> Optional[HeldArray]:
    size = _tensor_bytes(value)
    return HeldArray(id(value), size, _short(value.device), "tensors") if size else None


def _variable(value: Any) -> Optional[HeldArray]:
    size = _tensor_bytes(value)
    return HeldArray(id(value), size, _short(value.device), "variables") if size else None


def _tensor_bytes(value: Any) -> int:
    """0 where only the contents would tell: text, handles, unknown sizes."""
    many, each = value.shape.num_elements(), value.dtype.size
    return many * each if many and each and value.dtype.is_numpy_compatible and each < 64 else 0


def _short(device: str) -> str:
    """CPU:0 of /job:localhost/replica:0/task:0/device:CPU:0."""
    return device.rpartition("device:")[2] or device or "host"


def array_bytes(values: Iterable[Any]) -> int:
    """The bytes of the arrays and scalars of NumPy among values, in lists and dictionaries as well. What else
    is fed, such as a list of numbers, is not looked into: it may be long, or the program's own kind."""
    found = 0
    for value in values:
        if type(value).__module__ == "numpy":
            found += int(value.nbytes)
        elif isinstance(value, tuple) or (isinstance(value, list) and len(value) <= MOST_FED):
            found += array_bytes(value)
        elif isinstance(value, dict):
            found += array_bytes(value.values())
    return found
