"""What-ifs of the pipeline view: a request becomes settings of the instrument, its outcome the answer."""

import math
from collections.abc import Sequence
from typing import Any, NoReturn

from stepscope.errors import NothingFound
from stepscope.instruments.pipeline import whatif
from stepscope.instruments.pipeline.diagnoses import SourcePipelines
from stepscope.report.stage_names import limit
from stepscope.report.waiting_answer import NO_BATCHES, RECORD_BATCHES
from stepscope.server.replies import refuse

MOST_THREADS = 1024
MOST_WORK = 100.0
MOST_STAGES = 10_000
KEYS = ("pipeline", "cores", "prefetch", "stages")


def answer(found: Sequence[SourcePipelines], given: dict[str, Any]) -> dict[str, Any]:
    """The predicted step. given: {"pipeline": its place in the report, "cores": int or null, "prefetch":
    bool, "stages": [{"number", "width", "work"}]}. Refused with 400 when that makes no sense, NothingFound
    when the recording does not tell."""
    number = _integer(given["pipeline"], "pipeline", 0, 10**6)
    cores = None if given["cores"] is None else _integer(given["cores"], "cores", 1, MOST_THREADS)
    if not isinstance(given["prefetch"], bool):
        _refuse("prefetch", "true or false")
    stages = given["stages"]
    if not isinstance(stages, list) or len(stages) > MOST_STAGES:
        _refuse("stages", f"a list of at most {MOST_STAGES} stages")
    settings = [_setting(stage) for stage in stages]
    if number >= len(found):
        raise NothingFound(
            "There is no such pipeline.",
            seen=f"pipeline {number} of {len(found)}",
            todo="count them as the report of the pipeline lists them, from 0",
        )
    diagnosis = found[number].diagnosis
    outcome = whatif.ask(
        diagnosis,
        [whatif.Setting(stage, width, work) for stage, width, work in settings],
        cores=cores,
        prefetch=given["prefetch"],
    )
    if outcome is None or diagnosis.step_ps is None:
        raise NothingFound(
            "The recording does not show how long a step takes.", seen=NO_BATCHES, todo=RECORD_BATCHES
        )
    then = outcome.prediction
    return {
        "now_ps": diagnosis.step_ps,
        "step_ps": then.step_ps,
        "low": then.low_ps,
        "high": then.high_ps,
        "limits_next": then.limits_next,
        "limit": limit(then.limits_next),
        "stages": [vars(need) for need in outcome.needs],
    }


def _setting(given: Any) -> tuple[int, int, float]:
    if not isinstance(given, dict) or set(given) != {"number", "width", "work"}:
        _refuse("a stage", "number, width and work for each stage")
    work = given["work"]
    is_number = isinstance(work, (int, float)) and not isinstance(work, bool)
    if not is_number or not math.isfinite(work) or not 0 <= work <= MOST_WORK:
        _refuse("work", f"a number from 0 to {MOST_WORK:.0f}")
    return (
        _integer(given["number"], "number", 0, 10**9),
        _integer(given["width"], "width", 1, MOST_THREADS),
        float(work),
    )


def _integer(given: Any, name: str, low: int, high: int) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or not low <= given <= high:
        _refuse(name, f"a whole number from {low} to {high}")
    return given


def _refuse(name: str, wanted: str) -> NoReturn:
    refuse(f"another {name}", f"send {wanted}", "The what-if makes no sense.")
