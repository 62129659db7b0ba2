"""tfprof against TensorFlow's own engine: random models, random steps, random op logs, random questions.

Every question wants the same text. STEPSCOPE_FUZZ_SEED chooses another run, STEPSCOPE_FUZZ_CASES a size.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from stepscope import _core
from stepscope.instruments import tfprof
from tests.instruments import oracle

CASES = int(os.environ.get("STEPSCOPE_FUZZ_CASES", "2400"))
LINES = 80
"""Questions to a model: the engine's start takes as long as some hundred answers."""
SEED = int(os.environ.get("STEPSCOPE_FUZZ_SEED", "20170213"))

SCOPES = ("a", "b", "unit_1", "gradients", "save", "BatchNorm", "conv", "x_grad", "é")
LEAVES = ("w", "Conv2D", "Momentum", "add_1", "biases", "MatMul", "read", "op")
OPS = ("VariableV2", "Conv2D", "MatMul", "Add", "NoOp", "VarHandleOp", "Identity")
DEVICES = (
    "/job:localhost/replica:0/task:0/device:CPU:0",
    "/job:localhost/replica:0/task:0/device:GPU:0",
    "/job:ps/task:1/cpu:0",
    "/device:GPU:0/stream:all",
    "/device:GPU:0/stream:14",
    "/gpu:1",
    "/device:TPU:0",
    "",
)
REGEXES = (
    ".*", "a.*", ".*w", "unit.*", "b/.*,a", ".*grad.*", "Conv2D", "VariableV2", ".*cpu:0.*", ".*gpu.*",
    "_trainable_variables", "mine", "_checkpoint_variables", "nothing",
    "x|a", "(a|b)/.+", "[a-c].*", "save/.*", "_TFProfRoot", "a",
    "a/b", ".", "", "op", ".*Momentum", "Variable.*,MatMul", ".*,.*", r"\w+", r".*\d", ".*py.*", "main.*",
    "_kTFScopeParent", "é.*",
)  # fmt: skip
SIZES = (0, 1, 2, 7, 100, 999, 1000, 1005, 123456, 999995, 5_000_000_000, -3)


def name(dice: random.Random) -> str:
    """Names nest, and are sometimes scopes of others."""
    parts = [dice.choice(SCOPES) for _ in range(dice.choice((0, 0, 1, 1, 2, 3)))]
    return "/".join([*parts, dice.choice(LEAVES)] if dice.random() < 0.9 else parts or ["a"])


def graph_of(dice: random.Random, names: list[str]) -> Any:
    from tensorflow.core.framework import graph_pb2

    graph = graph_pb2.GraphDef()
    for own in names:
        node = graph.node.add(name=own, op=dice.choice(OPS))
        for _ in range(dice.choice((0, 0, 1, 1, 2, 3))):
            other = dice.choice([*names, "not/there"])
            node.input.append(dice.choice(("{}", "{}", "{}:1", "^{}", "{}:0")).format(other))
        if dice.random() < 0.5:
            fill(dice, node.attr["shape"].shape)
        if dice.random() < 0.5:
            for _ in range(dice.choice((0, 1, 2))):
                fill(dice, node.attr["_output_shapes"].list.shape.add())
        if dice.random() < 0.1:
            node.attr["shape"].i = 3
    return graph


def fill(dice: random.Random, shape: Any) -> None:
    if dice.random() < 0.1:
        shape.unknown_rank = True
    for _ in range(dice.choice((0, 1, 2, 3))):
        shape.dim.add(size=dice.choice((-1, 0, 1, 3, 64, 1000)))
    shape.SetInParent()


def step_of(dice: random.Random, names: list[str]) -> Any:
    from tensorflow.core.protobuf import config_pb2

    step = config_pb2.RunMetadata()
    step.step_stats.SetInParent()
    for device in dice.sample(DEVICES, dice.choice((0, 1, 2, 4))):
        stats = step.step_stats.dev_stats.add(device=device)
        for _ in range(dice.choice((0, 2, 6, 12))):
            own = dice.choice([*names, "only/here", "_SOURCE", "RecvTensor", "edge_MEMCPY", "new"])
            row = stats.node_stats.add(node_name=own + dice.choice(("", "", ":Conv2D", ":x:y")))
            row.all_start_micros = dice.choice((0, 10, 100, 10**15, 10**15 + 7))
            row.op_end_rel_micros = dice.choice((0, 1, 999, 1000, 43210, 2_000_000))
            for _ in range(dice.choice((0, 0, 1, 2))):
                memory = row.memory.add(allocator_name=dice.choice(("cpu", "GPU_0_bfc", "gpu_host_bfc")))
                memory.total_bytes = dice.choice(SIZES)
                memory.peak_bytes = dice.choice(SIZES)
                memory.live_bytes = dice.choice(SIZES)
                memory.allocator_bytes_in_use = dice.choice(SIZES)
                memory.allocation_records.add(alloc_micros=12, alloc_bytes=dice.choice(SIZES))
            for slot in range(dice.choice((0, 0, 1, 2))):
                output = row.output.add(slot=slot)
                if dice.random() < 0.8:
                    about = output.tensor_description.allocation_description
                    about.requested_bytes = dice.choice(SIZES)
                    about.allocated_bytes = dice.choice(SIZES)
            if dice.random() < 0.4:
                row.memory_stats.temp_memory_size = dice.choice(SIZES)
                row.memory_stats.persistent_memory_size = dice.choice(SIZES)
    return step


