"""What a strategy of TensorFlow runs op by op: one call of the program, whatever threads its replicas are."""

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from stepscope.capture.callers import Identities
from stepscope.capture.loops import LoopSites
from stepscope.capture.patches import Patches
from stepscope.capture.tf2 import _watch_replicas


def test_what_a_strategy_runs_op_by_op_is_a_step() -> None:
    tf = pytest.importorskip("tensorflow")
    calls: list[Any] = []
    recorder: Any = SimpleNamespace(
        local=SimpleNamespace(),
        listening=True,
        identities=Identities(),
        patches=Patches(),
        site=LoopSites().here,
        step=calls.append,
        unharmed=nullcontext,
    )
    strategy = tf.distribute.OneDeviceStrategy("CPU:0")

    def replica(number: float) -> Any:
        return tf.constant(number) + 1.0

    @tf.function
    def compiled() -> Any:
        return strategy.run(replica, args=(1.0,))

    _watch_replicas(recorder)
    try:
        results = [float(strategy.run(replica, args=(number,))) for number in (1.0, 2.0)]
        assert results == [2.0, 3.0]
        assert [(call.how, call.name) for call in calls] == [("function_call", "replica")] * 2
        assert len({call.key for call in calls}) == 1
        assert all(call.call_ns <= call.end_ns and call.site.loops for call in calls)
        assert float(compiled()) == 2.0
        recorder.local.inside = True
        strategy.run(replica, args=(1.0,))
        assert len(calls) == 2, "what a compiled function runs is part of that"
    finally:
        recorder.patches.undo()
