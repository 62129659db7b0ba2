"""Which variables hold arrays, and which line keeps them: with NumPy's arrays, which every test has."""

import gc
import importlib.util
import mmap
import sys
import weakref
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from stepscope.capture import holders
from stepscope.capture.arrays import Arrays
from stepscope.capture.holders import HeldSize, Root, Walk
from stepscope.capture.keeping_lines import Keeping
from stepscope.capture.memory import MemoryWatch

PROGRAM = """
import numpy as np
from collections import deque

WEIGHTS = {"dense": np.zeros(1000, "u1"), "bias": [np.zeros(10, "u1")]}
LOOKED = []

class Trainer:
    def __init__(self):
        self._losses = []
        self.best = None

    def keep(self, value):
        self._losses.append(value)
        self.best = value

class Slots:
    __slots__ = ("kept",)

def run(look):
    trainer, recent, slots = Trainer(), deque(maxlen=2), Slots()
    table = np.zeros((100, 100), "u1")
    view = table[:50]
    slots.kept = np.zeros(77, "u1")
    given = np.zeros(5000, "u1")
    trainer.keep(np.zeros(300, "u1"))
    trainer.keep(np.zeros(300, "u1"))
    for _ in range(5):
        recent.append(np.zeros(20, "u1"))

    def inner(passed):
        look()
        seen.append(1)

    seen = []
    inner(given)
"""


