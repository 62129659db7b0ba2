"""Stacks as a tree of calls: nothing is lost, small things are folded and counted, and steps come first."""

from collections import Counter, defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.engines import Statement
from stepscope.instruments import flame
from stepscope.instruments.flame import MOST_BOXES, MOST_DEPTH, Flame, FlameBox, FlameFrame
from tests.draw import Tables
from tests.tiers import cases

MS = 10**9


def find(tables: Tables) -> list[Flame]:
    connection = tables.shared(sums=False)

    def query(asked: Statement) -> Any:
        found = connection.execute(asked.sql)
        return type("Answer", (), {"rows": staticmethod(found.fetchall)})

    return flame.find(query)


def stack(tables: Tables, *frames: tuple[str, str]) -> int:
    """A stack of functions and whose code they are, the outermost first; a line is 7 after the name."""
    parent: int | None = None
    for function, code in frames:
        facts = {"function": function, "file": "a.py", "line": 7, "module": "a", "code": code}
        frame = tables.add("frame", **facts)["id"]
        parent = tables.add("stack", parent_id=parent, frame_id=frame)["id"]
    assert parent is not None
    return parent


def look(tables: Tables, of: int, ms: float, main: bool = True, name: str = "t", cpu_ms: float = 0) -> None:
    facts = {"weight_ps": round(ms * MS), "cpu_ps": round(cpu_ms * MS), "thread_name": name}
    tables.add("stack_sample", stack_id=of, is_main=main, **facts)


MAIN, LOAD, READ = ("main", "program"), ("load", "program"), ("read", "python")


def names(found: Flame) -> list[tuple[int, str, int]]:
    """Depth, functions and milliseconds of each box."""
    return [
        (box.depth, ">".join(one.function for one in box.frames) or f"{box.folded} folded", box.time_ps // MS)
        for box in found.boxes
    ]


def test_calls_of_a_thread() -> None:
    tables = Tables()
    look(tables, stack(tables, MAIN, LOAD, READ), 30)
    look(tables, stack(tables, MAIN, LOAD), 10)
    look(tables, stack(tables, MAIN), 5)
    look(tables, stack(tables, ("wait", "python")), 60, main=False, name="idle", cpu_ms=0)
    look(tables, stack(tables, ("work", "library")), 20, main=False, name="busy", cpu_ms=20)
    main, busy, idle = find(tables)
    assert names(main) == [(0, "main", 45), (1, "load", 40), (2, "read", 30)]
    assert [box.own_ps // MS for box in main.boxes] == [5, 10, 30]
    assert main.boxes[0].frames == (FlameFrame("main", "a.py", 7, "program"),)
    assert main.boxes[2].frames[0].line is None, "lines of libraries are not told apart"
    assert (main.steps, main.folded) == (None, 0)
    assert [one.thread for one in (main, busy, idle)] == ["t", "busy", "idle"]


def test_the_time_of_steps_with_what_it_counts_to() -> None:
    """Only steps that averages include; samples outside of steps do not count."""
    tables = Tables()
    tables.source()
    for number, averaged in enumerate((False, True, True)):
        facts = {"recovered_from": "marker", "kind": "train", "averaged": averaged}
        tables.add("step_stored", step=number, ts_ps=number * 100 * MS, dur_ps=100 * MS, **facts)
    within = stack(tables, MAIN, LOAD)
    look(tables, within, 1000)
    for step in range(3):
        for label, ms in (("python", 30), ("wait", 10)):
            tables.add("step_part", step_id=step, label=label, dur_ps=ms * MS)
            tables.add("stack_part", step_id=step, stack_id=within, label=label, dur_ps=ms * MS)
    (found,) = find(tables)
    assert (found.steps, found.steps_ps, found.time_ps) == (2, 200 * MS, 80 * MS)
    assert found.boxes[1].labels == {"python": 60 * MS, "wait": 20 * MS}


def test_libraries_that_pass_a_call_on_are_one_box() -> None:
    tables = Tables()
    inner = [("fit", "library"), ("wrapper", "library"), ("execute", "library")]
    look(tables, stack(tables, MAIN, *inner), 10)
    look(tables, stack(tables, MAIN, *inner, LOAD), 5)
    (found,) = find(tables)
    assert names(found) == [(0, "main", 15), (1, "fit>wrapper>execute", 15), (2, "load", 5)]
    assert found.boxes[1].own_ps == 10 * MS


def test_small_frames_are_folded_and_counted() -> None:
    tables = Tables()
    look(tables, stack(tables, MAIN, LOAD), 995)
    for number in range(5):
        look(tables, stack(tables, MAIN, (f"f{number}", "library"), (f"g{number}", "program")), 1)
    look(tables, stack(tables, MAIN, LOAD, READ), 1)  # a fold too narrow to be drawn
    (found,) = find(tables)
    assert names(found) == [(0, "main", 1001), (1, "load", 996), (1, "10 folded", 5)]
    assert found.folded == 11
    assert found.least_ps == round(1001 * MS * 0.003)


@pytest.mark.repeats("only their number is new")
def test_there_are_never_too_many_boxes() -> None:
    """Neither beside each other nor on top of each other, however many frames there are."""
    tables = Tables()
    for number in range(250):
        look(tables, stack(tables, *((f"f{number}", "program"),) * 8), 1)
    look(tables, stack(tables, *(((f"d{i}", "program")) for i in range(MOST_DEPTH + 30))), 50)
    (found,) = find(tables)
    assert len(found.boxes) <= MOST_BOXES
    assert max(box.depth for box in found.boxes) <= MOST_DEPTH
    assert sum(box.time_ps for box in found.boxes if not box.depth) == found.time_ps == 300 * MS
    assert found.folded == 250 * 8 + 30


_paths = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["program", "library"])), min_size=1, max_size=6
)


