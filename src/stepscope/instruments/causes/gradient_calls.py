"""The calls of the program whose gradients take the time. One call asks for all gradients and tells nothing;
arrows of PyTorch lead from each op to its gradient, and a sample tells who called the op."""

from bisect import bisect_left
from collections import Counter, defaultdict

from stepscope.instruments.causes.call_paths import CallPath
from stepscope.instruments.causes.sampled_lines import StackEvidence
from stepscope.instruments.step_breakdown import stack_samples
from stepscope.library.statements import statement

_AROUND_PS = 100_000_000_000
"""How long before the first op, and after the last, samples are used."""


def calls_of_ops(evidence: StackEvidence) -> tuple[Counter[CallPath], Counter[CallPath]]:
    """The time in which ops compute, in picoseconds, by the calls of the program that make them; and what of
    it is gradients of what these calls made, as far as arrows tell. Others count to the call that asks for
    them."""
    everything = evidence.times("compute")[0]
    forward = evidence.times("compute", forward=True)[0]
    asked = everything - forward
    asked_ps = asked.total()
    made = _gradients(evidence) if asked_ps else Counter[CallPath]()
    if not made:
        return everything, made
    known_ps = min(made.total(), asked_ps)
    for path, dur_ps in made.items():
        forward[path] += round(dur_ps * known_ps / made.total())
    for path, dur_ps in asked.items():
        forward[path] += round(dur_ps * (1 - known_ps / asked_ps))
    return forward, made


def _gradients(evidence: StackEvidence) -> Counter[CallPath]:
    """How long gradients take, by the calls on the stack while what they are of ran. An op in which no sample
    lies is one of those calls where samples before and after it agree, or where samples lie in others of its
    name; else nobody knows its call."""
    gradients = evidence.query(statement("gradients_of_ops", sources=evidence.sources)).rows()
    windows: dict[int, tuple[int, int]] = {}
    for source_id, _, begin_ps, end_ps, _ in gradients:
        first_ps, last_ps = windows.get(source_id, (begin_ps, end_ps))
        windows[source_id] = min(first_ps, begin_ps - _AROUND_PS), max(last_ps, end_ps + _AROUND_PS)
    shifts = stack_samples.shifts(evidence.query, list(windows)) if windows else {}
    samples = stack_samples.driver_samples(evidence.query, shifts, windows)
    calls = {
        stack: path
        for stacks in evidence.stacks.values()
        for stack, path in stacks.paths.items()
        if stack not in stacks.gradients
    }
    found: Counter[CallPath] = Counter()
    of_name: dict[str, Counter[CallPath]] = defaultdict(Counter)
    unseen: Counter[str] = Counter()
    for source_id, name, begin_ps, end_ps, took_ps in gradients:
        of_source = samples.get(source_id, ())
        at = bisect_left(of_source, begin_ps, key=lambda sample: sample.seen_ps)
        within = at < len(of_source) and of_source[at].seen_ps < end_ps
        near = of_source[at : at + 1] if within else of_source[max(at - 1, 0) : at + 1]
        path, *others = {calls.get(sample.stack_id, ()) for sample in near} or {()}
        if within and path:
            of_name[name][path] += 1
        if path and not others:
            found[path] += took_ps
        else:
            unseen[name] += took_ps
    for name, took_ps in unseen.items():
        for path, number in of_name[name].items():
            found[path] += round(took_ps * number / of_name[name].total())
    return found
