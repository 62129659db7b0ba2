"""Metrics of Keras: the line that made one stands for its ops. The classes stand in for those of Keras."""

import sys

import pytest

from stepscope.capture.metrics import Metrics


class Area:
    def update_state(self, labels: object) -> object:
        total = labels
        return total

    def result(self) -> None:
        pass


class Ranked(Area):
    """Updates as the class that it extends."""


class Counted(Area):
    def update_state(self, labels: object) -> object:
        return labels


LINE = Area.update_state.__code__.co_firstlineno + 1


def made(*kinds: type) -> Metrics:
    metrics = Metrics()
    for kind in kinds:
        metrics.made(kind, sys._getframe(0))  # line 38
    return metrics


@pytest.mark.parametrize(
    ("kinds", "line", "function", "is_known"),
    [
        ((Area,), LINE, "update_state", True),
        ((Ranked, Counted), LINE, "update_state", True),
        ((Counted,), LINE, "update_state", False),
        ((Area,), LINE + 30, "update_state", False),
        ((Area,), LINE, "result", False),
        ((), LINE, "update_state", False),
    ],
)
def test_a_frame_that_updates_a_metric_leads_to_where_that_was_made(
    kinds: tuple[type, ...], line: int, function: str, is_known: bool
) -> None:
    place = made(*kinds).place_of(__file__, line, function)
    assert place == ((__file__, made.__code__.co_firstlineno + 3, "made") if is_known else None)


def test_metrics_of_several_lines_that_share_their_code_are_not_told_apart() -> None:
    metrics = made(Area)
    metrics.made(Ranked, sys._getframe(0))
    assert metrics.place_of(__file__, LINE, "update_state") is None
