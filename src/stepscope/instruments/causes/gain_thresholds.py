"""By what the gain of a cause is estimated, and by which programs each number was fitted."""

from dataclasses import dataclass

from stepscope.instruments.thresholds import ANY, MEASURED, tuned

TURNS = "30 recordings of 17 programs whose fixed forms were timed in turns"
AFTERWARDS = "14 of the yardstick's programs, timed in turns right after they were recorded"
HALF = "24 of the yardstick's programs, every second by name, whose fixed forms were timed in turns"


@dataclass(frozen=True, eq=False, repr=False)
class GainThresholds:
    """How well the remaining time of a step is known."""

    compiled_op_ps: int = tuned(
        7 * 10**5,
        "what an op takes that is launched from within a compiled function instead: 0.6 to 0.8 us in steps, "
        "0.2 (scalars) to 1.8 us (small matrix products) alone, by TensorFlow's executor and XLA for CPU",
        fitted_on=MEASURED,
        slack=ANY,
    )
    quiet: float = tuned(
        0.8,
        "who had cores for less of the time in which it wanted them shared them with other programs, which "
        "make some steps longer: what is left is then that of the half that was disturbed least",
        fitted_on=TURNS,
        slack=ANY,
    )
    steady: float = tuned(
        1 / 3,
        "where that half has less than this of what all have left, single steps are too uncertain, because "
        "few samples show their parts, and the mean of all is used",
        fitted_on=TURNS,
        slack=ANY,
    )
    cold_ps: int = tuned(
        7 * 10**8,
        "what follows a cause on processors finds caches cold and threads asleep, which takes so much longer "
        "at most and goes with it: after a pause of 10 ms 0.3 to 0.7 ms, whether ops then take 0.1 or 20",
        fitted_on=MEASURED,
        slack=ANY,
    )
    cold: float = tuned(
        0.8,
        "that is no more than this part of what is left: ops of 0.1 ms took 0.4 after such a pause",
        fitted_on=MEASURED,
        slack=ANY,
    )
    slowed: float = tuned(
        0.6,
        "what follows a cause takes up to this part of its time for caches, threads and clock rates that it "
        "left behind, and less without it",
        fitted_on=AFTERWARDS,
        slack=ANY,
    )
    slows: float = tuned(
        0.45, "that is no more than this part of what the cause itself takes", fitted_on=AFTERWARDS, slack=ANY
    )
    afterwards: float = tuned(
        1.15,
        "no profiler makes steps shorter: those after a recording that take longer than this, of recorded "
        "ones, do other work, and tell nothing of them",
        fitted_on=MEASURED,
        slack=ANY,
    )
    light: float = tuned(
        0.92,
        "where a step without the profiler takes at least this part of a recorded one, slices of recorded "
        "steps and samples of later ones measure the same",
        fitted_on=TURNS,
        slack=ANY,
    )
    uneven: float = tuned(
        0.25,
        "where long steps add more than this part of what goes to the mean of what is left, the mean is "
        "told: it is compared with one",
        fitted_on=HALF,
    )
    alike: float = tuned(
        0.02,
        "typical steps whose duration differs from the mean by no more than this part of it are not told "
        "apart from it: what is left is that of a mean step where they differ in that",
        slack=ANY,
    )
    rare: float = tuned(
        0.5,
        "a cause of which most steps have less than this part of what a mean step has is that of few steps: "
        "what goes is compared with a mean step",
        fitted_on="estimators of TensorFlow 1.15 that save a checkpoint every fourth step",
    )
    again: float = tuned(
        0.06,
        "by this part the same program's typical step differs when it runs again: the standard error; so "
        "many times as much as it had fewer cores than on a quiet machine: it may have more then, or less",
        fitted_on=HALF,
        slack=ANY,
    )
    errors: float = tuned(
        1.6, "nine of ten estimates lie within so many standard errors of the truth", slack=ANY
    )
    same: float = tuned(0.9, "what takes off less than the rest of this is not worth words", slack=ANY)


THRESHOLDS = GainThresholds()
