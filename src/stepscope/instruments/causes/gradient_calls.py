"""The calls of the program whose gradients take the time. One call asks for all gradients and tells nothing;
arrows of PyTorch lead from each op to its gradient, and a sample tells who called the op."""

from __future__ import annotations

from collections import Counter, defaultdict

from stepscope.instruments.causes.call_paths import CallPath
from stepscope.instruments.causes.sampled_lines import StackEvidence
from stepscope.instruments.step_breakdown import stack_samples
from stepscope.library.statements import statement


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
    """How long gradients take, by the calls on the stack when what they are of began."""
    gradients: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for source_id, made_ps, dur_ps in evidence.query(
        statement("gradients_of_ops", sources=evidence.sources)
    ).rows():
        gradients[source_id].append((made_ps, dur_ps))
    windows = {source_id: (ops[0][0], ops[-1][0] + 1) for source_id, ops in gradients.items()}
    shifts = stack_samples.shifts(evidence.query, list(windows)) if windows else {}
    calls = {
        stack: path
        for stacks in evidence.stacks.values()
        for stack, path in stacks.paths.items()
        if stack not in stacks.gradients
    }
    found: Counter[CallPath] = Counter()
    for source_id, samples in stack_samples.driver_samples(evidence.query, shifts, windows).items():
        at = 0
        for made_ps, dur_ps in gradients[source_id]:
            while at < len(samples) and samples[at].to_ps <= made_ps:
                at += 1
            if (
                at < len(samples)
                and samples[at].from_ps <= made_ps
                and (path := calls.get(samples[at].stack_id))
            ):
                found[path] += dur_ps
    return found
