"""Ops as the program wrote them, where a recording names the library that runs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypeAlias

from stepscope.library.statements import Query, statement

_ONEDNN, _NATIVE, _FUSED = "_Mkl", "Native", "Fused"
"""How TensorFlow calls the ops that it hands to oneDNN: `_MklNativeFusedMatMul`."""
_PRODUCTS_OF_XLA = ("dot_general", "conv_general_dilated")
"""How JAX calls products of matrices and convolutions, for which XLA may have a library."""
_NEARLY_ALL = 0.95
"""A type of instruction of which an op has this part is named after that op."""
_MOST = 0.5

OpsOfLibraries: TypeAlias = Mapping[str, Mapping[str, float]]
"""What each op of the program has of a type of instructions that libraries run."""


def written_op(op_type: str, of_libraries: OpsOfLibraries) -> str:
    """The type of op that a program wrote, for the one that a recording names; that one where it stands for
    several ops, none of which has nearly all of its time."""
    for op, part in of_libraries.get(op_type, {}).items():
        if part > _NEARLY_ALL:
            return op
    if not op_type.startswith(_ONEDNN):
        return op_type
    plain = op_type.removeprefix(_ONEDNN).removeprefix(_NATIVE)
    # What is fused into a product is called _FusedMatMul; FusedBatchNorm is an op of that name.
    kind = plain.removeprefix(_FUSED)
    return kind if kind.startswith(("MatMul", "BatchMatMul", "Conv", "DepthwiseConv")) else plain or op_type


def is_product(op_type: str, of_libraries: OpsOfLibraries) -> bool:
    """Whether a type is mostly of products of matrices and convolutions that XLA hands to libraries."""
    return sum(of_libraries.get(op_type, {}).get(op, 0.0) for op in _PRODUCTS_OF_XLA) > _MOST


def ops_of_libraries(query: Query) -> OpsOfLibraries:
    """The ops of the program by the type of the instructions that libraries run for them."""
    found: dict[str, Counter[str]] = {}
    for op_type, op_name, own_ps in query(statement("ops_of_libraries")).rows():
        found.setdefault(op_type, Counter())[op_name.rpartition("/")[2]] += own_ps
    return {
        op_type: {op: own_ps / ops.total() for op, own_ps in ops.items()}
        for op_type, ops in found.items()
        if ops.total()
    }
