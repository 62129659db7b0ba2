"""Ranks of recordings: files as PyTorch and Horovod write them, and real ones of the corpus."""

import gzip
import json
from math import ceil, floor
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope import library
from stepscope.lake.rows import ranks_of
from stepscope.session.trace import open as open_trace
from stepscope.sources.source import ByteLocation, Source
from tests import corpus
from tests.asked import ask
from tests.each import each
from tests.instruments.jobs import Job, job

_KERNEL = {
    "Collective name": "allreduce", "Group size": 4, "dtype": "Float", "In msg nelems": 1000,
    "Out msg nelems": 1000, "Process Group Name": "0", "Process Group Ranks": "[0, 1, 2, 3]",
    "stream": 7, "device": 0,
}  # fmt: skip


def kineto(made: Job, source_id: int, folder: Path, **about: Any) -> Path:
    """A rank's file as PyTorch's profiler writes it; clocks begin at a time of day of their own."""
    rank = made.ranks[source_id].rank
    events: list[dict[str, Any]] = []
    for part in made.parts:
        if part.source_id == source_id:
            span = {"ts": part.begin_ps / 1e6 + 2e6, "dur": (part.end_ps - part.begin_ps) / 1e6}
            args = {**_KERNEL, "Seq": part.facts.sequence, "correlation": part.facts.sequence}
            if part.facts.sequence is None:
                del args["Seq"], args["correlation"]
            name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
            events.append(
                {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, **span, "args": args}
            )
    for number in sorted({part.step or 0 for part in made.parts}):
        own = [p for p in made.parts if p.source_id == source_id and p.step == number]
        begin, end = own[0].begin_ps - 10**9, own[-1].end_ps
        span = {"ts": begin / 1e6 + 2e6, "dur": (end - begin) / 1e6}
        name = f"ProfilerStep#{number}"
        events.append({"ph": "X", "cat": "user_annotation", "name": name, "pid": 9, "tid": 9, **span})
    told = {"backend": "nccl", "rank": rank, "world_size": len(made.ranks)}
    file = folder / f"{'wxyz'[source_id]}.json"
    text = {
        "schemaVersion": 1,
        "deviceProperties": [{"id": 0}],
        "distributedInfo": told,
        "traceEvents": events,
    }
    file.write_text(json.dumps(text | about))
    return file


@pytest.mark.parametrize("numbered", [True, False])
def test_four_files_of_a_job(tmp_path: Path, numbered: bool):
    """From files to rows and findings: ranks by distributedInfo, matched by number or by order, one late."""
    made = job(5, ranks=4, collectives=24, late=2, late_us=300, numbered=numbered)
    for source_id in made.ranks:
        kineto(made, source_id, tmp_path)
    with open_trace(tmp_path, cache=False) as trace:
        told = trace.query("SELECT host_id, rank, ranks FROM capture ORDER BY rank").rows()
        assert told == [(f"rank-{rank}", rank, 4) for rank in range(4)]
        by = trace.query("SELECT matched_by, seen, COUNT(*) AS n FROM collective GROUP BY ALL").rows()
        assert by == [("sequence" if numbered else "order", 4, 96)]
        clocks = trace.query("SELECT aligned_by, residual_ps FROM clock_offset ORDER BY source_id").rows()
        assert sorted(by for by, _ in clocks) == ["axis", "ends", "ends", "ends"]
        assert max(error for _, error in clocks) < 10**7
        found = {one.slug: one for one in stepscope.report.build(trace).findings}
    assert "rank-2 arrives last at 24 of 24 collectives" in found["straggler"].impact


@pytest.mark.repeats("a lake that grew in another order, as in test_warm_up")
def test_the_same_from_a_lake_in_any_order(tmp_path: Path):
    made = job(6, ranks=4, collectives=24, late=1, late_us=300)
    (tmp_path / "job").mkdir()
    files = [kineto(made, source_id, tmp_path / "job") for source_id in made.ranks]
    asked = (
        "SELECT participant, sequence, wait_ps, transfer_ps, axis_ts_ps, late_ps, path_ps FROM collective "
        "ORDER BY participant, sequence"
    )
    answers = []
    with open_trace(tmp_path / "job", cache=False) as trace:
        answers.append(trace.query(asked).rows())
    for number, order in enumerate((files[::-1], files)):
        lake = tmp_path / f"lake{number}"
        for file in order:
            stepscope.ingest([file], lake, run="job")
        with open_trace(lake) as trace:
            answers.append(trace.query(asked).rows())
    assert len(answers[0]) == 96
    assert answers[1:] == [answers[0]] * 2


