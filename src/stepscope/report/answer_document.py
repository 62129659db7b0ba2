"""The judgement for programs: `answer`, `causes` and `answers` of the summary's JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from stepscope import units
from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.cause_facts import Retrace
from stepscope.instruments.causes.explanation import Explanation
from stepscope.instruments.causes.judgement import Judgement
from stepscope.report import remains
from stepscope.report.cause_phrases import calls
from stepscope.report.cause_text import forbidding
from stepscope.report.compile_text import change
from stepscope.report.judgement_text import own_sentence
from stepscope.report.names import function_of, unit_of
from stepscope.report.parts import Note
from stepscope.step_labels import LOOKS
from stepscope.store_rows import LACKS


def document(judged: Sequence[Judgement], notes: Sequence[Note], unrelated: bool = False) -> dict[str, Any]:
    """`answer` and `causes` of the summary's JSON, and `answers` with those of each run and host; times in
    picoseconds, shares from 0 to 1. Several runs, or unrelated recordings, have no answer in common."""
    known = [
        judgement if forbidding(judgement) is None else _nothing_known(judgement) for judgement in judged
    ]
    answers = [_answer(judgement, notes) for judgement in known]
    single = len({judgement.run_id for judgement in judged}) == 1 and not unrelated
    return {
        "answer": answers[0] if single else None,
        "causes": _causes(known[0]) if single else [],
        "answers": [
            {**answer, "causes": _causes(answered), "said": own_sentence(judgement)}
            for answer, answered, judgement in zip(answers, known, judged, strict=True)
        ],
    }


def _nothing_known(judgement: Judgement) -> Judgement:
    """What still holds of a judgement if the host's steps say nothing about the length of a step."""
    without_evidence = vars(Explanation())
    return replace(
        judgement,
        cause="unknown",
        share=0.0,
        ps_per_step=0,
        confidence="low",
        parts=(),
        rival=None,
        compiling=None,
        **without_evidence,
    )


def _causes(judgement: Judgement) -> list[dict[str, Any]]:
    return [
        {"cause": part.label, "share": part.share, "ps_per_step": part.ps_per_step}
        for part in judgement.causes
    ]


def _answer(judgement: Judgement, notes: Sequence[Note]) -> dict[str, Any]:
    left = remains.remains(judgement)
    weak = [note.slug for note in notes if note.effect in LACKS or note.slug == "truncated"]
    return {
        "cause": judgement.cause,
        "share": judgement.share,
        "ps_per_step": judgement.ps_per_step,
        "place": _place(judgement.place),
        "called_from": _place(judgement.called_from),
        "spent_in": _place(judgement.spent_in),
        "op": judgement.op,
        "op_type": judgement.op_type,
        "stage": judgement.stage,
        "function": judgement.function,
        "mark": judgement.mark,
        "retraced": _retraced(judgement.retrace),
        "confidence": judgement.confidence,
        "because": list(_reasons(judgement)),
        "weakened_by": list(dict.fromkeys([*judgement.weak, *(law.law for law in judgement.broken), *weak])),
        "step_ps": judgement.mean_ps,
        "typical_step_ps": judgement.typical_ps,
        "untraced_step_ps": judgement.untraced_ps,
        "step_if_removed_ps": left.ps,
        "low": left.low_ps,
        "high": left.high_ps,
        "saved_ps": left.saved_ps,
        "saved_low": left.saved_low_ps,
        "saved_high": left.saved_high_ps,
        "run": judgement.run_id,
        "host": judgement.host_id,
    }


def _retraced(retrace: Retrace | None) -> dict[str, Any] | None:
    if retrace is None:
        return None
    return {
        "function": retrace.function,
        "called": _place(retrace.called),
        "change": retrace.change,
        "argument": retrace.argument,
        "was": retrace.was,
        "became": retrace.became,
        "times": retrace.times,
        "steps": retrace.steps,
    }


def _place(place: CodeLine | None) -> dict[str, Any] | None:
    if place is None:
        return None
    function = None if place.function is None else function_of(place.function)
    return {"file": place.file, "line": place.line, "function": function}


def _reasons(judgement: Judgement) -> Iterator[str]:
    """What speaks for the cause."""
    plural = "batches" if judgement.serves else None
    steps = units.count(judgement.steps, unit_of(judgement), plural)
    whole = "the recording" if judgement.whole_capture else steps
    for part in judgement.causes:
        drawn = part.label == "compute" and not judgement.of_ops
        word = "what was drawn" if drawn else LOOKS[part.label].word
        yield f"{word}: {units.show(part.share, 'ratio')} of {whole}"
    if judgement.stage is not None:
        yield f"{judgement.spoken or judgement.stage} is the stage that holds the program up most"
    if judgement.op_type is not None and judgement.op_share is not None:
        runs_as = f" (as {judgement.op_type})" if judgement.written_op else ""
        share = units.show(judgement.op_share, "ratio")
        whole = "all compute time" if judgement.of_ops else "what was drawn"
        yield f"{judgement.written_op or judgement.op_type}{runs_as} takes {share} of {whole}"
    if judgement.compiling:
        yield f"{units.count(judgement.compiling, 'step')} traced or compiled something"
    if judgement.retrace is not None:
        again = units.count(judgement.retrace.times, "call")
        yield f"{again} of `{judgement.retrace.function}` compiled again: {change(judgement.retrace)}"
    if judgement.calls:
        yield calls(judgement, of_others=" of the framework")
