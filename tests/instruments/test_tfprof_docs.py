"""The how-to page of tfprof lists the options, columns and orders that the engine has, in its words, and
shows what the commands of its examples print."""

import contextlib
import io
import re
import shlex
import sys
from pathlib import Path

import pytest

from stepscope.cli import main
from stepscope.instruments import tfprof

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "tfprof.md"
RESNET = "tests/samples/tf1/resnet32"


def blocks() -> list[list[str]]:
    """The lines of each example: a command behind a dollar, what is typed at its prompt, what it prints."""
    parts = PAGE.read_text(encoding="utf-8").split("```")[1::2]
    return [part.splitlines()[1:] for part in parts if part.startswith("text\n$ ")]


def test_the_page_lists_what_the_engine_does() -> None:
    page = PAGE.read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `(-?\w+)` \| (.+) \|$", page, re.MULTILINE))
    engine = {
        f"-{one.name}": f"{f'`{one.default}`' if one.default else 'none'} | {one.meaning}"
        for one in tfprof.options()
    }
    engine |= {name: meaning.replace("|", "\\|") for name, meaning in tfprof.columns().items()}
    assert told == engine
    assert "`-order_by` takes " + ", ".join(f"`{name}`" for name in tfprof.orders()) + "." in page


def test_all_examples_of_the_readme_are_there() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^\*\*(\d+)\.\*\* ", page, re.MULTILINE) == [str(number) for number in range(1, 14)]
    assert len(blocks()) == 14


@pytest.mark.parametrize("number", range(14))
def test_an_example_prints_what_the_page_shows(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *lines = blocks()[number]
    typed = [line.removeprefix("tfprof>").strip() for line in lines if line.startswith("tfprof>")]
    shown = [line for line in lines if not line.startswith("tfprof>")]
    words = shlex.split(first.removeprefix("$ ").replace("$R", str(ROOT / RESNET)))
    words = [
        word.replace("tests/", f"{ROOT}/tests/") if word.startswith("tests/") else word for word in words
    ]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in typed)))
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        assert main(words[1:]) == 0
    printed = [line.rstrip() for line in out.getvalue().splitlines()]
    if not shown:
        assert (tmp_path / "dump").read_text(encoding="utf-8").count("_TFProfRoot") == 1
    place = 0
    for part in "\n".join(line.rstrip() for line in shown).split("…"):
        wanted = [line for line in part.splitlines() if line.strip()]
        if not wanted:
            continue
        last = len(printed) - len(wanted) + 1
        found = next((at for at in range(place, last) if printed[at : at + len(wanted)] == wanted), None)
        assert found is not None, f"{first}\ndoes not print\n{part}"
        place = found + len(wanted)
