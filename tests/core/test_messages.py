"""The tables of TensorFlow's messages are those of the TensorFlow that is pinned."""

from pathlib import Path

from tests.later import protos_only
from tests.scripts import load

SCRIPT = Path(__file__).parents[2] / "crates" / "core" / "messages.py"


def test_the_tables_are_current() -> None:
    with protos_only():
        script = load(SCRIPT)
    assert script.OUT.read_text() == script.text(), f"run python {SCRIPT.relative_to(Path.cwd())}"
