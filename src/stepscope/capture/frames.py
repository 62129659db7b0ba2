"""Numbers for stacks: each frame and each stack is written once, when it is first seen.

Walking a stack costs a third of a microsecond per frame. Known frames are keyed by code objects, which are
kept alive so that none takes the place of another; all tables are bounded.
"""

import gc
import os
import sys
import sysconfig
from functools import partial
from itertools import accumulate, chain, repeat, takewhile
from operator import is_not, methodcaller
from types import CodeType, FrameType
from typing import Any, Callable, Dict, List, Optional, Tuple, TypeVar

from .c_functions import FILE, SHOWN
from .callee import called_by
from .environment import relative
from .places import is_ours

T = TypeVar("T")

MOST_FRAMES = 20_000
MOST_STACKS = 100_000
MOST_REMEMBERED = 200_000
MOST_DEPTH = 256
"""Of a deeper stack, the outermost and the innermost half are kept."""
_LEFT_OUT = "(frames left out)"


class Frames:
    """Numbers of stacks. write: takes a line of stacks.ndjson for whatever is new. loop: identity of the code
    with the loop of the steps; None when the program has none."""

    def __init__(self, write: Callable[[Dict[str, Any]], None], loop: Optional[int] = None) -> None:
        self._write = write
        self._loop = loop
        self._whose = Whose()
        self._seen: Dict[Tuple[int, int, int], int] = {}
        """A caller's stack, code and instruction: the stack with this frame on top."""
        self._codes: Dict[int, CodeType] = {}
        self._frames: Dict[Tuple[str, str, int], int] = {}
        self._stacks: Dict[Tuple[int, int], int] = {}

    def number(self, frame: Optional[FrameType]) -> Optional[int]:
        """The number of the stack that ends with a frame; -1 for a stack of the recorder's own frames only.
        None when the table of stacks is full."""
        walked = walk(frame)
        half = MOST_DEPTH // 2
        middle = range(half, len(walked) - half) if len(walked) > MOST_DEPTH else range(0)
        stack, seen = -1, self._seen
        for place in range(len(walked) - 1, -1, -1):
            if place in middle:
                if place == middle[0]:
                    found = self._top_place(stack, ("", _LEFT_OUT, 0), None)
                    if found is None:
                        return None
                    stack = found
                continue
            frame = walked[place]
            code = frame.f_code
            key = (stack, id(code), frame.f_lasti)
            known = seen.get(key)
            if known is None:
                known = self._new(stack, frame)
                if known is None:
                    return None
                if len(seen) >= MOST_REMEMBERED or len(self._codes) >= MOST_FRAMES:
                    seen.clear()
                    self._codes.clear()
                self._codes[id(code)] = code
                seen[key] = known
            stack = known
        return self._calling(stack, walked[0]) if walked else stack

    def _calling(self, stack: int, frame: FrameType) -> Optional[int]:
        """The stack with the built-in function on top in which a thread waits or moves data; else the stack
        itself."""
        code, instruction = frame.f_code, frame.f_lasti
        key = (stack, id(code), ~instruction)
        known = self._seen.get(key)
        if known is None:
            name = None if stack < 0 or is_ours(code.co_filename) else called_by(code, instruction)
            known = stack
            if name is not None and name in SHOWN:
                known = self._top_place(stack, (FILE, name, 0), None)
            if known is not None:
                self._seen[key] = known
        return known

    def _new(self, stack: int, frame: FrameType) -> Optional[int]:
        code = frame.f_code
        if is_ours(code.co_filename):
            return stack
        name: str = getattr(code, "co_qualname", code.co_name)
        return self._top_place(stack, (code.co_filename, name, _line(frame)), frame)

    def _top_place(
        self, stack: int, place: Tuple[str, str, int], frame: Optional[FrameType]
    ) -> Optional[int]:
        number = self._frames.get(place)
        if number is None:
            if len(self._frames) >= MOST_FRAMES:
                return None
            number = self._frames[place] = len(self._frames)
            record = self._described(place, frame)
            if self._loop is not None and frame is not None:
                record["loop"] = id(frame.f_code) == self._loop
            self._write({"frame": number, **record})
        found = self._stacks.get((stack, number))
        if found is None:
            if len(self._stacks) >= MOST_STACKS:
                return None
            found = self._stacks[(stack, number)] = len(self._stacks)
            self._write({"stack": found, "in": None if stack < 0 else stack, "frame": number})
        return found

    def _described(self, place: Tuple[str, str, int], frame: Optional[FrameType]) -> Dict[str, Any]:
        path, function, line = place
        if frame is None:
            known = {"file": FILE, "code": "python"} if path == FILE else {"code": "unknown"}
            return {"function": function, **known}
        module = frame.f_globals.get("__name__")
        module = module if isinstance(module, str) else None
        code, file = self._whose.of(path, module or "")
        return {
            "function": function.replace(".<locals>.", "."),
            "file": file,
            "line": line or None,
            "module": module,
            "code": code,
        }