def log_of(dice: random.Random, names: list[str]) -> Any:
    from tensorflow.core.profiler import tfprof_log_pb2

    log = tfprof_log_pb2.OpLogProto()
    texts = ["none", "/home/me/main.py", "train.py", "main", "a_function_of_a_long_name", "<module>"]
    for number, text in enumerate(texts):
        log.id_to_string[number] = text
    for own in dice.sample(names, len(names) * dice.choice((0, 1, 2)) // 2):
        entry = log.log_entries.add(name=own)
        if dice.random() < 0.5:
            entry.float_ops = dice.choice(SIZES)
        for _ in range(dice.choice((0, 1, 2))):
            entry.types.append(dice.choice(("_trainable_variables", "mine", "Conv2D")))
        if dice.random() < 0.6:
            for _ in range(dice.choice((0, 1, 2, 3, 4))):
                entry.code_def.traces.add(
                    file_id=dice.choice((0, 1, 2)),
                    lineno=dice.choice((1, 7, 12)),
                    function_id=dice.choice((3, 4, 5)),
                    func_start_line=dice.choice((-1, 5)),
                )
    return log


def save_checkpoint(dice: random.Random, names: list[str], prefix: Path) -> None:
    """Values of some nodes: small and large numbers, no numbers, long rows, and types that are not shown."""
    import numpy as np
    import tensorflow as tf

    numbers = (0.0, -0.0, 1.005, 0.004999, -123456.789, 1234567.0, 99999.95, 1e30, -1e-30, np.inf, np.nan)
    tensors = []
    chosen = dice.sample(names, (len(names) + 1) // 2)
    for _ in chosen:
        kind = dice.choice(("float32", "float64", "int32", "int64", "float16", "bool"))
        shape = dice.choice(((), (1,), (3,), (2, 3), (0,), (2, 0), (2, 2, 2), (1700,), (40, 50), (3, 3334)))
        data = [dice.choice(numbers[:7] if "i" in kind else numbers) for _ in range(int(np.prod(shape)))]
        with np.errstate(over="ignore"):
            tensors.append(np.array(data, "float64").reshape(shape).astype(kind))
    slices = [""] * len(chosen)
    tf.raw_ops.SaveV2(prefix=str(prefix), tensor_names=chosen, shape_and_slices=slices, tensors=tensors)


def question(dice: random.Random) -> str:
    """A line for the prompt, mostly one that makes sense."""
    words = [dice.choice(("scope", "graph", "op", "code"))]
    columns = tuple(tfprof.columns())
    for _ in range(dice.choice((0, 1, 2, 3, 4, 6))):
        option = dice.choice(tfprof.names())
        if option == "output":
            value = dice.choice(("stdout", "none", "stdout", "bogus"))
        elif option == "select":
            value = ",".join(dice.sample(columns, dice.choice((1, 1, 2, 4, len(columns)))))
        elif option == "order_by":
            value = dice.choice((*tfprof.orders(), "depth"))
        elif option == "step":
            value = dice.choice(("-1", "0", "1", "2", "7"))
        elif option == "account_displayed_op_only":
            value = dice.choice(("true", "false", "", "yes"))
        elif option == "max_depth":
            value = dice.choice(("1", "2", "3", "4", "100"))
        elif option.startswith("min_"):
            value = dice.choice(("0", "1", "2", "100", "1000", "-1", "99999999"))
        else:
            value = dice.choice(REGEXES)
        words.append(f"-{option} {value}".strip())
    # The code view of TensorFlow dies of a trimmed root, and of no depth.
    return " ".join(word for word in words if not (words[0] == "code" and word.startswith("-trim")))


def ours(model: tfprof.Model, line: str) -> str:
    options = _core.TfprofOptions()
    try:
        command = options.read_line(line)
    except ValueError as error:
        return f"E: {error}\n"
    return model.show(command, options).text


@pytest.mark.parametrize("number", range(-(-CASES // LINES)))
def test_the_same_text_as_tensorflow(number: int, tmp_path: Path) -> None:
    program = oracle.build()
    dice = random.Random(f"{SEED}/{number}")
    names = sorted({name(dice) for _ in range(dice.choice((1, 4, 12, 30)))})
    dice.shuffle(names)
    graph, log = tmp_path / "graph.pb", tmp_path / "log"
    graph.write_bytes(graph_of(dice, names).SerializeToString())
    log.write_bytes(log_of(dice, names).SerializeToString())
    steps = [tmp_path / f"step_{place}.pb" for place in range(dice.choice((0, 1, 2, 3)))]
    for step in steps:
        step.write_bytes(step_of(dice, names).SerializeToString())
    checkpoint = tmp_path / "model.ckpt"
    save_checkpoint(dice, names, checkpoint)
    lines = [question(dice) for _ in range(LINES)]
    answers = oracle.ask(program, graph, steps, log, checkpoint, lines)
    assert len(answers) == len(lines), f"TensorFlow died of {lines[len(answers)]}"
    paths = [str(step) for step in steps]
    model = tfprof.Model(str(graph), paths, str(log), checkpoint=str(checkpoint), log_first=True)
    for line, wanted in zip(lines, answers, strict=True):
        assert ours(model, line) == wanted, line
