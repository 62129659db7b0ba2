"""How much work something is, counted: time depends on the machine, the number of calls does not."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def calls(work: Callable[[], object]) -> int:
    """How often Python calls a function, of its own or of a C module, while something is done."""
    count = 0

    def called(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def lines(work: Callable[[], object]) -> int:
    """How many lines of Python run while something is done: what loops without a call cost as well."""
    count = 0

    def stepped(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return stepped

    before = sys.gettrace()
    sys.settrace(stepped)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
