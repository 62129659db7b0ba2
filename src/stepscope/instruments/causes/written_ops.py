"""Ops as the program wrote them, where a recording names the library that runs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from stepscope.library.statements import Query, statement

_ONEDNN, _NATIVE, _FUSED = "_Mkl", "Native", "Fused"
"""How TensorFlow calls the ops that it hands to oneDNN: `_MklNativeFusedMatMul`."""
PRODUCTS_OF_XLA = ("dot_general", "conv_general_dilated")
"""How JAX calls products of matrices and convolutions, for which XLA may have a library."""
_NEARLY_ALL = 0.95
"""A type of instruction of which an op has this part is named after that op."""


def written_op(op_type: str, of_libraries: Mapping[str, str]) -> str:
    """The type of op that a program wrote, for the one that a recording names. of_libraries: see below."""
    if op_type in of_libraries:
        return of_libraries[op_type]
    if not op_type.startswith(_ONEDNN):
        return op_type
    plain = op_type.removeprefix(_ONEDNN).removeprefix(_NATIVE)
    # What is fused into a product is called _FusedMatMul; FusedBatchNorm is an op of that name.
    kind = plain.removeprefix(_FUSED)
    return kind if kind.startswith(("MatMul", "BatchMatMul", "Conv", "DepthwiseConv")) else plain or op_type


def ops_of_libraries(query: Query) -> dict[str, str]:
    """The op of the program by the type of the instructions that libraries run for it; without types that
    stand for several, none of which has nearly all of the time."""
    found: dict[str, Counter[str]] = {}
    for op_type, op_name, own_ps in query(statement("ops_of_libraries")).rows():
        found.setdefault(op_type, Counter())[op_name.rpartition("/")[2]] += own_ps
    most = {op_type: ops.most_common(1)[0] for op_type, ops in found.items()}
    return {
        op_type: op
        for op_type, (op, own_ps) in most.items()
        if len(found[op_type]) == 1 or own_ps > _NEARLY_ALL * found[op_type].total()
    }
