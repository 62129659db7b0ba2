"""The peak after a change: recomputing, half precision, half the batch.

Each answer draws the curve again with other blocks, so a new peak elsewhere counts. Side effects are left
out: recomputing costs the time of the ops, and allocators round.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from stepscope.instruments.memory.allocators import AllocatorMemory
from stepscope.instruments.memory.blocks import MemoryBlock
from stepscope.instruments.memory.peak import is_held, peak
from stepscope.library.statements import Query, statement

WIDE = frozenset(("DT_FLOAT", "DT_DOUBLE", "DT_COMPLEX64", "DT_COMPLEX128"))
"""Element types that have a counterpart of half the size."""
CHEAP = frozenset(
    ("Abs", "Add", "AddN", "AddV2", "BiasAdd", "Cast", "Concat", "ConcatV2", "Elu", "Exp",
     "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", "Gelu", "LayerNorm", "LeakyRelu", "Log",
     "Maximum", "Minimum", "Mul", "Neg", "Pad", "PadV2", "Pow", "RealDiv", "Reciprocal", "Relu",
     "Relu6", "Rsqrt", "Select", "SelectV2", "Selu", "Sigmoid", "Slice", "Softmax", "Softplus", "Sqrt",
     "Square", "SquaredDifference", "StridedSlice", "Sub", "Tanh", "Tile", "Transpose",
     "_FusedBatchNormEx")
)  # fmt: skip
"""Op types that are cheap to run again, compared with their output."""


@dataclass(frozen=True)
class MemoryWhatIf:
    """A change and the peak after it."""

    kind: Literal["recompute", "half_precision", "half_batch"]
    peak_bytes: int
    saved_bytes: int
    """May be 0: a change that does not help is listed as such."""
    blocks: int
    """Blocks that the change affects."""
    cost_ps: int | None
    """Time of the ops that run again; None when none does."""
    meant: bool = False
    """Whether the user named the ops."""
    batch: int | None = None
    """Of half_batch: the batch that is halved."""


def ask(
    memory: AllocatorMemory,
    *,
    recompute: Callable[[str], bool] | None = None,
    halve: Callable[[str], bool] | None = None,
    batch: int | None = None,
    run_ps: Callable[[int], int] = lambda run: 0,
) -> list[MemoryWhatIf]:
    """The changes that the recording can judge. recompute, halve: select ops; None selects all that qualify.
    batch: the batch size, found when None. run_ps: duration of an execution."""
    found = [_recompute(memory, recompute, run_ps), _halve(memory, halve), _batch(memory, batch)]
    return sorted((answer for answer in found if answer is not None), key=lambda answer: -answer.saved_bytes)


def durations(query: Query) -> dict[int, int]:
    """Duration of each execution's kernel in picoseconds, by number."""
    return {number: max(took, 0) for number, took in query(statement("op_durations")).rows()}


def _again(memory: AllocatorMemory, blocks: Sequence[MemoryBlock]) -> int:
    return peak(blocks, memory.held.base_bytes).bytes


def _recompute(
    memory: AllocatorMemory, meant: Callable[[str], bool] | None, run_ps: Callable[[int], int]
) -> MemoryWhatIf | None:
    """Drops outputs that are held over the peak without being read around it, and computes them again."""
    at = memory.peak.ts_ps
    known = [block for block in memory.held.blocks if block.uses]
    if at is None or not known:
        return None
    changed: list[MemoryBlock] = []
    concerned, cost = 0, 0
    for block in memory.held.blocks:
        gap = _gap(block, at)
        is_meant = meant(block.op_name or "") if meant is not None else _is_cheap(block.op_type)
        if gap is None or not is_meant:
            changed.append(block)
            continue
        took = run_ps(block.op_run_id) if block.op_run_id is not None else 0
        before, after = gap
        concerned += 1
        cost += took
        changed.append(replace(block, freed_ps=before))
        changed.append(replace(block, born_ps=max(before, after - took)))
    if not concerned:
        return None
    new = _again(memory, changed)
    return MemoryWhatIf("recompute", new, memory.peak.bytes - new, concerned, cost, meant is not None)


def _is_cheap(op_type: str | None) -> bool:
    # oneDNN renames the ops that it replaces: _MklNativeRelu, _MklFusedBatchNormV3.
    return (op_type or "").removeprefix("_Mkl").removeprefix("Native") in CHEAP


def _gap(block: MemoryBlock, at: int) -> tuple[int, int] | None:
    """The time around the peak in which a block is not read, between reads before and after it."""
    if block.born_ps is None or not is_held(block, at) or block.kind != "output":
        return None
    before = [end for _, end, _ in block.uses if end <= at]
    after = [begin for begin, _, _ in block.uses if begin > at]
    inside = any(begin <= at < end for begin, end, _ in block.uses)
    if inside or not before or not after:
        return None
    return max(before), min(after)


def _halve(memory: AllocatorMemory, meant: Callable[[str], bool] | None) -> MemoryWhatIf | None:
    """Stores tensors of 32 and 64 bits in half as many."""
    changed, concerned = [], 0
    for block in memory.held.blocks:
        wide = block.dtype in WIDE and (meant is None or meant(block.op_name or ""))
        concerned += wide
        changed.append(replace(block, bytes=(block.bytes + 1) // 2) if wide else block)
    if not concerned:
        return None
    new = _again(memory, changed)
    return MemoryWhatIf("half_precision", new, memory.peak.bytes - new, concerned, None, meant is not None)


_GRADIENTS = "gradients"
"""The scope that TensorFlow puts around ops of back propagation."""


def batch_size(blocks: Sequence[MemoryBlock]) -> int | None:
    """The batch size: the first dimension that most bytes share, in tensors of several shapes; None when none
    stands out. A single shape may be a variable's gradient, and so may what only ops of gradients made: a
    batch is the first dimension of what the model computes as well."""
    shaped = [(block, block.shape) for block in blocks if block.shape]
    forward = {shape[0] for block, shape in shaped if _GRADIENTS not in (block.op_name or "").split("/")}
    weights: Counter[int] = Counter()
    shapes: dict[int, set[tuple[int, ...]]] = defaultdict(set)
    for block, shape in shaped:
        if len(shape) >= 2 and shape[0] > 1 and shape[0] in forward:
            weights[shape[0]] += block.bytes
            shapes[shape[0]].add(shape)
    if not weights:
        return None
    size, weight = weights.most_common(1)[0]
    return size if weight * 2 > sum(weights.values()) and len(shapes[size]) > 1 else None


def _batch(memory: AllocatorMemory, batch: int | None) -> MemoryWhatIf | None:
    """Halves every tensor whose first dimension is the batch."""
    size = batch if batch is not None else batch_size(memory.peak.blocks)
    if size is None or size < 2:
        return None
    changed, concerned = [], 0
    for block in memory.held.blocks:
        scales = block.shape is not None and bool(block.shape) and block.shape[0] == size
        concerned += scales
        changed.append(replace(block, bytes=(block.bytes + 1) // 2) if scales else block)
    if not concerned:
        return None
    new = _again(memory, changed)
    return MemoryWhatIf("half_batch", new, memory.peak.bytes - new, concerned, None, batch=size)