@each(
    ("told", "expected"),
    [
        ('{"rank": 3, "world_size": 8}', (3, 8)),
        ('{"rank": 0}', (0, None)),
        ('{"rank": 9, "world_size": 8}', (None, None)),
        ('{"rank": true, "world_size": "8"}', (None, None)),
        ('{"rank": -1, "world_size": 1e9}', (None, None)),
        ("[3]", (None, None)),
        ("{", (None, None)),
        ("[" * 100_000, (None, None)),
    ],
)
def test_what_distributed_info_says(told: str, expected: tuple[int | None, int | None]):
    source = Source("a.json", "a.json", ByteLocation("a.json"), 1, "chrome_trace")
    assert ranks_of(source, {"meta": {"distributedInfo": told}}) == expected
    named = ranks_of(source._replace(rank=5), {"meta": {"distributedInfo": told}})
    assert named == (5 if expected[0] is None else expected[0], expected[1])


@pytest.mark.repeats("reads recordings that do not ship")
def test_horovod_says_when_each_rank_was_ready():
    rows = ask(
        corpus.path("events/horovod_small.json"),
        "SELECT participant, kind, matched_by, seen, wait_ps, transfer_ps, late_ps FROM collective "
        "ORDER BY ts_ps",
    )
    # By the file, in µs: when rank 2 and rank 0 are ready, and when the broadcast is done.
    late, transfer = (1412528278016 - 1412526048914) * 10**6, (1412528345766 - 1412528278016) * 10**6
    assert rows == [
        ("rank-2", "broadcast", "negotiation", 2, late, transfer, 0),
        ("rank-0", "broadcast", "negotiation", 2, 0, transfer, late),
        ("unknown", "all_reduce", "none", 1, None, None, None),
    ]


@pytest.mark.repeats("reads recordings that do not ship")
@pytest.mark.parametrize(
    ("name", "ranks", "kinds"),
    [
        ("hta__nccl_parser_config__nccl_data", 2, {"all_reduce": 15, "broadcast": 6}),
        ("tracelens__mi300__resnet_act_checkpoint", 8, {"all_reduce": 6, "broadcast": 6, "unknown": 5}),
    ],
)
def test_one_real_rank_of_several(name: str, ranks: int, kinds: dict[str, int]):
    """Kinds and numbers as counted in the JSON by Collective name; no other rank was seen."""
    with open_trace(corpus.path(f"accelerators/field/{name}.json.gz"), cache=False) as trace:
        rows = trace.query(
            "SELECT kind, matched_by, wait_ps, COUNT(*) AS n FROM collective GROUP BY ALL"
        ).rows()
        told = trace.query("SELECT host_id, rank, ranks FROM capture").rows()
        clocks = trace.query("SELECT COUNT(*) AS n FROM clock_offset").rows()
    assert {kind: number for kind, _, _, number in rows} == kinds
    assert {(by, wait) for _, by, wait, _ in rows} == {("none", None)}
    assert told == [("rank-0", 0, ranks)]
    assert clocks == [(0,)]


@pytest.mark.repeats("reads recordings that do not ship")
def test_overlap_is_that_of_hta_but_for_its_rounding():
    """Per step as by brute force; HTA 0.5.0 says 14.31 % of the same file, without its last step."""
    file = corpus.path("accelerators/field/hta__nccl_parser_config__nccl_data.json.gz")
    events = json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    steps = {
        event["name"].partition("#")[2]: (event["ts"], event["ts"] + event["dur"])
        for event in events
        if event["name"].startswith("ProfilerStep") and event["cat"] == "user_annotation"
    }
    with open_trace(file, cache=False) as trace:
        rows = trace.ask(library.entry("communication_overlap")).rows()
    for _, _, what, _, _, exposed_ps, hidden_ps, overlap, _ in rows[1:]:
        talking, both = _kernels(kernels, *steps[what])
        assert (exposed_ps + hidden_ps) / 1e6 == pytest.approx(talking, abs=1)
        assert overlap == pytest.approx(both / talking, abs=1e-3)
    last = steps["6"][0]
    rounded = [
        {"name": one["name"], "ts": ceil(one["ts"]), "dur": floor(one["ts"] + one["dur"]) - ceil(one["ts"])}
        for one in kernels
        if one["ts"] < last
    ]
    talking, both = _kernels(rounded, 0, last + 1e9)
    assert round(100 * both / talking, 2) == 14.31


def _kernels(kernels: list[dict[str, Any]], begin: float, end: float) -> tuple[float, float]:
    """How long collectives run within a stretch, and others at the same time, in microseconds."""
    edges: list[tuple[float, bool, int]] = []
    for one in kernels:
        first, last = max(one["ts"], begin), min(one["ts"] + one["dur"], end)
        if first < last:
            talks = "nccl" in one["name"].lower()
            edges += [(first, talks, 1), (last, talks, -1)]
    open_now, talking, both, at = {True: 0, False: 0}, 0.0, 0.0, begin
    for moment, talks, change in sorted(edges):
        if open_now[True]:
            talking += moment - at
            both += moment - at if open_now[False] else 0
        open_now[talks] += change
        at = moment
    return talking, both
