"""Models for tfprof, drawn by chance: graphs, steps and op logs that lack and repeat whatever they can."""

import random
from typing import Any

from tests.later import proto

graph_pb2 = proto("core.framework.graph_pb2")
config_pb2 = proto("core.protobuf.config_pb2")
tfprof_log_pb2 = proto("core.profiler.tfprof_log_pb2")

SCOPES = ("a", "b", "unit_1", "gradients", "save", "BatchNorm", "conv", "x_grad", "é")
LEAVES = ("w", "Conv2D", "Momentum", "add_1", "biases", "MatMul", "read", "op")
OPS = ("VariableV2", "Conv2D", "MatMul", "Add", "NoOp", "VarHandleOp", "Identity")
DEVICES = (
    "/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost/replica:0/task:0/device:GPU:0",
    "/job:ps/task:1/cpu:0", "/device:GPU:0/stream:all", "/device:GPU:0/stream:14", "/gpu:1", "/device:TPU:0",
    "",
)  # fmt: skip
SIZES = (0, 1, 2, 7, 100, 999, 1000, 1005, 123456, 999995, 5_000_000_000, -3)


def name(dice: random.Random) -> str:
    """Names nest, and are sometimes scopes of others."""
    parts = [dice.choice(SCOPES) for _ in range(dice.choice((0, 0, 1, 1, 2, 3)))]
    return "/".join([*parts, dice.choice(LEAVES)] if dice.random() < 0.9 else parts or ["a"])


def graph_of(dice: random.Random, names: list[str]) -> Any:
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
