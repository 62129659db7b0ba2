"""Drawn programs that look up rows of a table."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.draw import Tables, draw

STEPS = "step train : [train" + "." * 130 + "]\n"
LOOKUP = """\
cpu/t thread :[aten::embedding][aten::embedding_dense_backward............][aten::addcdiv_.........][aten::mm]
cpu/t thread :                  [aten::zeros...........................]
cpu/t thread :                    [aten::zero_.......................]
cpu/t thread :                      [aten::fill_...................]
cpu/u thread :                                                            [torch::autograd::AccumulateGrad]
"""
ON_GPU = """\
cpu/t thread :                        [cudaLaunchKernel#1]                   [cudaLaunchKernel#2]    [cuda#3]
gpu/s7 device_stream :                                   [fill_kernel#1...]           [addcdiv#2....] [gemm#3]
"""


def inputs(*sizes: Sequence[Any], **others: Any) -> dict[str, Any]:
    """What PyTorch's profiler says of the inputs of an op."""
    return {"Input Dims": sizes, **others}


def a_dense_gradient(
    rows: int = 300_000,
    ids: Sequence[int] = (64, 20),
    text: str = STEPS + LOOKUP,
    args: Mapping[str, Mapping[str, Any]] | None = None,
) -> Tables:
    """A step that looks up rows of a table of 64 columns; then its optimizer works on the whole of it.

    args: of ops by name, what differs."""
    table = (rows, 64)
    known: dict[str, Mapping[str, Any]] = {
        "aten::embedding": inputs(table, ids, (), (), (), **{"Sequence number": 60}),
        "aten::embedding_dense_backward": inputs((*ids, 64), ids, (), (), ()),
        "aten::zeros": inputs((), (), (), (), ()),
        "aten::zero_": inputs(table),
        "aten::fill_": inputs(table, ()),
        "torch::autograd::AccumulateGrad": inputs(table),
        "aten::addcdiv_": inputs(table, table, table, ()),
        "aten::mm": inputs((64, 64), (64, 8)),
    }
    known |= dict(args or {})
    tables = draw(text, producer="kineto")
    tables.rows["source"][0]["framework"] = "pytorch"
    for row in tables.rows["slice"]:
        row["category"] = "cpu_op"
        if row["correlation_id"] is not None:
            row["category"] = "cuda_runtime" if row["name"].startswith("cuda") else "kernel"
        elif row["name"] in known:
            row["args_json"] = json.dumps(known[row["name"]], separators=(",", ":"))
    return tables


def a_gradient_made_dense(ids: int = 640, product: str | None = None, updated: str = "[100000,32]") -> Tables:
    """A step of TensorFlow 1 that multiplies the gradient of a lookup by a number, as RunMetadata shows it.

    product: the shape of another product's output, updated: of what the optimizer works on."""
    names = ("UnsortedSegmentSum", "mul:Mul", "Adam/update_e/ApplyAdam:ApplyAdam", "a:MatMul")
    tables = draw(f"{STEPS}cpu/t lane : [UnsortedSegmentSum:UnsortedSegmentSum][{']['.join(names[1:])}]")
    adding = next(row for row in tables.rows["slice"] if row["op_name"] == "UnsortedSegmentSum")
    adding["args_json"] = json.dumps({"inputs": ["values", "ids", "n"]})
    made = {
        "UnsortedSegmentSum": ("[100000,32]", 100_000 * 32 * 4),
        "mul": ("[100000,32]", 100_000 * 32 * 4),
        "Adam/update_e/ApplyAdam": (updated, 100_000 * 32 * 4),
        "values": (f"[{ids},32]", ids * 32 * 4),
        "ids": (f"[{ids}]", ids * 4),
    }
    for op, (shape, requested) in (made | ({"a": (product, 4)} if product else {})).items():
        known = {"shape": shape, "requested_bytes": requested, "dtype": "DT_FLOAT"}
        tables.add("tensor", op_run_id=0, op_name=op, slot=0, **known)
    return tables


def a_one_hot_product(changed: str = "one_hot", product: str = "MatMul", tensors: bool = True) -> Tables:
    """A step of TensorFlow 1 that multiplies what OneHot makes by a table, and its gradient.

    changed: what the product takes; `Reshape` is made of OneHot. tensors: whether their bytes are
    known."""
    ops = ("one_hot:OneHot...", "Reshape:Reshape", f"{product}:MatMul....", "other:MatMul", "b:Add")
    gradient = "gradients/MatMul_grad/MatMul_1:MatMul............"
    tables = draw(f"{STEPS}cpu/t lane : [{']['.join((*ops, gradient))}]")
    inputs = {
        "one_hot": "ids", "Reshape": "one_hot", product: changed, "gradients/MatMul_grad/MatMul_1": changed,
        "other": "hidden",
    }  # fmt: skip
    for row in tables.rows["slice"]:
        if row["op_name"] in inputs:
            row["args_json"] = json.dumps({"inputs": [inputs[row["op_name"]], "other/read"]})
    if tensors:
        known = {"shape": "[1280,20000]", "requested_bytes": 102_400_000, "dtype": "DT_FLOAT"}
        tables.add("tensor", op_run_id=0, op_name="one_hot", slot=0, **known)
    return tables


def runs_that_compute_again(names: tuple[str, ...] = ("a", "a", "b"), steps: int = 1) -> Tables:
    """A file of one step, in which a session is run twice: ops of these names, of 20 µs each."""
    ops = "".join(f"[{name}:MatMul...........]" for name in names)
    tables = draw(f"cpu/t lane : [_SOURCE:_SOURCE]{ops}[_SOURCE:_SOURCE]")
    last = tables.rows["slice"][-1]
    end_ps = last["ts_ps"] + last["dur_ps"]
    facts = {"kind": "unknown", "recovered_from": "file", "averaged": True, "reason": "", "name": "step"}
    tables.rows["step_stored"].clear()
    for step in range(steps):
        dur_ps = end_ps // steps
        tables.add("step_stored", source_id=0, step=step, ts_ps=step * dur_ps, dur_ps=dur_ps, **facts)
    tables.assign_steps()
    return tables
