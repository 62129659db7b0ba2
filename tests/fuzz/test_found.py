"""What fuzzing found stays a test; and each Python target runs a little on mutants of the samples."""

import importlib
import random
from pathlib import Path

import pytest

from stepscope import _core
from tests.corpus import SAMPLES
from tests.fuzz.targets import IMPORTED, TARGETS

FOUND = Path(__file__).resolve().parent / "found"
DECODERS = {
    "chrome_trace": ["chrome_trace"],
    "event_file": ["event_file"],
    "graph": ["graph"],
    "run_metadata": ["run_metadata"],
    "text_proto": ["run_metadata", "graph"],
    "xplane": ["xplane"],
}
PYTHON = {"checkpoint": "model", "hlo": "program"}
"""Targets of the core whose findings Python reaches through a target of its own."""
CASES = sorted(path for path in FOUND.glob("*/*") if path.is_file())
SMALL = sorted(path for path in SAMPLES.rglob("*") if path.is_file() and path.stat().st_size < 60_000)


@pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.name}-{path.name[:16]}")
def test_what_was_found_is_a_result_or_an_error(case: Path) -> None:
    data = case.read_bytes()
    name = PYTHON.get(case.parent.name, case.parent.name)
    if name in TARGETS:
        TARGETS[name](data)
        return
    for decoder in DECODERS[case.parent.name]:
        try:
            facts = _core.decode(decoder, _core.Input.bytes(data)).facts
        except _core.CoreError:
            continue
        assert facts["events_seen"] == facts["events_stored"] + facts["events_lost"]


@pytest.mark.parametrize("name", IMPORTED)
def test_what_atheris_instruments_is_there(name: str) -> None:
    assert importlib.import_module(f"stepscope.{name}")


@pytest.mark.parametrize("name", TARGETS)
def test_targets_survive_mutants_of_the_samples(name: str) -> None:
    chance = random.Random(name)
    for sample in chance.sample(SMALL, min(6, len(SMALL))):
        data = bytearray(sample.read_bytes())
        for _ in range(chance.randrange(1, 8)):
            at = chance.randrange(len(data))
            data[at : at + chance.randrange(4)] = chance.randbytes(chance.randrange(4))
        TARGETS[name](bytes(data[: chance.randrange(1, len(data) + 1)]))
