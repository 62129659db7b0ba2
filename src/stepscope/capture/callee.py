"""The built-in function that a frame is calling: `fsync`, `recv`, `acquire`. It has no frame of its own.

Where a frame stops at a call and no frame is above it, what it calls is written in C. Its name is that of the
last thing which the code loaded where the call begins: Python 3.11 and later know the columns of each
instruction; before, the instructions between the function and its call are counted back.
"""

import dis
import sys
from itertools import islice, takewhile
from types import CodeType
from typing import Any, List, Optional

_LOADS = frozenset(
    {
        "LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_FAST", "LOAD_DEREF", "LOAD_SUPER_ATTR",
        "LOAD_FAST_BORROW",
    }
)  # fmt: skip
_CALLS = ("CALL", "PRECALL")
"""Python 3.11 calls in the first of two instructions what it has called often."""
_ENTERS = ("SETUP_WITH", "BEFORE_WITH")
"""They call what a `with` statement enters. From Python 3.14 on it is loaded and called."""
ENTER = "__enter__"
_MOST = 1500
"""Instructions of code that is looked at: the program stands still meanwhile, for milliseconds with more."""


def called_by(code: CodeType, instruction: int) -> Optional[str]:
    """The name of what the code calls at an instruction, by its byte offset; None when it calls nothing
    there, or what has no name."""
    binary = code.co_code
    if not 0 <= instruction < len(binary) <= 2 * _MOST:
        return None
    if dis.opname[binary[instruction]] in _ENTERS:
        return ENTER
    if not dis.opname[binary[instruction]].startswith(_CALLS):
        return None
    before = list(takewhile(lambda op: op.offset <= instruction, dis.get_instructions(code)))
    if not before or before[-1].offset != instruction:
        return None
    if before[-2:-1] and before[-2].opname == "LOAD_SPECIAL" and before[-2].argrepr.startswith(ENTER):
        return ENTER
    found = _begin_by_place(code, before) if sys.version_info >= (3, 11) else _begin_by_count(before)
    if found is None or found.opname not in _LOADS:
        return None
    return found.argval if isinstance(found.argval, str) and found.argval.isidentifier() else None


def _begin_by_place(code: CodeType, before: List[Any]) -> Any:
    """A call begins where the expression for its function does, whose last instruction loads the function.
    What the function is taken of is loaded there before it; the arguments begin further on."""
    positions: Any = getattr(code, "co_positions")  # noqa: B009  Python 3.10 has none
    begins = [(line, column) for line, _, column, _ in islice(positions(), before[-1].offset // 2 + 1)]
    if None in begins[-1]:
        return None
    here = (op for op in reversed(before[:-1]) if begins[op.offset // 2] == begins[-1])
    return next((op for op in here if op.opname in _LOADS), None)


def _begin_by_count(before: List[Any]) -> Any:
    """Counts back what the arguments have put on the stack."""
    call = before[-1]
    needed = call.arg + (call.opname == "CALL_FUNCTION_KW")
    if call.opname == "CALL_FUNCTION_EX":
        needed = 1 + (call.arg & 1)
    for op in reversed(before[:-1]):
        if needed == 0:
            return op
        if op.opcode in dis.hasjrel or op.opcode in dis.hasjabs:
            return None
        needed -= dis.stack_effect(op.opcode, op.arg if op.opcode >= dis.HAVE_ARGUMENT else None)
    return None
