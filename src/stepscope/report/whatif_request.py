"""Asks a trace what its steps would take after a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from stepscope.errors import NothingFound, UsageError
from stepscope.instruments.causes import ranking
from stepscope.instruments.pipeline import diagnoses
from stepscope.instruments.pipeline import whatif as threads
from stepscope.instruments.replay import uncovered_work
from stepscope.instruments.replay.whatif import CAUSES, DurationChange, ask
from stepscope.report import whatif
from stepscope.report.parts import Report
from stepscope.report.waiting_answer import NO_BATCHES, RECORD_BATCHES

if TYPE_CHECKING:
    from stepscope.instruments.pipeline.diagnoses import SourcePipelines
    from stepscope.instruments.step_breakdown.labels import Label
    from stepscope.session.trace import OpenTrace

_MOST = 100.0
"""An op may take up to so many times as long."""


@dataclass(frozen=True)
class WhatIfRequest:
    """What is to change; nothing: what limits the steps goes."""

    without: str | None = None
    ops: Mapping[str, float] = field(default_factory=dict)
    workers: int | None = None

    @classmethod
    def of(cls, without: str | None, ops: Sequence[str], workers: int | None) -> WhatIfRequest:
        """From words of a command line. UsageError where they make no sense."""
        if without is not None and without not in CAUSES:
            raise UsageError(
                "There is no such cause",
                seen=f"--without {without}",
                todo=f"choose one of {', '.join(CAUSES)}",
            )
        if workers is not None and (without is not None or ops):
            raise UsageError(
                "Workers are predicted alone",
                seen="--workers beside --without or --op",
                todo="ask twice: the input pipeline and the rest of a step have models of their own",
            )
        return cls(without, dict(_part(word) for word in ops), workers)


def _part(word: str) -> tuple[str, float]:
    name, _, part = word.rpartition("=")
    try:
        left = float(part)
    except ValueError:
        left = -1.0
    if not name or not 0 <= left <= _MOST:
        raise UsageError(
            "An op needs the part of its time that is left",
            seen=f"--op {word}",
            todo="write NAME=0.5 for an op that takes half of its time; 0 takes it out",
        )
    return name, left


def answer(trace: OpenTrace, asked: WhatIfRequest, title: str) -> Report:
    """The report. NothingFound where the recording has no steps, or nothing that drives them."""
    if asked.workers is not None:
        return _workers(trace, asked.workers, title)
    without = asked.without
    judged = uncovered_work.raised(
        trace.query, trace.stream, ranking.judge(trace.query, cast("Label | None", without))
    )
    if without is None and not asked.ops:
        without = next((judgement.cause for judgement in judged if judgement.cause in CAUSES), None)
        if without is None:
            if all(judgement.whole_capture for judgement in judged):
                raise _no_steps()
            raise NothingFound(
                "Nothing limits the steps that could be taken away",
                seen="no cause stands out",
                todo="name what is to change: --without CAUSE or --op NAME=0.5",
            )
    change = DurationChange(cast("Label | None", without), asked.ops)
    found = ask(trace.query, trace.stream, change)
    if not found and whatif.limits(change, judged) is None:
        raise _no_steps()
    return whatif.build(title, change, found, judged)


def _no_steps() -> NothingFound:
    return NothingFound(
        "There are no steps that can be replayed",
        seen="no steps, or none that a thread or stream of this recording drives",
        todo="ask for the cause that limits the steps, or record where a profiler tells threads: "
        "stepscope record -- CMD, with TensorFlow from 2.3 on, JAX or PyTorch",
    )


def _workers(trace: OpenTrace, workers: int, title: str) -> Report:
    limited = [
        pipelines for pipelines in diagnoses.find(trace.query) if pipelines.diagnosis.bottleneck is not None
    ]
    if not limited:
        raise NothingFound(
            "No stage of an input pipeline limits these steps",
            seen="nothing that more workers would help",
            todo="stepscope pipeline PATH tells what was recorded of it",
        )
    first: SourcePipelines = max(limited, key=lambda pipelines: pipelines.diagnosis.wait_share or 0.0)
    load = first.diagnosis.bottleneck
    assert load is not None
    outcome = threads.ask(first.diagnosis, [threads.Setting(load.stage.number, workers)])
    if outcome is None or first.diagnosis.step_ps is None:
        raise NothingFound(
            "The recording does not show how long a step takes", seen=NO_BATCHES, todo=RECORD_BATCHES
        )
    return whatif.pipeline_answer(title, workers, load.stage.name, first.diagnosis.step_ps, outcome)
