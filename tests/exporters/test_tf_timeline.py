"""Timelines as TensorFlow makes them: golden/ has what TensorFlow 2.21 makes of a sample.

repeats_tf_timeline.py asks TensorFlow itself.
"""

import json
from pathlib import Path

import pytest

from stepscope import _core
from stepscope.cli import main
from tests import corpus
from tests.tiers import cases

SAMPLE = corpus.SAMPLES / "run_metadata" / "two_servers.pb"
GOLDEN = Path(__file__).parent / "golden"


def test_cut_files_end_in_a_timeline_or_an_error() -> None:
    data = SAMPLE.read_bytes()
    whole = json.loads(
        _core.tf_timeline(_core.Input.bytes(data), dataflow=True, memory=True, op_time="all")[0]
    )
    made = 0
    for length in range(0, len(data), cases(31, 7)):
        try:
            text, events, _, damage = _core.tf_timeline(
                _core.Input.bytes(data[:length]), dataflow=True, memory=True, op_time="all"
            )
        except _core.CoreError:
            continue
        made += 1
        found = json.loads(text)["traceEvents"]
        assert len(found) == events <= len(whole["traceEvents"])
        assert damage is None or damage[0] <= length
    assert made > 100


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "t.json"
    flags = ["--style", "tf-timeline", "--show-dataflow", "--show-memory", "--op-time", "all"]
    assert main(["export", str(SAMPLE), "-o", str(out), *flags]) == 0
    assert out.read_text() == (GOLDEN / "two_servers.all.json").read_text()
    assert "wrote" in capsys.readouterr().err
    assert main(["export", str(SAMPLE), "-o", "-", "--style", "tf-timeline"]) == 0
    assert capsys.readouterr().out == (GOLDEN / "two_servers.plain.json").read_text()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([SAMPLE.parent, "--style", "tf-timeline"], "one traced step"),
        ([corpus.SAMPLES / "chrome" / "phases.json", "--style", "tf-timeline"], "0 RunMetadata files"),
        ([SAMPLE, "--op-time", "gpu"], "--style tf-timeline"),
        ([SAMPLE, "--style", "tf-timeline", "--table", "slice"], "leave these out"),
    ],
)
def test_what_cannot_be_drawn(
    arguments: list[object], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "t.json"
    assert main(["export", *map(str, arguments), "-o", str(out)]) == 2
    assert told in capsys.readouterr().err
    assert not out.exists()
