"""How a sentence about a cause begins: `TAKES` by its label, `SPECIAL` where more is known of it."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from stepscope.code_lines import is_framework_or_library
from stepscope.instruments.causes.cause_facts import Allocating
from stepscope.instruments.causes.dispatch import MANY_CALLS
from stepscope.instruments.causes.judgement import LISTED_FROM, Judgement
from stepscope.instruments.step_breakdown.labels import LABELS, ON_DEVICES
from stepscope.step_labels import LOOKS

TAKES: dict[str, str] = {
    **{label: look.takes for label, look in LOOKS.items()},
    "none": "nothing stands out: ops run for {part}",
}
"""How a sentence about a cause begins."""


class Beginning(NamedTuple):
    """How a sentence begins instead, where more is known than the label says."""

    applies: Callable[[Judgement], bool]
    takes: str


DRAWN = Beginning(lambda judgement: not judgement.of_ops, "what was drawn covers {part}")
"""The recorder knows no ops."""
_HELD_UP = Beginning(
    lambda judgement: judgement.waits_for_cores, "ops run, or wait for a core to do so, for {part}"
)
"""The time of ops includes what other programs did on the cores: there may be few ops, and none may stand out
by itself."""


def many_calls(judgement: Judgement) -> bool:
    """Whether calls are so many that their number explains something."""
    return judgement.calls is not None and judgement.calls >= MANY_CALLS


def most_allocates(judgement: Judgement) -> Allocating | None:
    """The calls that allocate, where they are most of what sets up the device."""
    found = judgement.allocating
    if found is None or 2 * found.all_ps < judgement.ps_per_step * judgement.steps:
        return None
    return found


def _part_of_code(judgement: Judgement) -> float | None:
    """The share of code that is taken from a device, as when a program ends, in the calls that free and
    allocate; None where these are not most of what sets the device up."""
    found = most_allocates(judgement)
    return None if found is None else found.of_code_ps / max(found.all_ps, 1)


def _part_on_host(judgement: Judgement) -> float | None:
    """The share of pinned memory of the host in the calls that free and allocate; None where these are not
    most of what sets the device up."""
    found = most_allocates(judgement)
    return None if found is None else found.on_host_ps / max(found.all_ps, 1)


def _shows_no_op(judgement: Judgement) -> bool:
    """Whether a recording has no ops, and neither samples nor an idle device show that none ran."""
    if any(judgement.share_of(label) for label in ON_DEVICES):
        return False
    return judgement.place is None or not (judgement.samples or judgement.share_of("idle"))


def _idles_otherwise(judgement: Judgement) -> bool:
    """Whether an accelerator is idle for longer than the part says: while the host launches or waits for
    input, which have parts of their own."""
    others = (label for label in LABELS if label not in (*ON_DEVICES, "idle", "unknown"))
    return judgement.gap_launches is None and sum(map(judgement.share_of, others)) > LISTED_FROM


def _says_more(judgement: Judgement) -> bool:
    """Whether there is evidence about ops of which no type stands out, or about what runs beside them."""
    more = (
        judgement.small_ops,
        judgement.doubles,
        judgement.plain_products,
        judgement.recomputed,
        judgement.meanwhile,
    )
    return any(known is not None for known in more)


SPECIAL: Mapping[str, tuple[Beginning, ...]] = {
    "idle": (Beginning(_idles_otherwise, "the accelerator is idle without a recorded reason for {part}"),),
    # An op calls Python, so "no op runs" would be wrong.
    "python": (
        Beginning(lambda judgement: judgement.callbacks, "callbacks of Keras take {part}"),
        Beginning(lambda judgement: judgement.other_batches, "a loop over other batches takes {part}"),
        Beginning(lambda judgement: judgement.op_type is not None, "Python takes {part}"),
        # Only calls of Python were recorded: ops may run in them.
        Beginning(_shows_no_op, "with no op recorded, Python takes {part}"),
        Beginning(
            lambda judgement: judgement.place is not None and is_framework_or_library(judgement.place.file),
            "no op runs for {part}: Python of a library does",
        ),
        # Without its folder, it is the file of any package, as of Python's own json.
        Beginning(
            lambda judgement: judgement.place is not None and judgement.place.file == "__init__.py",
            "no op runs for {part}: Python does",
        ),
    ),
    "compute": (DRAWN, _HELD_UP),
    "none": (DRAWN, _HELD_UP, Beginning(_says_more, TAKES["compute"])),
    # The recorder sees nothing but communication.
    "communication": (
        Beginning(
            lambda judgement: not judgement.share_of("compute"),
            "communication takes {part}: nothing was recorded that could hide it",
        ),
    ),
    # Cores wait for what is copied.
    "copy": (
        Beginning(
            lambda judgement: judgement.awaits_copies == "host",
            "waiting for copies between host and device takes {part}",
        ),
        Beginning(
            lambda judgement: judgement.awaits_copies == "device",
            "waiting for copies within the device takes {part}",
        ),
    ),
    "dispatch": (
        Beginning(
            lambda judgement: judgement.host_op is not None,
            "ops on the host, and launching others, take {part}",
        ),
        Beginning(
            lambda judgement: judgement.queues, "launching ops and waiting for a core to do so take {part}"
        ),
        # Few runs of a session cannot launch for so long. Those that were traced do not tell how long others
        # waited for their batch.
        Beginning(
            lambda judgement: judgement.takes_batches and not many_calls(judgement),
            "no op runs for {part}, within Session.run: it feeds, launches, fetches or waits for input",
        ),
        Beginning(
            lambda judgement: judgement.of_session and not many_calls(judgement),
            "no op runs for {part}, within Session.run: it feeds, launches or fetches",
        ),
        # A call that launches looks like one that runs what was not recorded.
        Beginning(
            lambda judgement: (
                not judgement.share_of("compute")
                and judgement.loop_runs is None
                and not many_calls(judgement)
            ),
            "calls of the framework take {part}, and no op that they run was recorded",
        ),
    ),
    # The line is known in which that time passes.
    "unknown": (
        Beginning(
            lambda judgement: judgement.place is not None, "the recording does not show what runs for {part}"
        ),
    ),
    "wait": (
        Beginning(lambda judgement: judgement.stores == "checkpoint", "storing takes {part}"),
        Beginning(lambda judgement: judgement.stores == "summary", "writing summaries takes {part}"),
        Beginning(lambda judgement: judgement.stores == "model", "loading or making a model takes {part}"),
        Beginning(
            lambda judgement: judgement.late_copy is not None,
            "waiting until the device begins a copy takes {part}",
        ),
    ),
    "setup": (
        Beginning(
            lambda judgement: _part_of_code(judgement) == 1, "unloading code from the device takes {part}"
        ),
        Beginning(
            lambda judgement: (_part_of_code(judgement) or 0) >= 0.5,
            "unloading code from the device, and freeing its memory, take {part}",
        ),
        Beginning(
            lambda judgement: bool(_part_of_code(judgement)),
            "allocating and freeing memory, and unloading code, take {part}",
        ),
        Beginning(
            lambda judgement: _part_on_host(judgement) == 1,
            "allocating and freeing pinned memory of the host takes {part}",
        ),
        Beginning(
            lambda judgement: bool(_part_on_host(judgement)),
            "allocating and freeing memory of the device, and pinned memory of the host, takes {part}",
        ),
        Beginning(
            lambda judgement: _part_on_host(judgement) is not None,
            "allocating and freeing memory of the device takes {part}",
        ),
    ),
}
"""The first that applies is taken."""


def takes(judgement: Judgement) -> str:
    """How the sentence about the cause of a judgement begins, with {part} for the part that it takes."""
    special = SPECIAL.get(judgement.cause, ())
    return next((begin.takes for begin in special if begin.applies(judgement)), TAKES[judgement.cause])
