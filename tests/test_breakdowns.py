"""Parts of steps beside the breakdowns of xprof and HTA on the same files; docs/parts-of-a-step.md has these
figures."""

import gzip
import json
from collections import defaultdict
from pathlib import Path

import pytest

import stepscope
from tests import corpus
from tests.instruments import breakdown_twins as hta

PAGE = Path(__file__).resolve().parents[1] / "docs" / "parts-of-a-step.md"
KINETO = [
    *sorted(corpus.SAMPLES.glob("kineto/*.json")),
    *corpus.files("accelerators/field/kineto-2021__resnet50_num_workers_0*.gz"),
    *corpus.files("accelerators/field/tracelens__mi300__gaunernst*.gz"),
    *corpus.files("accelerators/kineto-gpu/sampled_rank-0.json.gz"),
]
XPROF = {
    "jax.xplane.pb.gz": (
        (2_607_200, 53_250, 2_660_450),
        (2_488_014, 11_146, 2_499_160),
        (2_338_940, 8_153, 2_347_093),
        (2_386_190, 8_313, 2_394_503),
        (2_409_354, 6_901, 2_416_255),
    ),
    "tf_xla.xplane.pb.gz": (
        (1_294_031, 130_205, 1_424_236),
        (625_973, 25_178, 651_151),
        (503_983, 16_634, 520_617),
        (491_052, 17_767, 508_819),
        (490_061, 17_907, 507_968),
    ),
}
"""What xprof 2.24 says of these files, step by step, in nanoseconds: Host compute, All others, the step.
Its other parts are zero."""
MS = 10**9


def parts(path: Path) -> list[dict[str, int]]:
    """Labels of each step, in the order of time, in picoseconds."""
    found: dict[int, dict[str, int]] = defaultdict(dict)
    with stepscope.open(path, cache=False) as trace:
        for step, label, dur_ps in trace.query(
            "SELECT s.ts_ps, p.label, p.dur_ps FROM step AS s, step_part AS p WHERE p.step_id = s.id"
        ).rows():
            found[step][label] = found[step].get(label, 0) + dur_ps
    return [found[step] for step in sorted(found)]


@pytest.mark.parametrize("name", sorted(XPROF))
def test_steps_are_as_long_as_xprof_says(name: str) -> None:
    """To the nanosecond; and what we call compute is part of what xprof calls Host compute."""
    own = parts(corpus.SAMPLES / "xplane" / name)
    assert [sum(labels.values()) for labels in own] == [step * 1000 for _, _, step in XPROF[name]]
    for labels, (host, others, step) in zip(own, XPROF[name], strict=True):
        assert host + others == step
        assert labels["compute"] <= host * 1000


def test_figures_beside_xprof() -> None:
    """Rows of the page, in ms a step."""
    for name, told in XPROF.items():
        own = parts(corpus.SAMPLES / "xplane" / name)
        mean = {label: sum(one.get(label, 0) for one in own) / len(own) / MS for one in own for label in one}
        host, others, _ = (sum(column) / len(told) / 10**6 for column in zip(*told, strict=True))
        shown = sorted(((ms, label) for label, ms in mean.items() if ms), reverse=True)
        labels = ", ".join(f"{label} {ms:.2f}" for ms, label in shown)
        row = f"| `{name.partition('.')[0]}` | Host compute {host:.2f}, All others {others:.2f} | {labels} |"
        assert row in PAGE.read_text(encoding="utf-8")


def windows(path: Path) -> list[hta.Interval]:
    """The steps that torch.profiler marked, of the host; a second reading of the file."""
    text = (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()).decode()
    whole = json.loads(text, parse_float=hta.Decimal)
    events = whole["traceEvents"] if isinstance(whole, dict) else whole
    marks = [
        one
        for one in events
        if one.get("ph") == "X"
        and str(one.get("name")).startswith("ProfilerStep#")
        and "gpu" not in str(one.get("cat")).lower()
    ]
    begins = [(int(hta.Decimal(one["ts"]) * 10**6), int(hta.Decimal(one["dur"]) * 10**6)) for one in marks]
    return sorted((begin, begin + dur) for begin, dur in set(begins))


@pytest.mark.parametrize("path", KINETO, ids=lambda path: path.name[:40])
def test_gpu_time_is_what_hta_says(path: Path) -> None:
    """Within each step, to the picosecond: compute is HTA's, communication is its communication without the
    overlap, copies are the rest of its non-compute, and all other labels are its idle time."""
    kinds = hta.executions(path)
    for labels, window in zip(parts(path), windows(path), strict=True):
        twin = hta.breakdown(kinds, window)
        assert sum(labels.values()) == window[1] - window[0]
        assert labels.get("compute", 0) == twin.compute
        alone = twin.communication - twin.overlapped
        assert labels.get("communication", 0) == alone
        assert labels.get("copy", 0) >= twin.non_compute - alone  # and conversions on the host


def test_figures_beside_hta() -> None:
    """Rows of the page: shares of the steps."""
    for path in KINETO[:3]:
        steps = windows(path)
        sums = [
            sum(column)
            for column in zip(*(hta.breakdown(hta.executions(path), one) for one in steps), strict=True)
        ]
        own: dict[str, int] = defaultdict(int)
        for labels in parts(path):
            for label, dur_ps in labels.items():
                own[label] += dur_ps
        whole = hta.length(steps)
        told = ", ".join(
            f"{what} {100 * ps / whole:.1f}"
            for what, ps in zip(("idle", "compute", "non-compute"), sums, strict=False)
        )
        shown = sorted(((ps, label) for label, ps in own.items() if ps), reverse=True)
        labels_ = ", ".join(f"{label} {100 * ps / whole:.1f}" for ps, label in shown)
        assert f"| `{path.stem}` | {told} | {labels_} |" in PAGE.read_text(encoding="utf-8")
