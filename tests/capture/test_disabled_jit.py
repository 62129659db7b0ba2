"""Calls of jitted functions while `jax_disable_jit` is on: JAX runs them as plain Python."""

from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from stepscope.capture.callers import Identities
from stepscope.capture.disabled_jit import PlainCalls
from stepscope.capture.loops import LoopSites


@pytest.mark.parametrize("disabled", [True, False])
def test_a_call_is_known_by_the_ops_within(disabled: bool) -> None:
    """A call ends when an op runs in the next one; what it calls itself is part of it."""
    calls: list[Any] = []
    recorder: Any = SimpleNamespace(site=LoopSites().here, identities=Identities(), step=calls.append)
    plain = PlainCalls(recorder, SimpleNamespace(config=SimpleNamespace(jax_disable_jit=disabled)))
    assert not plain.are_made()
    clock = count()

    def op() -> bool:
        return plain.are_made() and plain.saw(next(clock), next(clock), lambda: None)

    def loss() -> bool:
        return sum(op() for _ in range(3)) == 3

    def update() -> bool:
        return op() and loss()

    plain.jitted(loss)
    plain.jitted(update)
    assert plain.are_made() is disabled
    for _ in range(3):
        assert update() is disabled
    assert not op(), "outside of all calls"
    spans = [(call.name, call.call_ns, call.end_ns) for call in calls]
    assert spans == ([("update", 0, 7), ("update", 8, 15)] if disabled else [])
    assert len({call.key for call in calls}) == len({call.site for call in calls}) == disabled
    assert all(call.how == "jax" and call.site.loops for call in calls)
    plain.forget()
    update()
    assert len(calls) == 2 * disabled, "of a call that was forgotten nothing is known"
