"""Thresholds say what they were fitted on and how much slack they have, and that is so."""

import pytest

from stepscope import reference
from stepscope.instruments.causes import catalogue
from stepscope.instruments.causes.all_causes import CAUSES
from stepscope.instruments.step_breakdown.labels import LABELS
from stepscope.session.trace import open as open_trace
from tests.instruments.threshold_slack import SAMPLES, CachedRecording, changed_by

ENTRIES = list(catalogue.causes())
ALL = [(entry, one) for entry in ENTRIES for one in entry.thresholds]


def test_every_label_has_its_cause() -> None:
    assert set(CAUSES) == {*LABELS, "none"}
    assert [entry.name for entry in ENTRIES if entry.name in LABELS] == list(LABELS)


@pytest.mark.parametrize(("entry", "one"), ALL, ids=[f"{entry.name}.{one.name}" for entry, one in ALL])
def test_a_threshold_lies_within_its_slack(entry: catalogue.CatalogueEntry, one: catalogue.Threshold) -> None:
    low, high = one.slack or (0.0, one.value)
    assert low <= one.value <= high
    assert bool(one.by) == (one.range() not in ("any value", "not measured"))
    assert all((SAMPLES / name).exists() for name in one.by)


def test_the_reference_has_a_row_for_each() -> None:
    text = reference.look_up("causes")
    assert all(f"| `{one.name}` | {one.value:,} | " in text for _, one in ALL)
    assert "0.248 to 0.289 | profiler_hook, tf_guide/files_in_order.xplane.pb.gz |" in text


def test_an_answer_changes_beyond_the_slack() -> None:
    (entry,) = (entry for entry in ENTRIES if entry.name == "input")
    with open_trace(SAMPLES / "profiler_hook") as trace:
        recording = CachedRecording("profiler_hook", trace)
        low, high = 0.248, 0.289
        assert changed_by(entry.group, "stands_out", low, [recording]) == set()
        assert changed_by(entry.group, "stands_out", high, [recording]) == set()
        assert changed_by(entry.group, "stands_out", 0.95 * low, [recording]) == {"profiler_hook"}
        assert entry.group.stands_out == 0.25
