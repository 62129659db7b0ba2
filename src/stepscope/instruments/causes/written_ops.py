"""Ops as the program wrote them, where a recording names the library that runs them."""

from collections import Counter
from collections.abc import Mapping
from typing import TypeAlias

from stepscope.library.statements import Query, statement

_ONEDNN, _NATIVE, _FUSED = "_Mkl", "Native", "Fused"
"""How TensorFlow calls the ops that it hands to oneDNN: `_MklNativeFusedMatMul`."""

OpsOfLibraries: TypeAlias = Mapping[str, Mapping[str, float]]
"""What each op of the program has of a type of instructions that libraries run for XLA."""


def written_op(op_type: str) -> str:
    """The type of op that a program of TensorFlow wrote, for the one that a recording names."""
    if not op_type.startswith(_ONEDNN):
        return op_type
    plain = op_type.removeprefix(_ONEDNN).removeprefix(_NATIVE)
    # What is fused into a product is called _FusedMatMul; FusedBatchNorm is an op of that name.
    kind = plain.removeprefix(_FUSED)
    return kind if kind.startswith(("MatMul", "BatchMatMul", "Conv", "DepthwiseConv")) else plain or op_type


def ops_of_libraries(query: Query) -> OpsOfLibraries:
    """The parts of ops of the program, by the type of the instructions that libraries run for them."""
    found: dict[str, Counter[str]] = {}
    for op_type, op, own_ps in query(statement("ops_of_libraries")).rows():
        found.setdefault(op_type, Counter())[op] += own_ps
    return {
        op_type: {op: own_ps / ops.total() for op, own_ps in ops.items()}
        for op_type, ops in found.items()
        if ops.total()
    }
