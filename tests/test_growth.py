"""Nothing grows faster than its work: lines of Python that run for recordings of two lengths.

benchmarks/growth.py measures time and memory of everything, also of what the engine and the core do.
"""

import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType, ModuleType, SimpleNamespace
from typing import Any

import pytest

from stepscope.cli import main, verbs
from stepscope.server import app
from tests.scripts import load
from tests.tiers import some

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
SIZES = (250, 1000)
MOST_LINES = {"cpuprofile": 25, "torch_memory": 130}
"""Lines of Python that decoding and summing up may run for an event, by the format of a profile."""
MANY = 1500
"""Lines of a function from which on its growth counts: below, one more block of rows is a jump."""


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    """What makes the recordings."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        return load(BENCHMARKS / "generate_growth.py")


@pytest.fixture(scope="module")
def recordings(generate: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> dict[int, str]:
    """Folders with a recording of PyTorch and one of TensorFlow, by their events."""
    folder = tmp_path_factory.mktemp("growth")
    for events in SIZES:
        for form in ("kineto", "xplane"):
            generate.write(folder / str(events), form, "long", events)
    return {events: str(folder / str(events)) for events in SIZES}


def lines_of(words: list[str]) -> Counter[CodeType]:
    """How many lines of each of our functions run in this thread for a command line."""
    found: Counter[CodeType] = Counter()

    def stepped(frame: FrameType, event: str, argument: Any) -> Any:
        found[frame.f_code] += event == "line"
        return stepped

    def called(frame: FrameType, event: str, argument: Any) -> Any:
        return stepped if "stepscope" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(called)
    try:
        assert main(words) == 0
    finally:
        sys.settrace(before)
    return found


@pytest.mark.parametrize("verb", ["memory", "pipeline"])
def test_no_function_grows_faster_than_its_work(
    verb: str, recordings: dict[int, str], capsys: pytest.CaptureFixture[str]
) -> None:
    counts = []
    for events in SIZES:
        counts.append(lines_of([verb, recordings[events], "--no-cache"]))
    capsys.readouterr()
    few, many = counts
    assert sum(many.values()) > 2 * MANY
    grown = {
        f"{code.co_filename}:{code.co_firstlineno} {code.co_name}": (few[code], count)
        for code, count in many.items()
        if count > MANY and count > 1.25 * SIZES[1] / SIZES[0] * max(few[code], MANY / 10)
    }
    assert grown == {}


@pytest.mark.parametrize("form", some(MOST_LINES, ("cpuprofile",), "two profiles"))
def test_an_event_of_a_profile_runs_few_lines(
    form: str, generate: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [
        ["summary", str(generate.write(tmp_path, form, "deep", events)), "--no-cache"] for events in SIZES
    ]
    main(words[0])  # the first time modules are imported
    few, many = (lines_of(one).total() for one in words)
    capsys.readouterr()
    assert 0 < (many - few) / (SIZES[1] - SIZES[0]) < MOST_LINES[form]


def test_every_verb_and_route_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new one has to be added to the benchmark, or to those that it leaves out and why."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    growth, page = load(BENCHMARKS / "growth.py"), load(BENCHMARKS / "growth_page.py")
    assert growth.words_of("t.json", tmp_path).keys() | growth.WITHOUT.keys() == set(verbs())
    asked = SimpleNamespace(span="from=0&to=1", tracks="0", slice="0")
    names = {name.partition(" ")[0] for name, _ in page.questions(asked)}
    routes = {path.removeprefix("/api/").removesuffix("/{id}") for _, path, _ in app.API}
    assert {name.removesuffix("/{id}") for name in names} == routes - {"session", "reload", "add"}
