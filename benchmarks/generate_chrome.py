"""Writes a Chrome trace of any size for benchmarks: the same seed gives the same bytes.

    python benchmarks/generate_chrome.py OUT.json --megabytes 1000 [--form lines|compact|pretty] [--array]

Events as TensorFlow's Timeline writes them, about 245 bytes each as lines: complete events of ops with their
inputs, one arrow in fifteen events, a counter in fifty. Times are Unix microseconds; slices of a lane follow
one another.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

START_US = 1_795_163_227_337_279
DEVICES = 4
LANES = 6
BLOCK_EVENTS = 5000
OPS = (
    "Conv2D", "MatMul", "FusedBatchNormV3", "Relu", "ReluGrad", "Conv2DBackpropInput", "Conv2DBackpropFilter",
    "AddV2", "BiasAdd", "BiasAddGrad", "ResourceApplyMomentum", "IteratorGetNext", "Const", "Cast", "Mul",
)  # fmt: skip


def events(seed: int) -> Iterator[dict[str, Any]]:
    """Events without end."""
    chance = random.Random(seed)
    layers = [f"resnet/block_{chance.randrange(16)}/unit_{unit}/conv_{unit % 7}" for unit in range(150)]
    nodes = [(f"{layer}/{op}", op) for layer in layers for op in OPS]
    clock = [[START_US] * LANES for _ in range(DEVICES)]
    flow = 0
    while True:
        device, lane = chance.randrange(DEVICES), chance.randrange(LANES)
        name, op = nodes[int(len(nodes) * chance.random() ** 2)]
        start = clock[device][lane] + chance.randrange(1, 30)
        length = chance.randrange(1, 4) if chance.random() < 0.5 else int(chance.paretovariate(1.2) * 20)
        clock[device][lane] = start + length
        row = {"pid": 1 + 2 * device, "tid": lane}
        first, second = (nodes[chance.randrange(len(nodes))][0] for _ in range(2))
        args = {"name": name, "op": op, "input0": first, "input1": second}
        yield {"ph": "X", "cat": "Op", "name": op, **row, "ts": start, "dur": length, "args": args}
        kind = chance.random()
        if kind < 1 / 15:
            flow += 1
            arrow = {"cat": "DataFlow", "name": first, **row, "id": flow}
            yield {"ph": "s", **arrow, "ts": start}
            yield {"ph": "t", **arrow, "ts": start + length}
        elif kind > 0.98:
            used = chance.randrange(1 << 32)
            yield {"ph": "C", "cat": "Memory", "name": "bfc", "pid": 0, "ts": start, "args": {"used": used}}


def write(path: Path, megabytes: int, form: str, array: bool, seed: int) -> int:
    """Writes the file; returns the number of events beside metadata."""
    head = "[\n" if array else '{"traceEvents": [\n'
    tail = "\n]\n" if array else "\n]}\n"
    separator = ", " if form == "compact" else ",\n"
    style: dict[str, Any] = {"indent": 4} if form == "pretty" else {}
    count = 0
    source = events(seed)
    encode = json.JSONEncoder(**style).encode
    with path.open("w", encoding="ascii", buffering=1 << 20) as file:
        file.write(head)
        for device in range(DEVICES):
            about = {"name": f"/job:localhost/replica:0/task:0/device:CPU:{device} Compute"}
            file.write(encode({"ph": "M", "name": "process_name", "pid": 1 + 2 * device, "args": about}))
            file.write(separator)
        size = 0
        while size < megabytes * 1_000_000:
            block = separator.join([encode(next(source)) for _ in range(BLOCK_EVENTS)])
            size += file.write(block if count == 0 else separator + block)
            count += BLOCK_EVENTS
        file.write(tail)
    return count


def main() -> None:
    """Writes one file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--form", choices=("lines", "compact", "pretty"), default="lines")
    parser.add_argument("--array", action="store_true", help="a bare array instead of an object")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print(write(options.out, options.megabytes, options.form, options.array, options.seed), "events")


if __name__ == "__main__":
    main()
