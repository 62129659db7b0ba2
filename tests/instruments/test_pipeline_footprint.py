"""What a cache would take of the memory."""

import json
from dataclasses import replace
from pathlib import Path

from stepscope.instruments.pipeline import footprint
from stepscope.instruments.pipeline.accounting import Account
from stepscope.instruments.pipeline.diagnosis import CaptureEvidence
from stepscope.instruments.pipeline.host import Machine
from stepscope.instruments.pipeline.load import Load
from stepscope.instruments.pipeline.places import UserStage
from stepscope.instruments.pipeline.verdict import diagnose
from stepscope.report import pipeline_changes
from tests.asked import ask
from tests.each import each
from tests.formats.capture_folder import write
from tests.instruments.pipelines import sequential

MIB = 2**20


def load() -> Load:
    """A stage of whose elements a batch takes 8, of 1 MiB each."""
    drawn, times = sequential()
    account = Account(0, 80, 8.0, 8 * MIB, None, None, False, None)
    return replace(diagnose(drawn.calls(), times).loads[2], account=account)


def place(**arguments: int) -> UserStage:
    return UserStage(0, 1, "map", "MapDataset", "train.py", 3, "d.map(f)", json.dumps(arguments))


def free(available: int | None) -> Machine:
    return Machine(2, 0.5, 0.5, 1.0, available_bytes=available)


@each(
    ("written", "machine", "fits", "said"),
    [
        (place(cardinality=100), free(200 * MIB), True, "100 MiB (100 elements of 1.00 MiB) of the 200 MiB"),
        (place(cardinality=190), free(200 * MIB), False, "(190 elements of 1.00 MiB), and only 200 MiB"),
        (place(cardinality=100), free(None), None, "the free memory is unknown"),
        (place(cardinality=100), None, None, "the free memory is unknown"),
        (place(), free(200 * MIB), None, "the number of its elements is unknown"),
        (place(cardinality=-1), free(200 * MIB), False, "never ends: put the cache before"),
    ],
)  # fmt: skip
def test_a_cache_fits_or_does_not(
    written: UserStage, machine: Machine | None, fits: bool | None, said: str
) -> None:
    found = footprint.cache(load(), [written], machine)
    assert found.fits is fits
    assert said in pipeline_changes.takes(found)


def test_without_a_model_bytes_are_unknown() -> None:
    drawn, times = sequential()
    bare = diagnose(drawn.calls(), times).loads[2]
    found = footprint.cache(bare, [place(cardinality=100)], free(MIB))
    assert found.fits is None
    assert "the size of its elements is unknown" in pipeline_changes.takes(found)
    assert footprint.batch([bare]) is None
    assert footprint.batch([load()]) == 8 * MIB


def test_a_cache_behind_what_never_ends_does_not_help() -> None:
    drawn, times = sequential()
    for cardinality, helps in ((-1, False), (100, True)):
        where = UserStage(0, 1, "map", "MapDataset", "t.py", 3, "x", json.dumps({"cardinality": cardinality}))
        found = diagnose(drawn.calls(), times, beside=CaptureEvidence(places=[where]))
        assert next(one for one in found.changes if one.name == "cache_here").helps is helps


def test_a_capture_tells_elements(tmp_path: Path) -> None:
    chain = [{"position": 0, "transformation": "map", "cardinality": 7, "arguments": {"x": 1}}]
    chain.append({"position": 1, "transformation": "batch", "arguments": [3]})
    datasets = json.dumps([{"iterator": 0, "chain": chain}]).encode()
    folder = write(tmp_path / "capture", xplane=False, pipeline__datasets_json=datasets)
    rows = ask(folder, "SELECT args_json FROM user_stage ORDER BY position")
    assert [json.loads(row[0]) for row in rows] == [{"x": 1, "cardinality": 7}, {}]
