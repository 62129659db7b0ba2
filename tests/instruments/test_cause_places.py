"""Which line or function a part of the steps comes from, and what goes with it when it is mended."""

from argparse import Namespace
from collections import Counter
from typing import Any

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.call_paths import innermost_call, innermost_function, loop_line
from stepscope.instruments.causes.dispatch import DispatchCause
from stepscope.instruments.causes.sampled_lines import SampledStacks, StackEvidence
from stepscope.instruments.causes.side_effects import effects_of_stacks, sampled_effects, stacks_of_line

MAIN = CodeLine("train.py", 69, "main")


def test_the_line_that_has_most_of_the_time():
    """Followed inward while one line has it; a loop in a function is called from one line."""
    weights = Counter({(MAIN, CodeLine("train.py", line, "points")): 10 for line in range(30, 36)})
    assert innermost_call(weights) == (MAIN, None)
    assert innermost_call(weights, functions_too=True) == (CodeLine("train.py", 35, "points"), MAIN)
    weights = Counter(
        {(MAIN, CodeLine("train.py", 9, "read"), CodeLine("train.py", 18, "take")): 9, (MAIN,): 1}
    )
    assert innermost_call(weights) == (CodeLine("train.py", 18, "take"), CodeLine("train.py", 9, "read"))


def test_a_loop_that_calls_one_function_says_nothing():
    """All steps come from its line: which of them is Python, and which a call of the framework, is inside."""
    loop, step = ("train.py", "main"), CodeLine("train.py", 40, "step")
    noted, update = CodeLine("train.py", 33, "noted"), CodeLine("train.py", 41, "step")
    asked = Counter({(MAIN, step, noted): 90, (MAIN, step): 5})
    assert loop_line(asked, asked + Counter({(MAIN, update): 60}), {loop}) == (step, MAIN)
    # Where the loop calls the framework itself, its line is the one.
    other = CodeLine("train.py", 70, "main")
    assert loop_line(asked, asked + Counter({(other,): 60}), {loop}) == (MAIN, None)
    assert loop_line(asked, asked, {loop}) == (MAIN, None)
    assert loop_line(Counter(), Counter({(MAIN,): 60}), {loop}) is None


def test_many_small_calls_are_a_function_and_no_line():
    weights = Counter({(MAIN, CodeLine("train.py", line, "step")): line for line in range(30, 36)})
    assert innermost_call(weights, by_function=True) == (CodeLine("train.py", 35, "step"), MAIN)
    assert innermost_call(Counter()) == (None, None)


def test_a_module_with_the_loop_of_steps_is_the_place_itself() -> None:
    """One that calls the function with the loop tells nothing."""
    update, smooth = CodeLine("p.py", 17, "<module>"), CodeLine("p.py", 19, "<module>")
    smoothed = (smooth, CodeLine("p.py", 10, "smoothed"))
    weights = Counter({(update,): 60, smoothed: 20})
    assert innermost_call(weights, by_function=True, most_of=0.5) == (update, None)
    called = Counter({(update,): 10, smoothed: 20})
    assert innermost_call(called, by_function=True, most_of=0.5) == smoothed[::-1]


def test_python_is_told_by_the_line_of_the_loop():
    """Not by the line within a loop of Python at which threads take turns."""
    top = CodeLine("train.py", 90, "<module>")
    step = (top, CodeLine("train.py", 60, "main"))
    python = Counter({(top, MAIN, CodeLine("train.py", 31, "points")): 50})
    assert loop_line(python, python + Counter({step: 40})) == (MAIN, top)
    fit = (top, CodeLine("train.py", 70, "main"))
    assert loop_line(Counter({(*fit, MAIN): 50}), Counter({(*fit, MAIN): 50, fit: 40})) is None
    assert loop_line(Counter(), Counter()) is None


def test_a_line_of_the_loop_names_what_it_calls() -> None:
    call, audit = CodeLine("p.py", 28, "<module>"), CodeLine("p.py", 22, "audit")
    spent = Counter({(call, audit, CodeLine("p.py", line, "fingerprint")): line for line in (17, 18)})
    assert innermost_function(call, spent) == CodeLine("p.py", 18, "fingerprint")
    # Two functions share the time: the one that calls both has it.
    shared = Counter({(call, audit, CodeLine("p.py", 9, name)): 10 for name in ("first", "second")})
    assert innermost_function(call, shared) == audit
    # The line itself computes, or calls a little.
    assert innermost_function(call, Counter({(call,): 60, (call, audit): 40})) is None
    assert innermost_function(call, Counter({(audit,): 60})) is None