def walk(frame: Optional[FrameType]) -> List[FrameType]:
    """A frame and those that called it, innermost first. No line of Python runs meanwhile, and so no other
    thread: one that goes on while its frames are read leaves some of them, whose callers would be those of
    another moment. Python 3.11 may even take what it finds in their place for a frame."""
    callers = takewhile(_is_frame, accumulate(chain((frame,), _CALLERS), getattr))  # type: ignore
    return _read_undisturbed(partial(list, callers))


def current_frames() -> Dict[int, FrameType]:
    """The innermost frame of each thread, as sys._current_frames has them."""
    return _read_undisturbed(sys._current_frames)


def _read_undisturbed(read: Callable[[], T]) -> T:
    """What `read` returns, while no garbage is collected. Python 3.11 makes frames when they are asked for,
    which may begin a collection. Its callbacks let other threads run: the frames that are being read are gone
    then, and the program crashes (CPython's issues 106883 and 106905)."""
    if sys.version_info[:2] != (3, 11) or not gc.isenabled():
        return read()
    try:
        # No line of Python in between, and so no other thread that could switch collection on or off.
        found: List[T] = list(map(_call, (gc.disable, read, gc.enable)))
    except Exception:
        gc.enable()
        raise
    return found[1]


_CALLERS = repeat("f_back")
_is_frame = partial(is_not, None)
_call = methodcaller("__call__")


def _line(frame: FrameType) -> int:
    """The running line. A jump back in a loop may have no line: then that of the code before it."""
    if frame.f_lineno is not None:
        return frame.f_lineno
    code = frame.f_code
    found: int = code.co_firstlineno
    for begin, _, line in code.co_lines():
        if begin > frame.f_lasti:
            break
        if line is not None:
            found = line
    return found


class Whose:
    """The owner of a file: the program, an installed library, or Python."""

    def __init__(self) -> None:
        paths = sysconfig.get_paths()
        self._libraries = _folders(
            [paths.get("purelib"), paths.get("platlib"), *(p for p in sys.path if p.endswith("-packages"))]
        )
        self._python = _folders([paths.get("stdlib"), paths.get("platstdlib")])
        main = sys.modules.get("__main__")
        file = getattr(main, "__file__", None)
        self._program = ""
        """The package that `python -m package` runs, installed or not."""
        package = getattr(main, "__package__", None)
        if isinstance(file, str) and isinstance(package, str) and package:
            self._program = package.partition(".")[0]

    def of_frame(self, frame: FrameType) -> Tuple[str, str]:
        """The owner of a frame's code, and its path: see `of`."""
        module = frame.f_globals.get("__name__")
        return self.of(frame.f_code.co_filename, module if isinstance(module, str) else "")

    def of(self, path: str, module: str) -> Tuple[str, str]:
        """program, library or python; and the path without the folder where such code is installed."""
        if path.startswith("<"):
            # No file: made from text, as by exec or a dataclass, or typed in.
            root = sys.modules.get(module.partition(".")[0])
            made_in = getattr(root, "__file__", None)
            if path.startswith("<frozen") or not module:
                # Without a module, nobody can look the line up: who called it has one.
                return "python", path
            if module != "__main__" and isinstance(made_in, str):
                return self.of(made_in, module)[0], path
            return "program", relative(path)
        if "__autograph_generated_file" in path:
            return "library", path.rpartition(os.sep)[2]
        before, generated, after = path.partition(os.sep + "torchinductor_")
        if generated and before:
            return "library", generated[1:] + after
        for folder in self._libraries:
            if path.startswith(folder):
                is_program = self._program and module.partition(".")[0] == self._program
                return "program" if is_program else "library", path[len(folder) :]
        for folder in self._python:
            if path.startswith(folder):
                return "python", path[len(folder) :]
        for name in ("site-packages", "dist-packages"):
            before, package, after = path.rpartition(os.sep + name + os.sep)
            if package and before:
                return "library", after
        return "program", relative(path)


def _folders(paths: Any) -> List[str]:
    """Folders as prefixes, the longest first: site-packages lies within the standard library's."""
    found = {os.path.realpath(path) for path in paths if path} | {path for path in paths if path}
    return sorted((path.rstrip(os.sep) + os.sep for path in found), key=lambda path: (-len(path), path))