@pytest.fixture(autouse=True)
def few_roots(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests are a large program, too, at which a look takes seconds: these look at this file's variables
    and at those of the program above."""
    every = Walk._roots
    ours = (Path(__file__).name, "program_of_memory.py")

    def roots(walk: Walk) -> Iterator[tuple[Any, Root, str]]:
        for found in every(walk):
            if Path(found[1].path).name in ours:
                yield found

    monkeypatch.setattr(Walk, "_roots", roots)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.setattr(holders, "MOST_NS", 10**12)  # on a busy machine
    path = tmp_path / "program_of_memory.py"
    path.write_text(PROGRAM)
    spec = importlib.util.spec_from_file_location("program_of_memory", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["program_of_memory"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["program_of_memory"]


def of(walk: Walk) -> dict[tuple[str | None, str], HeldSize]:
    """What is held, by function and name, of the program above: this file is a program, too."""
    return {
        (one.root.function, one.name): held
        for one, held in walk.found.items()
        if one.root.path.endswith("program_of_memory.py")
    }


def test_arrays_are_told_by_their_oldest_name_and_once(program: ModuleType) -> None:
    walks = []

    def look() -> None:
        walks.append(Walk())
        walks[-1].run()

    program.run(look)
    assert of(walks[0]) == {
        (None, "WEIGHTS"): HeldSize(1010, 2),
        ("run", "trainer._losses"): HeldSize(300, 1),
        ("run", "trainer.best"): HeldSize(300, 1),  # in the list, too; this is nearer to the variable
        ("run", "recent"): HeldSize(40, 2),
        ("run", "table"): HeldSize(10_000, 1),
        ("run", "slots.kept"): HeldSize(77, 1),
        ("run", "given"): HeldSize(5000, 1),
    }
    assert not walks[0].cut


def test_what_was_looked_at_is_let_go_of(program: ModuleType) -> None:
    class Box:
        pass

    def looked() -> weakref.ref[Box]:
        box = Box()
        Walk().run()
        there = weakref.ref(box)
        box = Box()
        assert there() is None, "the variable has another value, and nobody keeps the old one"
        return there

    gc.disable()
    try:
        looked()
    finally:
        gc.enable()


def test_locals_that_the_program_has_asked_for_stay() -> None:
    def asks() -> dict[str, Any]:
        rate = 3
        mine = locals()
        Walk().run()
        assert mine["rate"] == rate
        return mine

    assert asks()["rate"] == 3


@pytest.mark.parametrize(
    ("name", "begin", "line", "grows"),
    [
        ("WEIGHTS", None, "WEIGHTS = {", False),
        ("trainer._losses", "def run", "self._losses.append(value)", True),
        ("trainer.best", "def run", "self.best = None", False),
        ("recent", "def run", "recent.append(", True),
        ("slots.kept", "def run", "slots.kept = ", False),
        ("trainer.unheard_of", "def run", "trainer, recent, slots = ", False),
        ("passed", "def inner", "def inner(passed)", False),
        ("unheard_of", "def inner", None, None),
        ("seen", "def run", "seen.append(1)", True),
        ("seen", "def inner", "seen.append(1)", True),
    ],
)
def test_the_line_that_keeps(
    program: ModuleType, name: str, begin: str | None, line: str | None, grows: bool | None
) -> None:
    text = PROGRAM.splitlines()

    def number(words: str) -> int:
        return next(i for i, one in enumerate(text, 1) if words in one)

    found = Keeping().of(str(program.__file__), name, number(begin) if begin else None)
    if line is None:
        assert found is None
        return
    assert (found.line, found.grows) == (number(line), grows)


def test_a_variable_of_a_module_is_not_the_parameter_of_its_name(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("def step(w, x):\n    x = x + 1\n    return w\n\nw = x = 1\nw = step(w, x)\n")
    assert Keeping().of(str(path), "w", None) == (5, "<module>", False)
    assert Keeping().of(str(path), "x", None) == (5, "<module>", False)
    assert Keeping().of(str(path), "x", 1) == (1, "step", False)


def test_a_loop_sets_its_variables(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(
        "def item(x):\n    x = x + 1\n    return x\n\nfor i, (x, *y) in enumerate([(1, 2)]):\n    item(x)\n"
    )
    assert Keeping().of(str(path), "x", None) == (5, "<module>", False)
    assert Keeping().of(str(path), "y", None) == (5, "<module>", False)


@pytest.mark.parametrize("text", ["def f(:", "\0", None])
def test_text_that_cannot_be_read_tells_no_line(text: str | None, tmp_path: Path) -> None:
    path = tmp_path / "gone.py"
    if text is not None:
        path.write_text(text)
    assert Keeping().of(str(path), "x", None) is None


def test_looks_tell_what_has_grown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holders, "MOST_NS", 10**12)
    lines: list[dict[str, Any]] = []
    memory = MemoryWatch(lines.append)
    kept: deque[Any] = deque()
    for steps in (4, 14):
        memory.look(steps)
        kept.extend(np.zeros(2048, "u1") for _ in range(10))
    memory.look(24)
    told = [one for one in lines if one.get("holder") == "kept"]
    assert [(one["look"], one["bytes"], one.get("was_bytes")) for one in told] == [
        (2, 20_480, 0),
        (3, 40_960, 20_480),
    ]
    assert told[0]["puts"]
    assert "kept.extend(" in Path(__file__).read_text().splitlines()[told[0]["line"] - 1]
    looks = [(one["look"], one["steps"]) for one in lines if "holder" not in one]
    assert looks == [(1, 4), (2, 14), (3, 24)]


def test_what_a_cut_look_did_not_see_has_not_grown_from_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[dict[str, Any]] = []
    memory = MemoryWatch(lines.append)
    kept = [np.zeros(2048, "u1")]
    monkeypatch.setattr(holders, "MOST_NS", -(10**12))
    monkeypatch.setattr(holders, "_EVERY", 1)
    memory.look(4)
    assert [one["cut"] for one in lines if "holder" not in one] == [True]
    seen = any(one.get("holder") == "kept" for one in lines)
    monkeypatch.setattr(holders, "MOST_NS", 10**12)
    memory.look(14)
    (line,) = (one for one in lines if one.get("holder") == "kept" and one["look"] == 2)
    assert line["bytes"] == kept[0].nbytes
    assert line.get("was_bytes") == (2048 if seen else None)


def test_a_look_holds_nothing_of_functions_that_end() -> None:
    """An iterator of TensorFlow that is freed when the interpreter ends, not when its loop does, hangs it."""

    def loop() -> weakref.ref[ModuleType]:
        held = ModuleType("held")
        MemoryWatch(lambda line: None).look(4)
        return weakref.ref(held)

    was_enabled = gc.isenabled()
    gc.disable()
    try:
        assert loop()() is None
    finally:
        if was_enabled:
            gc.enable()


def test_memory_of_others_is_held_and_that_of_a_file_is_not(tmp_path: Path) -> None:
    arrays = Arrays()
    data = bytes(4096)
    shown = np.frombuffer(memoryview(data), "u1")
    parts = [shown[10:20], shown[:5].reshape(5, 1)]
    found = [arrays.of(one) for one in (shown, *parts)]
    assert [(one.identity, one.bytes) for one in found if one is not None] == [(id(data), 4096)] * 3
    path = tmp_path / "file"
    path.write_bytes(data)
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        of_file = np.frombuffer(mapped, "u1")
        assert arrays.of(of_file) is None
        assert arrays.of(of_file[4:]) is None
        assert arrays.of(np.asarray(np.memmap(path, "u1"))) is None
        del of_file


def test_a_proxy_without_a_dict_of_its_own_has_no_attributes() -> None:
    """TensorFlow 2.5 wraps dictionaries in such objects."""

    class Proxy:
        @property
        def __dict__(self) -> Any:  # type: ignore[override]
            raise TypeError("this __dict__ descriptor does not support 'Proxy' objects")

    assert list(holders._attributes(Proxy())) == []
