"""Ops of which an op log tells the lines."""

from types import SimpleNamespace
from typing import Any

from stepscope.capture import oplog


class _Graph:
    """A graph with ops of these names and types, and the functions that they call."""

    def __init__(self, ops: dict[str, str], **functions: Any) -> None:
        self._functions = functions
        self._ops = [
            SimpleNamespace(
                name=name, type=kind, graph=self, get_attr=lambda _, of=name: SimpleNamespace(name=of)
            )
            for name, kind in ops.items()
        ]

    def get_operations(self) -> list[Any]:
        return self._ops


def test_ops_of_called_functions_have_the_names_that_they_run_under():
    """Keras compiles its step within a function that another one calls."""
    inner = _Graph(
        {"dense/MatMul": "MatMul", "call": "PartitionedCall"}, call=SimpleNamespace(_cached_graph=None)
    )
    outer = _Graph({"x": "Placeholder", "step": "StatefulPartitionedCall"}, step=SimpleNamespace(graph=inner))
    assert [name for name, _ in oplog._operations(outer)] == ["x", "step", "step/dense/MatMul", "step/call"]


def test_the_last_trace_is_found_in_tensorflow_2_0_to_2_2():
    """Their functions do not list their traces: those that create variables come first."""
    from stepscope.capture.tf2 import graph_of

    def traced(*graphs: str) -> SimpleNamespace:
        primary = {graph: SimpleNamespace(graph=graph) for graph in graphs}
        return SimpleNamespace(_function_cache=SimpleNamespace(primary=primary))

    assert graph_of(SimpleNamespace(_stateful_fn=traced("a"), _stateless_fn=traced("b", "c"))) == "c"
    assert graph_of(SimpleNamespace(_stateful_fn=traced("a"), _stateless_fn=None)) == "a"
    assert graph_of(SimpleNamespace(_stateful_fn=None, _stateless_fn=None)) is None
