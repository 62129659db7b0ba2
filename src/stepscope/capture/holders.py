"""Variables of the program that hold arrays, and how much: a walk over everything that it can reach by name.

The walk begins with the variables of running functions and of the program's modules, and goes on through
lists, dictionaries and attributes, breadth first: the program's own variables come before the internals of
libraries. The walk is bounded, and reports only what it reached.
"""

import sys
import types
from collections import deque
from typing import Any, Deque, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

from . import clocks
from .arrays import FUNCTIONS, Arrays, HeldArray
from .frames import Whose, current_frames, walk
from .places import is_ours

MOST_NS = 400_000_000
"""Processor time of a walk, during which the program waits. Other programs do not shorten it."""
MOST_HOLDERS = 1000
"""Most holders of a walk: the largest ones."""
MOST_OPERATIONS = 100_000
"""Most operations of autograd's graphs that a walk counts."""
MOST_PARTS = 4
"""Most names in the path of a holder; deeper arrays count to it."""
_OPTIMIZED = 0x1
"""Flag of code whose variables are no dictionary: CO_OPTIMIZED."""
_EVERY = 512
"""Objects between two reads of the clock."""
_ATOMS = frozenset((int, float, bool, str, bytes, complex, type(None), type, range, slice))
_SEQUENCES = {list: list.__iter__, tuple: tuple.__iter__, set: set.__iter__, deque: deque.__iter__}
_NOT_ENTERED = (types.ModuleType, types.CodeType, types.FrameType, type, types.BuiltinFunctionType)


class Root(NamedTuple):
    """Where a name belongs to the program. function: None for a module. begin: first line of the code."""

    file: str
    path: str
    function: Optional[str]
    begin: int


_LIBRARY = Root("", "", None, 0)
"""Where a value belongs to a library: reported only below the first object of one of the program's
classes."""


class VariableHolder(NamedTuple):
    """A variable, or an attribute of its value, and the arrays below it."""

    root: Root
    name: str
    kind: str
    device: str


class HeldSize(NamedTuple):
    """The holdings of a holder. operations: of autograd's graphs, which its arrays keep."""

    bytes: int
    arrays: int
    operations: int = 0


def _elements(value: Any, kind: type) -> Optional[List[Any]]:
    """The items of a container; None for anything else."""
    if issubclass(kind, dict):
        return list(dict.values(value))
    for base, items in _SEQUENCES.items():
        if issubclass(kind, base):
            return list(items(value))
    return None


