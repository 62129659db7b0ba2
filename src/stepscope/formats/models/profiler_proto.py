"""Messages of tfprof's logger and profiler: op logs (OpLogProto) and profiles (ProfileProto).

They are not recordings: no format claims them, and `stepscope tfprof` alone reads them.
"""

from __future__ import annotations

from typing import Literal

from stepscope.formats import _op_log, _protobuf
from stepscope.formats._protobuf import Shape

_TRACE: Shape = {1: "t", 2: "n", 3: "t", 4: "t", 5: "n", 6: "n", 7: "n", 8: "n"}
_CODE: Shape = {1: _TRACE}
_TEXT_BY_NUMBER: Shape = {1: "n", 2: "t"}
_OP_LOG: Shape = {1: {1: "t", 2: "n", 3: "t", 4: _CODE}, 2: _TEXT_BY_NUMBER}

_NUMBER_BY_NUMBER: Shape = {1: "n", 2: "n"}
_PROFILE_NODE: Shape = {
    1: "t", 2: _NUMBER_BY_NUMBER, 3: {1: "n", 2: None}, 4: None, 5: "t", 6: "t", 7: "t", 8: "n", 9: "t",
    10: _CODE, 11: {1: "t", 2: None}, 12: None, 13: "n", 14: _NUMBER_BY_NUMBER, 15: {1: "n", 2: None},
    16: {1: "n", 2: None},
}  # fmt: skip
_PROFILE: Shape = {1: {1: "n", 2: _PROFILE_NODE}, 2: "n", 3: None, 4: _TEXT_BY_NUMBER, 5: "n"}

_PROVEN = 4
"""Points above which a head is taken for one of the messages whatever its name, as for graphs."""


def kind(head: bytes, name: str) -> Literal["op_log", "profile"] | None:
    """Which of the two the first bytes of a file are; None when they are neither.

    An entry of an op log without a count and without code reads like a node without an op, which no graph
    has: what fits both is an op log.
    """
    if _protobuf.score(head, _PROFILE) > _PROVEN:
        return "profile"
    points = _protobuf.score(head, _OP_LOG)
    if points > (0 if _op_log.NAMES.fullmatch(name) else _PROVEN):
        return "op_log"
    return None
