"""The built-in function that a frame is calling: `fsync`, `recv`, `acquire`. It has no frame of its own.

When a frame stops at a call and has no frame above it, it calls a function written in C. The name of that
function is the last one that the code loaded where the call begins. Python 3.11 and later record the columns
of each instruction; before that, the instructions between function and call are counted backwards.
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
"""Python 3.11 specialises frequent calls, and makes them in the first of two instructions."""
_ENTERS = ("SETUP_WITH", "BEFORE_WITH")
"""They call what a `with` statement enters. From Python 3.14 on, that is loaded and called."""
ENTER = "__enter__"
_MOST = 1500
"""Most instructions that are read: reading more would stop the program for milliseconds."""


def called_by(code: CodeType, instruction: int) -> Optional[str]:
    """The name of the function that code calls at an instruction, by its byte offset; None when it calls
    none, or one without a name."""
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
    """A call begins where the expression for its function does, and the last instruction of that loads the
    function. Objects that the function belongs to are loaded before it; the arguments begin after it."""
    positions: Any = getattr(code, "co_positions")  # noqa: B009  Python 3.10 has none
    begins = [(line, column) for line, _, column, _ in islice(positions(), before[-1].offset // 2 + 1)]
    if None in begins[-1]:
        return None
    here = (op for op in reversed(before[:-1]) if begins[op.offset // 2] == begins[-1])
    return next((op for op in here if op.opname in _LOADS), None)


def _begin_by_count(before: List[Any]) -> Any:
    """Counts backwards over the values that arguments have put on the stack."""
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
