"""Ops of which an op log tells the lines."""

from __future__ import annotations

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
