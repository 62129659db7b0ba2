"""What limits each of several runs or hosts, as a table."""

from collections.abc import Sequence

from stepscope.instruments.causes.judgement import Judgement
from stepscope.report.judgement_text import own_sentence
from stepscope.report.names import place_of
from stepscope.report.parts import Column, Section, Table

_COLUMNS = (
    Column("run_id", "text", "Run", "name of the run"),
    Column("host_id", "text", "Host", "name of the host"),
    Column("cause", "text", "Cause", "what limits its steps; none where nothing stands out"),
    Column("share", "ratio", "Share", "part of a mean step that the cause takes"),
    Column("steps", "int", "Steps", "steps that were judged; empty where the whole recording stands for one"),
    Column("mean_ps", "ps", "Step", "mean duration of a step"),
    Column("what", "text", "What", "stage, type of op or line"),
    Column("confidence", "text", "Confidence", "high, medium or low"),
    Column("said", "text", "In words", "what limits its steps, as a sentence"),
)


def answers(judged: Sequence[Judgement]) -> Section | None:
    """One row for each; None for a single one."""
    if len(judged) < 2:
        return None
    rows = tuple(
        (
            judgement.run_id,
            judgement.host_id,
            judgement.cause,
            judgement.share,
            None if judgement.whole_capture else judgement.steps,
            judgement.mean_ps,
            judgement.spoken
            or judgement.stage
            or judgement.written_op
            or judgement.op_type
            or (None if judgement.place is None else place_of(judgement.place)),
            judgement.confidence,
            own_sentence(judgement),
        )
        for judgement in judged
    )
    runs = len({judgement.run_id for judgement in judged})
    title = "Each run" if runs == len(judged) else "Each host"
    return Section("answers", title, "What limits each run and host?", table=Table.whole(_COLUMNS, rows))
