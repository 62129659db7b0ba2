"""Tracing and compiling: the function that does it again and again, and what was new about its calls."""

from dataclasses import replace

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.cause import LineCause, Removal
from stepscope.instruments.causes.cause_facts import Retrace
from stepscope.instruments.causes.explanation import Explanation
from stepscope.instruments.causes.gain import Left, step_without
from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.instruments.causes.label_shares import Weighed
from stepscope.instruments.causes.timed_steps import COMPILING, compiles_again


class CompileCause(LineCause):
    """Tracing and compiling. Python traces, and what is launched finds no compiled call: both go with it."""

    name = "compile"
    as_a_function = False
    thresholds = COMPILING

    def explain(self, host: HostSteps, share: float, ps_per_step: int) -> Explanation:
        """The function and the line that calls it. The recorder saw the call itself; samples only happen
        to."""
        retrace = longest_retrace(host, ps_per_step)
        function = _longest_traced(host) if retrace is None else retrace.function
        called = None if retrace is None else retrace.called
        found = super().explain(host, share, ps_per_step) if called is None else Explanation(place=called)
        others = _others(host)
        unseen = others is None and not host.has_slices
        return replace(found, retrace=retrace, function=function, others=others, runs_unseen=unseen)

    def removal(self, host: HostSteps, found: Explanation) -> Removal:
        """Its line from samples; traced calls show only which function compiles."""
        return super().removal(host, found) if host.stacks.stacks else Removal()

    def step_without(self, host: HostSteps, found: Explanation) -> Left:
        """Steps that compile nothing were recorded as well: a mean step without compiling is one of them."""
        steps = [(step.dur_ps, step.sums) for step in host.all_steps if step.averaged]
        if found.others is None or len(steps) < _FEW:
            return super().step_without(host, found)
        left = step_without(steps, self.name, had_cores=host.had_cores)
        return left._replace(typical_ps=round(max(host.mean_ps, left.ps)))


_FEW = 3
"""Fewer steps without compiling may all be short, or all long."""
_MOST = 0.5
"""A jitted function with less of the compiling says nothing about the rest."""


def _longest_traced(host: HostSteps) -> str | None:
    """The function whose calls traced for longest, or the jitted one that most of what compiles lies in."""
    if rows := host.ask("longest_traced"):
        return str(rows[0][0])
    rows = host.ask("longest_jitted")
    if not rows or rows[0][0] is None or rows[0][1] < _MOST * sum(spent_ps for _, spent_ps in rows):
        return None
    return str(rows[0][0]).removeprefix("PjitFunction(").removesuffix(")")


_EXPLAINS = 0.25
"""Functions that compile again for a smaller part of the time explain nothing: a gradient that is traced
again is not a call that compiles."""


def longest_retrace(host: HostSteps, ps_per_step: int) -> Retrace | None:
    """The function that the recorder saw compile longest within the steps, without the first compile of each.
    None if these calls do not explain the time, or if the function compiled in one call of several steps."""
    rows = host.ask("longest_retrace")
    if not rows:
        return None
    function, file, line, inside, *more, all_ps = rows[0]
    retrace = Retrace(function, None if file is None else CodeLine(file, line, inside), *more)
    explains = (all_ps or 0) >= _EXPLAINS * ps_per_step * len(host.steps)
    return retrace if explains and retrace.times >= min(2, len(host.steps)) else None


def _others(host: HostSteps) -> Weighed | None:
    """The labels of the steps that averages include, if compiling steps are judged as well."""
    averaged = [step for step in host.all_steps if step.averaged]
    if not compiles_again(host.all_steps) or not averaged or len(averaged) == len(host.all_steps):
        return None
    return host.weigh(averaged, host.contention)
