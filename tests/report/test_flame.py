"""What is said of a flame graph."""

from stepscope.instruments.flame import Flame, FlameBox, FlameFrame
from stepscope.report import flame
from stepscope.report.parts import SourceLine

MS = 10**9
MAIN = FlameFrame("main", "train.py", 9, "program")
CALLS = tuple(FlameFrame(name, f"tf/{name}.py", None, "library") for name in ("fit", "call", "execute"))


def drawn(**facts: object) -> Flame:
    boxes = (
        FlameBox(0, (MAIN,), 80 * MS, 20 * MS, {"python": 60 * MS, "wait": 20 * MS}, 0),
        FlameBox(1, CALLS, 40 * MS, 40 * MS, {}, 0),
        FlameBox(1, (), 20 * MS, 20 * MS, {}, 2),
    )
    whole = Flame("r", "h", "MainThread", 2, 100 * MS, 80 * MS, boxes, 2, MS // 4)
    return whole._replace(**facts)  # type: ignore[arg-type]


def test_a_thread_with_steps() -> None:
    section = flame.section([drawn()])
    (part,) = section.parts
    assert part.title == "The thread that runs the steps"
    assert part.subject == "MainThread"
    assert part.answer == (
        "80.0 ms of samples in 2 steps: 80.0 % of the time of the steps.",
        "Folded: 2 frames, which take less than 0.3 % each.",
    )
    main, calls, fold = part.tree.nodes
    assert (main.name, main.line, main.about) == (
        "main",
        SourceLine("train.py", 9),
        "python 75.0 %, wait 25.0 %",
    )
    assert (calls.name, calls.about) == ("fit → execute (and 1 between)", "tf/execute.py")
    assert (fold.name, fold.kind, fold.values) == ("2 smaller frames", "folded", (20 * MS, 0.25, None))
    assert [node.kind for node in part.tree.nodes] == ["program", "library", "folded"]


def test_one_of_a_kind() -> None:
    section = flame.section([drawn(steps=1, steps_ps=80 * MS, folded=1)])
    assert section.parts[0].answer == (
        "80.0 ms of samples in 1 step: 100.0 % of the time of the step.",
        "Folded: 1 frame, which takes less than 0.3 %.",
    )


def test_other_threads() -> None:
    """Three besides the one of the steps, each named; of several hosts with the host."""
    others = [drawn(steps=None, steps_ps=0, thread=name, folded=0) for name in ("a", "b", None, "d")]
    section = flame.section([drawn(), *others])
    assert [part.subject for part in section.parts] == ["MainThread", "a", "b", "(thread without a name)"]
    assert section.parts[1].answer == ("80.0 ms of samples, inside and outside steps.",)
    assert section.answer == (
        "1 more thread used less processor time; `stepscope export` writes the stacks of all.",
    )
    section = flame.section([drawn(), drawn(host_id="g")])
    assert section is not None
    assert [part.subject for part in section.parts] == ["r h MainThread", "r g MainThread"]


def test_no_samples_no_section() -> None:
    assert flame.section([]) is None
