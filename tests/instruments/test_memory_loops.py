"""Memory of loops in executed graphs, and of many allocators: the work is that of the rounds and moves."""

from functools import partial

from stepscope.instruments.memory.blocks import pair
from stepscope.instruments.memory.lifetimes import DataEdge, Run, Tensor, live
from stepscope.instruments.memory.moves import Move
from tests.growth import lines


def rounds(number: int) -> tuple[list[Run], list[DataEdge]]:
    """A while loop: Merge takes what came in or what the round before gave, Identity hands it on."""
    runs = [Run(0, "enter", "Enter", 0, 1)]
    for at in range(number):
        begin = 10 * at + 2
        runs.append(Run(len(runs), "merge", "Merge", begin, begin + 1))
        runs.append(Run(len(runs), "next", "NextIteration", begin + 4, begin + 5))
    runs.append(Run(len(runs), "exit", "Exit", 10 * number, 10 * number + 1))
    for run in runs:
        run.outputs.append(Tensor(run, 0, 64))
    edges = [DataEdge("enter", 0, "merge"), DataEdge("next", 0, "merge"), DataEdge("merge", 0, "next")]
    return runs, [*edges, DataEdge("next", 0, "exit")]


def test_a_loop_is_one_buffer() -> None:
    runs, edges = rounds(50)
    (life,) = live(runs, edges)
    assert (life.first.run.name, life.born_ps, life.last_use_ps) == ("enter", 0, 501)
    assert len(life.tensors) == 102


def test_twice_the_rounds_are_twice_the_work() -> None:
    counts = [lines(partial(live, *rounds(number))) for number in (100, 400)]
    assert counts[1] < 4.2 * counts[0]


def test_allocators_are_paired_on_their_own() -> None:
    counts = []
    for number in (50, 200):
        moves = [
            Move(at, size, "bfc", f"device {at % number}", at % number, None, None, None)
            for at, size in enumerate([64] * number + [-64] * number)
        ]
        assert len(pair(moves)) == number
        counts.append(lines(partial(pair, moves)))
    assert counts[1] < 4.2 * counts[0]
