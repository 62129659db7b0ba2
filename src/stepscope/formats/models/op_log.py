"""Op logs of tfprof (OpLogProto).

They are no recordings: no format claims them, and `stepscope tfprof` reads them beside a graph.
"""

from stepscope.formats import _op_log, _protobuf
from stepscope.formats._protobuf import Shape

_TRACE: Shape = {1: "t", 2: "n", 3: "t", 4: "t", 5: "n", 6: "n", 7: "n", 8: "n"}
_OP_LOG: Shape = {1: {1: "t", 2: "n", 3: "t", 4: {1: _TRACE}}, 2: {1: "n", 2: "t"}}

_PROVEN = 4
"""Points above which a head is taken for an op log whatever its name, as for graphs."""


def fits(head: bytes, name: str) -> bool:
    """Whether the first bytes of a file are those of an op log.

    An entry of an op log without a count and without code reads like a node without an op, which no graph
    has: what fits both is an op log.
    """
    return _protobuf.score(head, _OP_LOG) > (0 if _op_log.NAMES.fullmatch(name) else _PROVEN)
