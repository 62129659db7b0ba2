"""Items of "Timelines of a session's run"."""

import gzip
from pathlib import Path

from .item import Item

TITLE = "Timelines of a session's run"


def _as_tensorflow(written: str, sample: str, folder: Path) -> None:
    """The file is, byte for byte, what TensorFlow's Timeline wrote of the same step."""
    assert (folder / written).read_bytes() == gzip.decompress((folder / sample).read_bytes())


ITEMS: list[Item] = [
    Item(
        "One step of a session with FULL_TRACE, TensorFlow 1.15",
        "stepscope tf1/session/run_meta_2.pb.gz",
        ("1 run, 1 host, 1 step", "IteratorGetNext", "229 of 229 events stored"),
        never=("lost",),
    ),
    Item(
        "Streams and copies of a GPU are devices of their own (`/gpu:0/stream:56`, `/gpu:0/memcpy`), and "
        "show the same executions several times",
        'stepscope query run_metadata/gpu_sparse.pb "SELECT origin, kind FROM track ORDER BY origin"\n'
        "stepscope run_metadata/gpu_sparse.pb",
        # 5 x 500, 40, 60 and 800 of 9,490 microseconds; the copies take 100 of them.
        ("/gpu:0 is busy 35.8 % of the time", "copy 1.1 %"),
    ),
    Item(
        "Without libcupti on the library path the device's own time is missing",
        "stepscope run_metadata/gpu_without_cupti.pb",
        (
            "Rows show launches, not what the device did. 5 ops",
            "their 150 µs is how long launching took",
            "CUPTI on the library path (LD_LIBRARY_PATH)",
        ),
    ),
    Item(
        "The class Timeline: from RunMetadata to a Chrome trace",
        "stepscope export tf1/session/run_meta_2.pb.gz -o t.json --style tf-timeline --show-dataflow",
        ("wrote",),
        check=lambda folder, _: _as_tensorflow("t.json", "tf1/session/timeline-2.json.gz", folder),
    ),
    Item(
        "A step of several processes, TensorFlow 1.1: two parameter servers and a worker",
        'stepscope query tf1/parameter_servers/run_meta.gz "SELECT name FROM device ORDER BY name"',
        (
            "/job:ps/replica:0/task:0/cpu:0",
            "/job:ps/replica:0/task:1/cpu:0",
            "/job:worker/replica:0/task:0/cpu:0",
        ),
    ),
    Item(
        "`show_memory=True`: tensors with shapes and sizes, and a counter for each allocator",
        "stepscope memory tf1/estimator/timeline-40.json.gz",
        # The counter `cpu` of the file reaches 4,532 bytes.
        ("The peak is 4.43 KiB", "as TensorFlow's Timeline reckons it", "IteratorGetNext"),
        never=("say nothing about memory",),
    ),
    Item(
        "What are the spans of tensors, and why have some only a moment?",
        "stepscope memory tf1/estimator/timeline-40.json.gz",
        (
            "from the start of the op that makes it to the end of the last op whose label names it",
            "Of 191 tensors, 164 are named by an op that ends later; 27 end with the op that made them",
            "7 more have no memory",
        ),
    ),
    Item(
        "Partition graphs tell how long tensors really live",
        "stepscope memory run_metadata/two_servers.pb --all",
        # A gradient of 256 x 512 and one of 64 x 512 numbers of 4 bytes.
        (
            "The peak is 640 KiB",
            "The executed graph shows when each tensor could be freed",
            "gradients/layer1/MatMul_grad/MatMul_1 float [256, 512] ███████████ 512 80.0 1",
        ),
    ),
    Item(
        "`show_dataflow`: arrows from the op that makes a tensor to those that read it",
        "stepscope export tf1/session/run_meta_4.pb.gz -o t.json --style tf-timeline --show-dataflow",
        ("wrote",),
        check=lambda folder, _: _as_tensorflow("t.json", "tf1/session/timeline-4.json.gz", folder),
    ),
    Item(
        "The pid is no process, and rows are packed, so that ops do not overlap: they are not threads",
        "stepscope query tf1/session/timeline-4.json.gz @busy_by_track",
        ("tid 0 lane", "tid 1 lane"),
        never=("thread",),
    ),
    Item(
        "A trace is one step",
        "stepscope tf1/session/timeline-4.json.gz tf1/session/timeline-6.json.gz "
        "tf1/session/timeline-8.json.gz",
        ("3 recorded runs: mean", "found by runs of a session"),
    ),
    Item(
        "An op with a kernel for the CPU alone, as SparseToDense, holds the GPU up and forces copies",
        "stepscope run_metadata/gpu_sparse.pb",
        # It runs for 6,000 microseconds; the copies to it and from it take 40 and 60.
        ("SparseToDense (1 run, 2 copies between it and the accelerator) takes 6.10 ms while /gpu:0 is",),
        never=("0 copies",),
    ),
]
