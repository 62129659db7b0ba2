"""Whether the device is done with a step's work when the host's step is over."""

from stepscope import units
from stepscope.instruments.laws import clocks_agree, step_of_the_device
from stepscope.instruments.laws.violation import Violation, Violations, Weakens
from stepscope.library.statements import Query, statement

HOLDS = (
    "The steps of the host hold the work that they launch. A host that queues work for its device and waits "
    "for none of it has short steps until the queue is full, and then steps as long as the device's."
)
TOLERANCE = (
    "A tenth of the device's work may come after the last step of the host, or the middle step may be a "
    "tenth longer than the mean; where half of the work does, the host runs ahead, and another law says so."
)
WEAKENS: tuple[Weakens, ...] = ("mean",)
OF_DEVICES = True


def broken(query: Query) -> Violations:
    """Sources in which a queue fills while steps are recorded."""
    growing = step_of_the_device.steps_that_grow(query)
    if not growing:
        return
    for row in query(statement("law_step_of_the_device")).rows():
        source_id, run_id, host_id, work_ps, after_ps = row
        late = step_of_the_device.AFTER * work_ps < after_ps <= step_of_the_device.MOST * work_ps
        if source_id not in growing or not late or source_id in clocks_agree.sources_that_differ(query):
            continue
        share = units.show(after_ps / work_ps, "ratio")
        longer = units.show(growing[source_id], "ps")
        sentence = (
            f"{share} of the device's work came after the last step of the host, whose first steps only "
            f"queue it: later ones take {longer}"
        )
        yield Violation(source_id, run_id, host_id, after_ps, work_ps, sentence)
