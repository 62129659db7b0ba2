"""What threads need that make batches for the steps, and wait for a place in a queue."""

import pytest

from stepscope.instruments.replay import feeding_threads
from tests.draw import UNIT_PS, Tables
from tests.instruments.step_drawings import asked

READ = ("/home/user/train.py", "read", "program")
PUT = ("/usr/lib/python3.12/queue.py", "Queue.put", "library")
WAIT = ("/usr/lib/python3.12/threading.py", "Condition.wait", "library")


def looks(tables: Tables, thread: str, *counts: tuple[int, tuple[tuple[str, str, str], ...]]) -> None:
    """Samples of a thread: so many of each stack, outermost frame first."""
    for number, frames in counts:
        parent = None
        for place in frames:
            known = [row for row in tables.rows["frame"] if (row["file"], row["function"]) == place[:2]]
            file, function, code = place
            frame = (
                known[0] if known else tables.add("frame", file=file, function=function, code=code, line=1)
            )
            same = (parent, frame["id"])
            stacks = [row for row in tables.rows["stack"] if (row["parent_id"], row["frame_id"]) == same]
            stack = stacks[0] if stacks else tables.add("stack", parent_id=parent, frame_id=frame["id"])
            parent = stack["id"]
        for at in range(number):
            facts = {"stack_id": parent, "thread_name": thread, "is_main": thread == "MainThread"}
            tables.add("stack_sample", ts_ps=at * UNIT_PS, weight_ps=UNIT_PS, **facts)


def needs(*threads: tuple[int, int]) -> feeding_threads.FeederNeeds | None:
    """What threads need: each looked at so often at work, and so often waiting for a place."""
    tables = Tables()
    tables.source()
    looks(tables, "MainThread", (50, (READ,)))
    for number, (works, waits) in enumerate(threads):
        looks(tables, f"Thread-{number}", (works, (READ,)), (waits, (READ, PUT, WAIT)))
    source = tables.rows["source"][0]
    return feeding_threads.longest(asked(tables), source["run_id"], source["host_id"])


def test_a_thread_needs_what_it_does_not_wait_for_a_place() -> None:
    found = needs((30, 20))
    assert (found.part, found.had_cores, found.error) == pytest.approx((0.6, 1.0, (0.6 * 0.4 / 50) ** 0.5))


def test_threads_of_one_queue_take_turns() -> None:
    found = needs((30, 20), (40, 10))
    assert found.part == pytest.approx(0.7)


def test_nothing_is_known_of_threads_that_never_wait_for_a_place_or_were_hardly_seen() -> None:
    assert needs((50, 0)) is None
    assert needs((10, 9)) is None
