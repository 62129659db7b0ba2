"""Memory of TensorFlow's timelines with show_memory: what Timeline reckons, and what its spans are."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from stepscope.cli import main
from stepscope.instruments.memory import allocators
from stepscope.instruments.memory.allocators import AllocatorMemory
from stepscope.instruments.memory.blocks import Spans
from stepscope.session import trace

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
HOOK = SAMPLES / "profiler_hook" / "timeline-5.json"
ESTIMATOR = SAMPLES / "tf1" / "estimator" / "timeline-40.json.gz"


def found(*paths: Path) -> list[AllocatorMemory]:
    with trace.open(*map(str, paths), cache=False) as opened:
        return allocators.find(opened.query, opened.stream)


def events(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    text = gzip.decompress(data) if path.suffix == ".gz" else data
    found: list[dict[str, Any]] = json.loads(text)["traceEvents"]
    return found


def counted(path: Path) -> dict[str, int]:
    """The highest value of each counter."""
    most: dict[str, int] = {}
    for event in events(path):
        if event["ph"] == "C":
            for name, value in event["args"].items():
                most[name] = max(most.get(name, 0), value)
    return {name: value for name, value in most.items() if value}


@pytest.mark.parametrize("path", [HOOK, ESTIMATOR], ids=["TensorFlow 2.21", "TensorFlow 1.15"])
def test_the_peak_is_that_of_the_counters(path: Path) -> None:
    memories = found(path)
    assert {one.allocator: one.peak.bytes for one in memories} == counted(path)
    assert all(one.held.way == "timeline" and one.complete for one in memories)
    drawn = sum(event["ph"] == "N" for event in events(path))
    spans = [one.held.spans for one in memories]
    assert sum(one.tensors + one.nowhere for one in spans if one) == drawn


def test_files_that_were_put_together_hold_the_tensors_of_each(tmp_path: Path) -> None:
    (one,) = found(HOOK)
    later = 10**6  # the second step begins a second after the first
    again = [{**event, **({"ts": event["ts"] + later} if "ts" in event else {})} for event in events(HOOK)]
    path = tmp_path / "both.json"
    path.write_text(json.dumps({"traceEvents": [*events(HOOK), *again]}))
    (both,) = found(path)
    assert both.held.spans.tensors == 2 * one.held.spans.tensors
    assert both.held.spans.read_later == 2 * one.held.spans.read_later
    assert both.peak.bytes == one.peak.bytes


def drawn(path: Path, tensors: list[tuple[str, int, int, int, int | None, str]]) -> Path:
    """A timeline of tensors: name, number, begin, end of the op, end or None, description."""
    rows: list[dict[str, Any]] = [
        {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "/device:CPU:0 Compute"}},
        {"name": "process_name", "ph": "M", "pid": 2, "args": {"name": "/device:CPU:0 Tensors"}},
        {"ph": "X", "cat": "Op", "name": "Op", "pid": 1, "tid": 0, "ts": 0, "dur": 100,
         "args": {"name": "op", "op": "Op"}},
    ]  # fmt: skip
    for name, number, begin, end, _, text in tensors:
        at = {"cat": "Tensor", "name": name, "pid": 2, "tid": 0, "id": number}
        args = {"snapshot": {"tensor_description": text}}
        rows += [{**at, "ph": "N", "ts": begin}, {**at, "ph": "O", "ts": end - 1, "args": args}]
    for name, number, _, _, gone, _ in tensors:
        if gone is not None:
            at = {"cat": "Tensor", "name": name, "pid": 2, "tid": 0, "id": number}
            rows.append({**at, "ph": "D", "ts": gone})
    path.write_text(json.dumps({"traceEvents": rows}))
    return path


def described(size: int, shape: str = "") -> str:
    return (
        f"dtype: DT_FLOAT\nshape {{\n{shape}}}\nallocation_description {{\n  requested_bytes: {size}\n"
        "  allocator_name: cpu\n}\n"
    )


def test_tensors_have_a_span_a_moment_or_no_end(tmp_path: Path) -> None:
    shape = "  dim {\n    size: 5\n  }\n  dim {\n    size: 2\n  }\n"
    tensors = [
        ("read", 0, 0, 10, 30, described(40, shape)),
        ("read:1", 1, 0, 10, 10, described(8)),
        ("again", 2, 10, 20, None, described(100)),
        ("again", 3, 20, 25, 40, described(100)),
        ("bare", 4, 20, 25, 26, "dtype: DT_INT32\n"),
    ]
    (one,) = found(drawn(tmp_path / "t.json", tensors))
    assert one.held.spans == Spans(tensors=4, read_later=2, endless=1, nowhere=1)
    assert one.peak.bytes == 140  # what has no end is in no counter of Timeline's
    blocks = {(block.op_name, block.slot): block for block in one.held.blocks}
    assert set(blocks) == {("read", 0), ("read", 1), ("again", 0)}
    assert (blocks["read", 0].shape, blocks["read", 0].dtype) == ((5, 2), "DT_FLOAT")


def test_odd_descriptions_are_no_harm(tmp_path: Path) -> None:
    odd = [
        "}}}}",
        "shape {" * 400,
        "requested_bytes: 1e9",
        "shape {\n  unknown_rank: true\n}\n",
        "",
        "{\n:\n}",
    ]
    tensors = [(f"t{number}", number, 0, 5, 9, text) for number, text in enumerate(odd)]
    tensors.append(("good", len(odd), 0, 5, 9, described(16)))
    (one,) = found(drawn(tmp_path / "t.json", tensors))
    assert (one.peak.bytes, one.held.spans) == (16, Spans(1, 1, 0, len(odd)))


def test_the_answer_explains_the_spans(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", str(HOOK), "--no-cache"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    when = "first reached 678 µs after the first allocation, as TensorFlow's Timeline reckons it."
    assert f"The peak is 1.50 MiB, {when}" in said
    assert "Of 27 tensors, 22 are named by an op that ends later; 5 end with the op that made them" in said
