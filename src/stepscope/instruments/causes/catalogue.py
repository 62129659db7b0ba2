"""The causes and their thresholds, to list: what `stepscope docs causes` prints."""

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from stepscope.instruments.causes import (
    call_paths,
    confidence,
    contention,
    gain,
    paces,
    sampled_lines,
    side_effects,
    traced_calls,
)
from stepscope.instruments.causes.all_causes import CAUSES
from stepscope.instruments.causes.cause import LineCause
from stepscope.instruments.step_breakdown import interpreter_lock, sample_attribution, session_runs
from stepscope.instruments.thresholds import Threshold, thresholds_of
from stepscope.step_labels import LOOKS

SHARED = (
    interpreter_lock, sample_attribution, session_runs,
    call_paths, sampled_lines, traced_calls, side_effects, paces, gain, contention, confidence,
)  # fmt: skip
"""Modules with thresholds that several causes, or the breakdown of a step, go by."""


class CatalogueEntry(NamedTuple):
    """A cause, or what several of them go by."""

    name: str
    about: str
    group: Any
    """The instance that has the thresholds."""

    @property
    def thresholds(self) -> tuple[Threshold, ...]:
        """Its thresholds, each with what is known of it."""
        return tuple(thresholds_of(self.group))


def causes() -> Iterator[CatalogueEntry]:
    """Every cause by its label, then what several go by."""
    for name, cause in CAUSES.items():
        if name != "none":  # ops of which none stands out: as those of which one does
            has_module = type(cause) is not LineCause
            about = _about(type(cause).__module__) if has_module else f"{LOOKS[name].about}."
            yield CatalogueEntry(name, about, cause.thresholds)
    for module in SHARED:
        plain = module.__name__.rpartition(".")[2].replace("_", "-")
        yield CatalogueEntry(plain, _about(module.__name__), module.THRESHOLDS)


def _about(module: str) -> str:
    return (sys.modules[module].__doc__ or "").partition("\n\n")[0].strip().replace("\n", " ")
