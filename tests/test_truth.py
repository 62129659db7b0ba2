"""What is said of recordings whose truth is known: steps, cause, findings, no view that contradicts another.

TRUTHS is the one table of that. Its rows are the samples; those of `tf_data` also carry what their programs
measured themselves. `make test` looks at a few that differ, `make test-all` at each and at the corpus.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import stepscope
from stepscope import library
from stepscope.instruments.pipeline import diagnoses
from stepscope.report import summary
from stepscope.session.trace import open as open_trace
from tests import corpus
from tests.contradictions import contradictions
from tests.corpus import SAMPLES

MS = 10**9


class Truth(NamedTuple):
    """What is true of a sample."""

    path: str
    steps: int
    """How many steps count into averages; 0 where nothing tells of steps."""
    cause: str | None
    """What limits a step: None where a recording has no time, "none" where nothing stands out."""
    findings: str = ""
    """The slugs of all findings, in order."""
    always: bool = False
    """Whether `make test` looks at it."""


TRUTHS = (
    Truth("tf_data/autotune_all.xplane.pb.gz", 20, "input", "input-wait"),
    Truth("tf_data/batch_big_copy.xplane.pb.gz", 12, "input", "input-wait"),
    Truth("tf_data/cache_after_heavy_map.xplane.pb.gz", 20, "compute", "dominant-op slow-step"),
    Truth("tf_data/cache_first_epoch.xplane.pb.gz", 7, "input", "input-wait"),
    Truth("tf_data/eager_loop_slow_map.xplane.pb.gz", 20, "input", "input-wait"),
    Truth("tf_data/guide_range_map_repeat_batch.xplane.pb.gz", 20, "compute", "dominant-op"),
    Truth("tf_data/interleave_sequential_gzip.xplane.pb.gz", 12, "input", "input-wait"),
    Truth("tf_data/keras_fit_slow_map.xplane.pb.gz", 20, "input", "input-wait slow-step", always=True),
    Truth("tf_data/list_files_shuffle_once.xplane.pb.gz", 20, "compute", "dominant-op slow-step"),
    Truth("tf_data/map_py_function.xplane.pb", 20, "input", "input-wait python-in-pipeline"),
    Truth("tf_data/mirrored_slow_map.xplane.pb.gz", 20, "input", "input-wait"),
    Truth("tf_data/not_bottleneck_prefetch.xplane.pb.gz", 20, "compute", "dominant-op", always=True),
    Truth("tf_data/tfrecord_map_batch_repeat.xplane.pb.gz", 20, "input", "input-wait slow-step"),
    Truth("tf_data/tfrecord_parallelmap2_batch_repeat.xplane.pb.gz", 20, "input", "input-wait slow-step"),
    Truth("tf_data/two_maps_first_slow.xplane.pb.gz", 20, "input", "input-wait"),
    Truth("capture/python_loop", 7, "python", "copies-between-ops python-between-ops", always=True),
    Truth("capture/slow_map", 15, "input", "input-wait python-in-pipeline slow-step"),
    Truth("run_metadata/two_servers.pb", 1, "communication", "few-steps unhidden-collectives", always=True),
    Truth("run_metadata/xla_cluster.pb", 1, "compute", "few-steps one-op-hides-the-rest"),
    Truth("run_metadata/xla_cluster.pbtxt", 1, "compute", "few-steps one-op-hides-the-rest"),
    Truth("xplane/jax.xplane.pb.gz", 5, "wait"),
    Truth("xplane/tf1_session.xplane.pb.gz", 10, "dispatch", "input-wait slow-step"),
    Truth("xplane/tf_xla.xplane.pb.gz", 5, "none", "slow-step", always=True),
    Truth("gpu/jax_graph.xplane.pb.gz", 13, "none"),
    Truth("gpu/jax_uploads.xplane.pb.gz", 14, "copy", "copies-in-steps device-idle", always=True),
    Truth("gpu/torch_svd.json.gz", 2, "compute", "dominant-op few-steps products-without-tensor-cores"),
    Truth("gpu/torch_uploads.json.gz", 3, "copy", "copies-in-steps"),
    Truth("chrome/horovod.json", 0, "communication", "collectives-overlap no-steps", always=True),
    Truth("chrome/jax.trace.json.gz", 3, "wait"),
    Truth("chrome/kineto.json.gz", 1, "input", "few-steps input-wait"),
    Truth("chrome/kineto_cuda.json", 1, "idle", "device-idle few-blocks few-steps", always=True),
    Truth("kineto/capitals_of_2021.json", 3, "idle", "copies-in-steps device-idle input-wait"),
    Truth("kineto/shared_row.json", 2, "idle", "device-idle few-steps host-sync"),
    Truth("kineto/unlabelled.json", 2, "idle", "copies-in-steps device-idle few-steps"),
    Truth("profile/memory.json", 0, None),
    Truth("event_file", 2, "compute", "dominant-op few-steps input-wait"),
    Truth("profiler_hook", 4, "compute", "dominant-op input-wait"),
)


def truths() -> Iterator[pytest.param]:
    """The table as parameters."""
    for truth in TRUTHS:
        marks = () if truth.always else (pytest.mark.repeats("another recording of the same kinds"),)
        yield pytest.param(truth, id=truth.path, marks=marks)


@pytest.mark.parametrize("truth", list(truths()))
def test_what_is_said_is_true(truth: Truth) -> None:
    with open_trace(SAMPLES / truth.path, cache=False) as trace:
        report = summary.build(trace)
        steps = trace.query("SELECT dur_ps, averaged FROM step ORDER BY ts_ps").rows()
        found = diagnoses.find(trace.query)
        assert list(contradictions(trace, report, found)) == []
    answer = report.document["answer"]
    assert sum(averaged for _, averaged in steps) == truth.steps
    assert (answer and answer["cause"]) == truth.cause
    assert sorted(finding.slug for finding in report.findings) == truth.findings.split()
    measured = _measured(truth.path)
    if measured:
        # The last of the recorded steps ends when the recording does.
        for (dur_ps, _), ms in zip(steps[:-1], measured[:-1], strict=True):
            assert dur_ps / MS == pytest.approx(ms, rel=0.05, abs=1.5)
        mean_ms = sum(dur_ps for dur_ps, _ in steps) / len(steps) / MS
        assert mean_ms == pytest.approx(sum(measured) / len(measured), rel=0.02)


def _measured(path: str) -> list[float]:
    """How long each step took by the clock of the program, in milliseconds; empty where that is not known."""
    folder, _, name = path.partition("/")
    known = corpus.truths().get(name.partition(".")[0], {}) if folder == "tf_data" else {}
    measured = known.get("step_ms_traced", [])
    assert isinstance(measured, list)
    return measured


KINDS = ("*.pb", "*.json", "*.gz")
NOT_RECORDED = ("truth.json", "plugins_list", ".hlo.", "graph.pb", "snapshot")


def of_the_corpus() -> Iterator[pytest.param]:
    """Every recording of the corpus where it lies beside the clone."""
    for folder in ("accelerators", "events", "jax", "tf1", "tfdata", "torch", "xla_dumps"):
        for kind in KINDS:
            for path in corpus.files(f"{folder}/**/{kind}"):
                if path.is_file() and not any(part in str(path) for part in NOT_RECORDED):
                    yield pytest.param(path, id=str(path.relative_to(corpus.ROOT)))


@pytest.mark.repeats("every recording of the corpus")
@pytest.mark.parametrize("path", list(of_the_corpus()))
def test_no_view_of_the_corpus_contradicts_another(path: Path) -> None:
    """Every question is answered, findings have a weight, and no view contradicts another."""
    try:
        trace = open_trace(path, cache=False)
        report = summary.build(trace)
    except stepscope.StepscopeError:
        return  # it says by itself that it is no recording, or a damaged one
    with trace:
        assert list(contradictions(trace, report, diagnoses.find(trace.query))) == []
        trace.answers([library.entry(name) for name in library.names("analysis")])
        assert trace.query("SELECT COUNT(*) FROM slice WHERE self_ps < 0 OR dur_ps < 0").rows() == [(0,)]
        assert all(finding.severity in ("high", "medium", "low", "info") for finding in report.findings)


@pytest.mark.repeats("not among the samples")
@pytest.mark.parametrize("path", corpus.files("tfdata/*/truth.json"), ids=lambda path: path.parent.name)
def test_the_pipelines_of_the_corpus(path: Path) -> None:
    """Waiting for input is found where it holds the program up, and nowhere else."""
    told = json.loads(path.read_text())
    with open_trace(path.parent, cache=False) as trace:
        found = {finding.slug for finding in summary.build(trace).findings}
    expected = {"input-wait"} if told["expected_bound"] else set()
    expected |= {"matching-files"} if told["bottleneck"] == "matching_files" else set()
    expected |= {"python-in-pipeline"} if "pyfunction" in told["case"] else set()
    # Where the model itself computes, one type of op may take most of that.
    assert found - {"slow-step"} - (set() if expected else {"dominant-op"}) == expected