def test_where_the_loop_of_steps_is_known_its_line_is_named_however_little_else_was_seen() -> None:
    top, load, helper = (
        CodeLine("p.py", 85, "<module>"),
        CodeLine("p.py", 76, "main"),
        CodeLine("p.py", 32, "load"),
    )
    inner = CodeLine("p.py", 21, "jitter")
    python = Counter({(top, load, helper): 40, (top, load, CodeLine("p.py", 31, "load"), inner): 50})
    everything = python + Counter({(top, CodeLine("p.py", 78, "main")): 5})
    assert loop_line(python, everything, {("p.py", "main")}) == (load, top)
    # Nobody knows: 95 of 100 come from line 76, so that the loop may be further inside.
    assert loop_line(python, everything) != (load, top)
    # What does not pass through the loop, as a callback that the framework calls, is not said of it.
    assert loop_line(
        Counter({(helper,): 90, (load,): 10}), Counter({(helper,): 100}), {("p.py", "main")}
    ) != (load, None)


def test_a_few_samples_of_other_things_do_not_lead_further_inside() -> None:
    """Both lie in the line that the loop calls; four of five lie elsewhere in a longer recording."""
    top, load, helper = (
        CodeLine("p.py", 85, "<module>"),
        CodeLine("p.py", 76, "main"),
        CodeLine("p.py", 32, "load"),
    )
    python = Counter({(top, load, helper): 40})
    everything = python + Counter({(top, load, CodeLine("p.py", 31, "load")): 10})
    loops = {("p.py", "main")}
    assert loop_line(python, everything, loops) == (helper, load)
    assert loop_line(python, everything, loops, few=True) == (load, top)


def test_launching_is_of_the_function_that_has_all_of_it() -> None:
    """The model's call has two parts of three; what is to be compiled is the step, with the gradients."""
    step = CodeLine("p.py", 39, "train_step")
    weights = Counter({(MAIN, step): 33, (MAIN, step, CodeLine("p.py", 24, "__call__")): 67})
    assert innermost_call(weights, by_function=True) == (CodeLine("p.py", 24, "__call__"), step)
    assert innermost_call(weights, by_function=True, most_of=0.8) == (step, MAIN)


def test_a_line_that_waits_for_ops_has_none_of_the_python() -> None:
    """block_until_ready is no Python: its stack looks like that of the line, and ops run meanwhile."""
    wait, load = (MAIN, CodeLine("p.py", 78, "main")), (MAIN, CodeLine("p.py", 76, "main"))
    stacks = {0: SampledStacks(frozenset(), {1: wait, 2: load, 3: ()}, {}, frozenset(), {})}
    rows = [(5, 1, "compute", 90), (5, 1, "python", 1), (5, 2, "python", 40), (5, 3, "python", 7)]
    asked: Any = lambda _: Namespace(rows=lambda: rows)  # noqa: E731
    took, everything = StackEvidence(asked, stacks, [0]).times("python")
    assert took == {wait: 1, load: 40}
    assert everything == {wait: 91, load: 40}


ROWS = [
    (1, 7, "copy", 40),
    (1, 7, "python", 15),
    (1, 8, "dispatch", 35),
    (1, 8, "compute", 5),
    (2, 7, "copy", 50),
]


def test_what_else_comes_from_a_line_goes_with_it():
    assert effects_of_stacks(ROWS, {7}, "copy") == {1: 15, 2: 0}
    # Nothing is known to come from elsewhere, and ops never go with a line.
    assert effects_of_stacks(ROWS, set(), "copy") == {}
    assert effects_of_stacks([(1, 7, "copy", 80), (1, 7, "compute", 10)], {7}, "copy") == {1: 0}


def test_a_line_that_calls_the_model_stays():
    """Two parts of three are the cause's, but ops run for a third of the time."""
    rows = [(1, 7, "python", 60), (1, 7, "dispatch", 20), (1, 7, "compute", 40)]
    assert effects_of_stacks(rows, {7}, "python") == {}
    assert effects_of_stacks(rows[:2], {7}, "python") == {1: 20}
    assert effects_of_stacks([(1, 7, "python", 60), (1, 7, "dispatch", 40)], {7}, "python") == {}


def test_ops_that_are_launched_one_by_one_go_with_their_launching():
    """Small ones: what compiling them leaves of each is counted elsewhere. Big ones are the model."""
    assert effects_of_stacks(
        [(1, 7, "dispatch", 80), (1, 7, "copy", 5), (1, 7, "compute", 15)], {7}, "dispatch"
    ) == {1: 20}
    assert effects_of_stacks([(1, 7, "dispatch", 70), (1, 7, "compute", 30)], {7}, "dispatch") == {}


