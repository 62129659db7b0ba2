"""What the program does itself while it gets batches from the workers of a loader."""

import pytest

from tests.report import made_recordings
from tests.report.made_recordings import GET, MAIN, NEXT, Frame
from tests.report.recordings import judgement_of

RECEIVE: Frame = ("_ConnectionBase.recv_bytes", "multiprocessing/connection.py", 216, "connection", "python")
REBUILD: Frame = ("rebuild_storage_fd", "torch/multiprocessing/reductions.py", 542, "reductions", "library")
READ: Frame = ("read", "<built-in>", 0, "", "python")
DETACH: Frame = ("DupFd.detach", "multiprocessing/resource_sharer.py", 57, "resource_sharer", "python")


@pytest.mark.parametrize(
    ("frames", "work"),
    [
        ((NEXT, GET), ("unpickling", 1.0)),
        ((NEXT, GET, REBUILD), ("unpickling", 1.0)),
        ((NEXT, GET, RECEIVE), None),
        ((NEXT, GET, RECEIVE, READ), None),
        ((NEXT, GET, REBUILD, DETACH, READ), None),
        ((NEXT,), None),
    ],
    ids=["loads", "rebuilds", "receives", "reads", "waits for a descriptor", "makes the batch"],
)
def test_what_a_batch_waits_for(frames: tuple[Frame, ...], work: tuple[str, float] | None) -> None:
    """Whatever waits for the worker is no unpickling."""
    found = judgement_of(made_recordings.stacks(MAIN, *frames))
    assert (found.cause, found.loader_work) == ("input", work)


def test_workers_that_begin_and_end_are_input() -> None:
    found = judgement_of(made_recordings.starting_workers())
    assert (found.cause, found.loader_work) == ("input", ("workers", 1.0))


@pytest.mark.parametrize("begins", [True, False])
def test_what_new_workers_are_waited_for_is_their_beginning(begins: bool) -> None:
    """A process that is spawned imports the program before it makes its first batch."""
    tables = made_recordings.unpickling_batches()
    around = tables.rows["stack"][-1]

    def stack(*frame: object) -> int:
        facts = dict(zip(("function", "file", "line", "code"), frame, strict=True))
        made = tables.add("frame", **facts)["id"]
        return tables.add("stack", parent_id=around["parent_id"], frame_id=made, place_id=around["place_id"])[
            "id"
        ]

    starts = stack("DataLoader._get_iterator", "torch/utils/data/dataloader.py", 438, "library")
    receives = stack(RECEIVE[0], RECEIVE[1], 216, "python")
    for number, row in enumerate(tables.rows["stack_sample"]):
        row["stack_id"] = starts if begins and number % 5 == 0 else receives
    assert judgement_of(tables).loader_work == (("workers", 1.0) if begins else None)


@pytest.mark.parametrize(("waiting", "named"), [(10, True), (11, False)], ids=["half", "less"])
def test_what_takes_less_than_half_of_the_wait_is_not_named(waiting: int, named: bool) -> None:
    tables = made_recordings.unpickling_batches()
    around = tables.rows["stack"][-1]
    frame = tables.add("frame", function=RECEIVE[0], file=RECEIVE[1], line=216, code="python")["id"]
    stack = tables.add("stack", parent_id=around["id"], frame_id=frame, place_id=around["place_id"])["id"]
    for row in tables.rows["stack_sample"][:waiting]:
        row["stack_id"] = stack
    assert (judgement_of(tables).loader_work is not None) == named
