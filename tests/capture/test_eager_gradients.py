"""Steps of JAX programs that jit parts of a step, and take its gradient without a jit around."""

import contextlib
from types import SimpleNamespace
from typing import Any

import pytest

from stepscope.capture.callers import Identities
from stepscope.capture.eager_gradients import EagerGradients
from stepscope.capture.loops import LoopSites
from stepscope.capture.patches import Patches


def test_a_gradient_is_one_call_whatever_it_calls() -> None:
    """It is seen once where nothing is traced, and not where it is compiled or taken within another one."""
    jax = pytest.importorskip("jax")
    from jax._src import api, core

    calls: list[Any] = []
    recorder: Any = SimpleNamespace(
        patches=Patches(),
        identities=Identities(),
        listening=True,
        site=LoopSites().here,
        step=calls.append,
        unharmed=contextlib.nullcontext,
    )
    ended: list[bool] = []
    gradients = EagerGradients(recorder, jax, core.trace_state_clean)
    original = jax.value_and_grad
    within: list[bool] = []

    def activation(x: Any) -> Any:
        within.append(gradients.are_taken())
        return x * x

    def loss(x: Any) -> Any:
        for _ in range(3):
            x = activation(x)
        return x

    gradients.watch(api, lambda: True, lambda: ended.append(gradients.are_taken()))
    try:
        for number in range(3):
            assert float(jax.grad(loss)(1.0)) == 8.0
            assert jax.value_and_grad(loss)(2.0)[0] == 256.0
            assert float(jax.grad(jax.grad(lambda x: x**3))(2.0)) == 12.0
            assert len(calls) == 3 * (number + 1)
        assert all(within), "the activation's calls belong to the gradient"
        assert ended == [False] * 5, "a function that is made anew each time was never called before"
        del within[:]
        assert float(jax.jit(jax.grad(loss))(1.0)) == 8.0
        assert not any(within), "what is compiled is one call"
        recorder.listening = False
        jax.grad(loss)(1.0)
        assert len(calls) == 9
    finally:
        recorder.patches.undo()
    assert jax.value_and_grad is api.value_and_grad is original
    assert {call.name for call in calls[:2]} == {"loss"}
    assert len({call.key for call in calls[:2]}) == 1
    assert all(call.how == "jax" and call.site.loops and call.call_ns <= call.end_ns for call in calls)
    assert not gradients.are_taken()
