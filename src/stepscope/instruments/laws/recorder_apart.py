"""What the recorder does itself is none of the program's time."""

from stepscope import units
from stepscope.instruments.laws.violation import Violation, Violations, Weakens
from stepscope.library.statements import Query, statement

HOLDS = (
    "Steps are the program's time. What PyTorch's profiler does for itself, such as asking for a buffer of "
    "activities, lies within what the host does just then, and counts to that. While ops run, it costs "
    "nothing."
)
TOLERANCE = "A tenth of the steps."
WEAKENS: tuple[Weakens, ...] = ("share",)

BOUND = "at least"
"""A device is busy for so much of less time."""
MOST = 0.1


def broken(query: Query) -> Violations:
    """Sources whose recorder took part of their steps."""
    for source_id, run_id, host_id, name, own_ps, steps_ps in query(statement("law_recorder_apart")).rows():
        if own_ps <= MOST * steps_ps:
            continue
        share = units.show(own_ps / steps_ps, "ratio")
        sentence = (
            f"the profiler itself took up to {units.show(own_ps, 'ps')} in which no op ran, {share} of what "
            f"is judged ({name}); that counts to what the host did meanwhile, which took less without it"
        )
        yield Violation(source_id, run_id, host_id, own_ps, steps_ps, sentence)
