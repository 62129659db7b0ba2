"""Other work of the program that has cores while ops of its steps wait for some."""

from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.instruments.causes.input import InputCause
from stepscope.instruments.causes.judgement import Competing
from stepscope.instruments.causes.label_shares import CauseName
from stepscope.instruments.causes.thresholds import CauseThresholds


def competing_of(host: HostSteps, cause: CauseName) -> Competing | None:
    """Processes that the program started, else its input pipeline; None where the program has the cores that
    it wants, or waits for that work itself. cause: what limits its steps."""
    contention = host.contention
    if contention is None or contention.had_cores > 1 - CauseThresholds.stands_out or cause == "input":
        return None
    if contention.children >= CauseThresholds.stands_out:
        return Competing("children", contention.children)
    ((python_ps, input_ps),) = host.ask("input_work")
    steps_ps = max(sum(step.dur_ps for step in host.all_steps), 1)
    # Python may sleep. The kernel tells who computes, or would with a core, of threads made for the pipeline.
    if contention.later is None:
        threads = (input_ps - python_ps) / steps_ps
    else:
        threads = min(input_ps / steps_ps, contention.later)
    if threads < CauseThresholds.stands_out:
        return None
    found = InputCause().explain(host, threads, round(threads * host.mean_ps))
    return Competing("input", threads, found.place)