def test_ops_of_functions_that_are_compiled_already_stay():
    """They have names of their own, which run once or twice in a step."""
    rows = [
        ("host", "wrapped_add", "wrapped_add", "wrapped_add", "compute", 30, 2000),
        ("host", "dot", "dot.39", "dot.39", "compute", 10, 10),
    ]
    assert DispatchCause().launched_one_by_one(rows, 10) == 0.75
    assert DispatchCause().launched_one_by_one([], 10) == 1.0
    line = [(1, 7, "dispatch", 80), (1, 7, "copy", 5), (1, 7, "compute", 16)]
    assert effects_of_stacks(line, {7}, "dispatch", one_by_one=0.75) == {1: 17}


def test_of_launching_all_lines_of_a_function_go():
    function = CodeLine("train.py", 34, "update")
    paths = {1: (MAIN, CodeLine("train.py", 30, "update")), 2: (MAIN,)}
    stacks = {0: SampledStacks(frozenset(), paths, {}, frozenset(), {})}
    rows = [(5, 1, "dispatch", 80), (5, 1, "copy", 9), (5, 2, "copy", 7)]
    asked: Any = lambda _: Namespace(rows=lambda: rows)  # noqa: E731
    assert sampled_effects(StackEvidence(asked, stacks, [0]), function, "dispatch") == {5: 9}
    assert sampled_effects(StackEvidence(asked, stacks, [0]), function, "copy") == {}


def test_what_a_line_does_between_its_launches_goes_with_them():
    """It reads each result, so launching is but a third of it. A line that only makes ready stays."""
    token, ready = CodeLine("decode.py", 19, "write"), CodeLine("decode.py", 12, "write")
    paths = {1: (MAIN, token), 2: (MAIN, ready), 3: (MAIN,)}
    stacks = {0: SampledStacks(frozenset(), paths, {}, frozenset(), {})}
    rows = [
        (5, 1, "dispatch", 34),
        (5, 1, "python", 33),
        (5, 1, "copy", 33),
        (5, 1, "compute", 10),
        (5, 2, "python", 70),
        (5, 2, "dispatch", 20),
        (5, 3, "python", 7),
    ]
    asked: Any = lambda _: Namespace(rows=lambda: rows)  # noqa: E731
    evidence, least = StackEvidence(asked, stacks, [0]), DispatchCause().most_of_line
    assert stacks_of_line(evidence, token, "dispatch") == {1}
    assert sampled_effects(evidence, token, "dispatch", least) == {5: 76}
    # Bigger ops are the model.
    rows[3] = (5, 1, "compute", 30)
    assert sampled_effects(evidence, token, "dispatch", least) == {}


def test_a_line_that_calls_all_of_a_step_takes_along_what_its_function_does():
    """The loop calls `step`, and `step` calls all: launching outside of `batch` has nothing to do with it."""
    step, batch = CodeLine("train.py", 8, "step"), CodeLine("train.py", 3, "batch")
    paths = {
        1: (MAIN, step, batch),
        2: (MAIN, CodeLine("train.py", 9, "step")),
        3: (CodeLine("train.py", 70, "main"),),
    }
    stacks = {0: SampledStacks(frozenset(), paths, {}, frozenset(), {})}
    rows = [(5, 1, "python", 80), (5, 1, "copy", 4), (5, 2, "dispatch", 9)]
    asked: Any = lambda _: Namespace(rows=lambda: rows)  # noqa: E731
    assert sampled_effects(StackEvidence(asked, stacks, [0]), MAIN, "python") == {5: 13}
    assert sampled_effects(StackEvidence(asked, stacks, [0]), MAIN, "python", spent_in=batch) == {5: 4}
    # The loop has another line as well, so this one is told from it.
    rows.append((5, 3, "dispatch", 40))
    assert sampled_effects(StackEvidence(asked, stacks, [0]), MAIN, "python", spent_in=batch) == {5: 13}


def test_what_traces_or_compiles_takes_python_of_its_line_along():
    """A call that compiles runs Python around the compiler; one that is compiled already does not."""
    line = [(1, 7, "compile", 900), (1, 7, "python", 50), (1, 7, "compute", 30), (1, 8, "python", 20)]
    assert effects_of_stacks(line, [7], "compile") == {1: 50}


def test_gradients_belong_to_what_they_are_of():
    """Where the call that asks for all gradients is left out, the model's own lines are left."""
    back, model = (MAIN, CodeLine("p.py", 47, "main")), (MAIN, CodeLine("p.py", 20, "forward"))
    paths = {1: back, 2: back, 3: model}
    stacks = {0: SampledStacks(frozenset(), paths, {}, frozenset(), {}, gradients=frozenset({1}))}
    rows = [(5, 1, "dispatch", 900), (5, 2, "dispatch", 20), (5, 3, "dispatch", 100)]
    asked: Any = lambda _: Namespace(rows=lambda: rows)  # noqa: E731
    evidence = StackEvidence(asked, stacks, [0])
    assert evidence.times("dispatch")[0] == {back: 920, model: 100}
    assert evidence.times("dispatch", forward=True)[0] == {back: 20, model: 100}
