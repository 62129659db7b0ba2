"""The site of a call in the program: the loops around it, and the line within the innermost of them.

The loops around an instruction are visible in the code itself: each jumps back to where it begins.
"""

import dis
import sys
from types import CodeType, FrameType
from typing import Dict, List, NamedTuple, Optional, Tuple

from .frames import Whose
from .places import is_framework

Loop = Tuple[int, int]
"""A code object, by its number, and the instruction at which a loop in it begins."""

_MOST = 20_000
_MOST_DEPTH = 256


class Site(NamedTuple):
    """The site of a call."""

    at: Tuple[Tuple[int, int], ...]
    """Code and instruction of the frames from the innermost loop on; of the innermost frame only where there
    is no loop; empty when the stack has none of the program's code, as in a thread of the framework."""
    loops: Tuple[Loop, ...]
    """The loops around the call, outermost first."""


NOWHERE = Site((), ())


class LoopSites:
    """Finds sites. Known sites are keyed by code objects, which are kept alive, and bounded."""

    def __init__(self) -> None:
        self._codes: Dict[int, Tuple[CodeType, bool]] = {}
        """Code objects, and whether they are the program's or of a library that it uses."""
        self._loops: Dict[int, List[Tuple[int, int]]] = {}
        self._sites: Dict[Tuple[Tuple[int, int], ...], Site] = {}
        self._whose: Optional[Whose] = None

    def here(self, frame: Optional[FrameType] = None) -> Site:
        """The current site of the program, or that of a frame, ignoring frames of frameworks and of Python's
        own library."""
        path: List[Tuple[int, int]] = []
        frame = frame or sys._getframe(1)
        while frame is not None and len(path) < _MOST_DEPTH:
            code = frame.f_code
            known = self._codes.get(id(code))
            if known is None:
                if len(self._codes) >= _MOST or len(self._sites) >= _MOST:
                    self._codes.clear()
                    self._loops.clear()
                    self._sites.clear()
                known = self._codes[id(code)] = (code, self._counts(frame))
            if known[1]:
                path.append((id(code), frame.f_lasti))
            frame = frame.f_back
        key = tuple(path)
        site = self._sites.get(key)
        if site is None:
            site = self._sites[key] = self._site(key)
        return site

    def _counts(self, frame: FrameType) -> bool:
        path = frame.f_code.co_filename
        if is_framework(path):
            return False
        if self._whose is None:
            self._whose = Whose()
        return self._whose.of_frame(frame)[0] != "python"

    def _site(self, path: Tuple[Tuple[int, int], ...]) -> Site:
        if not path:
            return NOWHERE
        loops: List[Loop] = []
        inner = 1
        for place in range(len(path) - 1, -1, -1):
            number, instruction = path[place]
            if number not in self._loops:
                known = self._codes.get(number)
                self._loops[number] = loops_of(known[0]) if known is not None else []
            around = [begin for begin, end in self._loops[number] if begin <= instruction <= end]
            if around:
                loops += [(number, begin) for begin in around]
                inner = place + 1
        return Site(path[:inner], tuple(loops))


def loops_of(code: CodeType) -> List[Tuple[int, int]]:
    """First and last instruction of each loop, outer loops first."""
    ends: Dict[int, int] = {}
    for instruction in dis.get_instructions(code):
        jumps = instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs
        # Waiting for a coroutine or a generator jumps back, too.
        if jumps and instruction.argval <= instruction.offset and "NO_INTERRUPT" not in instruction.opname:
            ends[instruction.argval] = max(ends.get(instruction.argval, 0), instruction.offset)
    found: List[Tuple[int, int]] = []
    for begin, end in sorted(ends.items()):
        # A loop that asks its question twice, before the first round and at the end of each, has two begins.
        if found and found[-1][0] < begin <= found[-1][1] < end:
            found[-1] = (found[-1][0], end)
        else:
            found.append((begin, end))
    return found
