"""Steps that stepscope's own export wrote into a Chrome trace (see `stepscope.exporters.own_marks`)."""

from collections.abc import Mapping
from typing import Any

from stepscope import strict_json
from stepscope.instruments.step_evidence import EVIDENCE, Step

_KINDS = (
    *("train", "eval", "predict", "export", "prefill", "decode", "mixed"),
    *("compile", "warm_up", "cut_off", "unknown"),
)
_TOLD_BY = (*(evidence for evidence, _ in EVIDENCE), "file", "recorder", "estimator", "device")
_LONGEST_PS = 2**62


_NOT_AS_EXPORTED = (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)
"""What reading steps raises that the export did not write."""


def exported(meta: Mapping[str, str]) -> list[Step]:
    """The steps that stepscope's export of a Chrome trace tells; none when what it says makes no sense."""
    steps: list[Step] = []
    origin_ps = int(meta.get("origin_us", 0)) * 1_000_000  # the decoder's: times of the table count from it
    number = 0
    while (text := meta.get(f"stepscopeSteps{number}")) is not None:
        number += 1
        try:
            members = strict_json.members(text)
            words = members["words"]
            for name, kind, source, reason, step, ts_ps, dur_ps, averaged in members["rows"]:
                texts = [words[place] for place in (name, kind, source, reason)]
                name, kind, source, reason = (word.encode().decode() for word in texts)  # no lone surrogates
                if type(ts_ps) is int:
                    ts_ps -= origin_ps
                whole = _are_times(ts_ps, dur_ps, 0 if step is None else step)
                known = kind in _KINDS and source in _TOLD_BY and type(averaged) is bool
                follows = not steps or steps[-1].end_ps <= ts_ps
                if not (whole and known and follows and dur_ps >= 0):
                    return []
                steps.append(Step(name, step, ts_ps, ts_ps + dur_ps, source, kind, averaged, reason))
        except _NOT_AS_EXPORTED:
            return []
    return steps


def _are_times(*numbers: Any) -> bool:
    return all(type(number) is int and abs(number) < _LONGEST_PS for number in numbers)