class Walk:
    """One walk. found: the holdings of each holder; cut: whether there was more than the walk could visit."""

    def __init__(self) -> None:
        self.found: Dict[VariableHolder, HeldSize] = {}
        self.cut = False
        self.objects = 0
        self.graphs: List[Any] = []
        """TensorFlow's graphs that a program may add ops to."""
        self._operations: Dict[Any, None] = {}
        """Visited objects: while one is kept, no other has its identity."""
        self._arrays = Arrays()
        self._whose = Whose()
        self._own: Dict[type, str] = {}
        """The files of the program's classes; empty for others."""
        self._seen: Set[int] = set()
        self._queue: Deque[Tuple[Any, Root, str, int]] = deque()

    def run(self) -> None:
        """Walks until everything is visited or the time is up."""
        end_ns = clocks.thread_time_ns() + MOST_NS
        for value, root, name in self._roots():
            self._queue.append((value, root, name, 1))
        while self._queue:
            value, root, name, parts = self._queue.popleft()
            self._visit(value, root, name, parts)
            self.objects += 1
            if self.objects % _EVERY == 0 and clocks.thread_time_ns() > end_ns:
                self.cut = bool(self._queue)
                break
        self._queue.clear()
        self._seen.clear()
        self._operations.clear()

    def _roots(self) -> Iterator[Tuple[Any, Root, str]]:
        """Modules first, then callers before callees, so that a value is reported under its oldest name."""
        for module in list(sys.modules.values()):
            names = getattr(module, "__dict__", None)
            file = names.get("__file__") if isinstance(names, dict) else None
            if not isinstance(names, dict) or not isinstance(file, str):
                continue
            whose, path = self._whose.of(file, str(names.get("__name__")))
            if whose == "program" and not is_ours(file):
                root = Root(path, file, None, 1)
                for name, value in list(names.items()):
                    if not name.startswith("__"):
                        yield value, root, name
        threads = [_outermost_first(frame) for frame in current_frames().values()]
        frames: List[types.FrameType] = []
        frame: Optional[types.FrameType] = None
        try:
            for of in ("program", "library"):
                for frames in threads:
                    for frame in frames:
                        yield from self._add_frame(frame, of)
        finally:
            # This very frame is among them: the circle would hold what the program's functions held until
            # Python collects garbage. TensorFlow hangs where its iterators go as the interpreter ends.
            for frames in threads:
                frames.clear()
            del frame, frames
            threads.clear()

    def _add_frame(self, frame: types.FrameType, of: str) -> Iterator[Tuple[Any, Root, str]]:
        """The variables of a running function of the program, or of a library."""
        code = frame.f_code
        # Other code than functions has the variables of a module.
        if not code.co_flags & _OPTIMIZED or is_ours(code.co_filename):
            return
        whose, path = self._whose.of_frame(frame)
        if whose != of:
            return
        function = getattr(code, "co_qualname", code.co_name).replace(".<locals>.", ".")
        root = Root(path, code.co_filename, function, code.co_firstlineno)
        for name, value in _variables(frame):
            yield value, root if of == "program" else _LIBRARY, name

    def _visit(self, value: Any, root: Root, name: str, parts: int) -> None:
        kind = type(value)
        if kind in _ATOMS or id(value) in self._seen:
            return
        self._seen.add(id(value))
        if self._arrays.knows(kind):
            if root is not _LIBRARY:
                self._count(value, root, name)
            return
        if kind in self._arrays.graphs:
            self.graphs.append(value)
            return
        if kind in self._arrays.functions and root is not _LIBRARY:
            self._add(VariableHolder(root, name, FUNCTIONS, "host"), 0, 0)
        inside = _elements(value, kind)
        if inside is not None:
            self._queue += [(item, root, name, parts) for item in inside if type(item) not in _ATOMS]
            return
        file = self._file(kind) if root is _LIBRARY else ""
        if file:
            root = Root(self._whose.of(file, kind.__module__)[1], file, None, 1)
            name, parts = kind.__name__, 1
        self._queue_attributes(value, root, name, parts)

    def _queue_attributes(self, value: Any, root: Root, name: str, parts: int) -> None:
        for attribute, item in _attributes(value):
            if type(item) not in _ATOMS:
                # Arrays below an unreported name count to the last reported one.
                is_named = parts < MOST_PARTS and self._is_told(type(value), attribute)
                path = f"{name}.{attribute}" if is_named else name
                self._queue.append((item, root, path, parts + 1 if is_named else MOST_PARTS))

    def _is_told(self, kind: type, attribute: str) -> bool:
        """Whether an attribute has a name that the program knows: for a library's classes, no private one."""
        if not attribute.startswith("_"):
            return bool(attribute)
        return bool(self._file(kind))

    def _file(self, kind: type) -> str:
        """The file of a class of the program; empty for those of libraries."""
        known = self._own.get(kind)
        if known is None:
            file = getattr(sys.modules.get(kind.__module__), "__file__", None)
            known = file if isinstance(file, str) else ""
            if self._whose.of(known, kind.__module__)[0] != "program":
                known = ""
            self._own[kind] = known
        return known

    def _count(self, value: Any, root: Root, name: str) -> None:
        found: Optional[HeldArray] = self._arrays.of(value)
        if found is None or (found.identity in self._seen and found.identity != id(value)):
            return
        self._seen.add(found.identity)
        made_by = self._kept_by_autograd(found.made_by) if found.made_by is not None else 0
        self._add(VariableHolder(root, name, found.kind, found.device), found.bytes, made_by)

    def _add(self, holder: VariableHolder, more_bytes: int, operations: int) -> None:
        size, many, operations_before = self.found.get(holder, HeldSize(0, 0))
        self.found[holder] = HeldSize(size + more_bytes, many + 1, operations_before + operations)

    def _kept_by_autograd(self, last: Any) -> int:
        """Operations that lead to the last one of a graph, without those of earlier holders."""
        new, left = 0, [last]
        while left and len(self._operations) < MOST_OPERATIONS:
            operation = left.pop()
            if operation in self._operations:
                continue
            self._operations[operation] = None
            new += 1
            left += [before for before, _ in operation.next_functions if before is not None]
        return new

    def largest(self) -> List[Tuple[VariableHolder, HeldSize]]:
        """The largest holders, largest first."""
        return sorted(self.found.items(), key=lambda holder: (-holder[1].bytes, holder[0]))[:MOST_HOLDERS]


def _outermost_first(frame: Optional[types.FrameType]) -> List[types.FrameType]:
    """The frames of a thread."""
    return walk(frame)[::-1]


def _variables(frame: types.FrameType) -> List[Tuple[str, Any]]:
    """The variables of a running function. Python's copy of them in the frame is cleared again: it would keep
    arrays alive that the program has released."""
    names = frame.f_locals
    found = list(names.items())
    # 3: the frame, `names`, and the argument. Where the program has called locals(), it is one more.
    if type(names) is dict and sys.getrefcount(names) <= 3:
        names.clear()
    return found


def _attributes(value: Any) -> Iterator[Tuple[str, Any]]:
    """The attributes of an object, and the variables that its functions carry."""
    kind = type(value)
    if issubclass(kind, _NOT_ENTERED):
        return
    if kind is types.FunctionType:
        code = value.__code__
        for name, cell in zip(code.co_freevars, value.__closure__ or ()):
            try:
                yield name, cell.cell_contents
            except ValueError:  # not set yet
                continue
        return
    if kind is types.MethodType:
        yield "", value.__self__
        return
    try:
        names = object.__getattribute__(value, "__dict__")
    except (AttributeError, TypeError):  # a proxy may have one that is not its own
        names = None
    if type(names) is dict:
        yield from list(names.items())
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            member = base.__dict__.get(name)
            if isinstance(member, types.MemberDescriptorType):
                try:
                    yield name, member.__get__(value, kind)
                except AttributeError:  # not set
                    continue
