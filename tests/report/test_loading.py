"""What is said of DataLoaders of PyTorch."""

from stepscope.code_lines import CodeLine
from stepscope.instruments.pipeline.loaders import Loading
from stepscope.report import loading


def test_a_short_wait_has_no_line() -> None:
    """Few samples tell it: one that lies beside it names a line that waits for nothing."""
    place = CodeLine("/a/train.py", 31, "forward")
    short = Loading("h", 1000, 4, place, ())
    assert loading.sentences([short]) == ["Steps wait for the DataLoader for 0.4 % of their time."]
    long = loading.sentences([Loading("h", 1000, 400, place, ())])
    assert long[0] == "Steps wait for the DataLoader for 40.0 % of their time, in /a/train.py:31 `forward`."