@settings(max_examples=cases(20, 200), deadline=None)
@given(drawn=st.lists(st.tuples(_paths, st.integers(0, 400)), max_size=12))
def test_boxes_agree_with_their_twin(drawn: list[tuple[list[tuple[str, str]], int]]) -> None:
    """Each box has the time of all paths that begin like it; what is in no box is in a fold."""
    tables = Tables()
    for path, ms in drawn:
        look(tables, stack(tables, *path), ms)
    times: Counter[tuple[tuple[str, str], ...]] = Counter()
    for path, ms in drawn:
        for depth in range(len(path)):
            times[tuple(path[: depth + 1])] += ms
    whole = sum(ms for _, ms in drawn)
    found = find(tables)
    assert bool(found) == bool(whole)
    if not found:
        return
    (one,) = found
    above: list[tuple[FlameFrame, ...]] = []
    around: list[int] = []
    inside: dict[int, list[FlameBox]] = defaultdict(list)  # by the number of the box around them
    seen = set()
    for number, box in enumerate(one.boxes):
        del above[box.depth :], around[box.depth :]
        inside[around[-1] if around else -1].append(box)
        above.append(box.frames)
        around.append(number)
        if box.frames:
            outer = [frame for frames in above[:-1] for frame in frames]
            key = tuple((frame.function, frame.code) for frame in (*outer, box.frames[0]))
            assert key not in seen
            seen.add(key)
            assert box.time_ps == times[key] * MS >= one.least_ps
    assert sum(box.time_ps for box in inside[-1]) <= one.time_ps == whole * MS
    for number, box in enumerate(one.boxes):
        assert sum(inner.time_ps for inner in inside[number]) <= box.time_ps
        kept = [inner.time_ps for inner in inside[number] if inner.frames]
        assert kept == sorted(kept, reverse=True)
        assert all(inner.frames for inner in inside[number][:-1]), "a fold comes last"
    drawn_frames = sum(len(box.frames) for box in one.boxes)
    assert drawn_frames + one.folded == sum(1 for time in times.values() if time)
