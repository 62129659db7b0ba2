"""A diagnosed tf.data pipeline as a diagram for the terminal, and as JSON for programs.

The diagram stands as data flows back: the program that takes the batches first, then each stage with what
it takes from below it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

from stepscope import units
from stepscope.instruments.pipeline.changes import Change
from stepscope.instruments.pipeline.diagnoses import Found
from stepscope.instruments.pipeline.places import Code
from stepscope.instruments.pipeline.rates import Load
from stepscope.instruments.pipeline.stages import Stage
from stepscope.instruments.pipeline.verdict import Diagnosis
from stepscope.presenters.paragraph import paragraph
from stepscope.presenters.plain import plain
from stepscope.presenters.rows import cells, shorten_cells

FORMAT = 1
"""Version of the JSON form; it is raised when a key changes its meaning or goes away."""

NOTHING = (
    "There is nothing to say about an input pipeline: no tf.data events and no waiting for a batch "
    "were recorded.",
    "  to do: record with tf.profiler.experimental.start(…) around some steps of the loop, in the process "
    "that makes the batches; RunMetadata and timelines of a session do not hold these events",
)

_TITLES = {
    "input_bound": "The input is the bottleneck",
    "partly_input_bound": "The input is a part of the bottleneck",
    "not_input_bound": "The input is not the bottleneck",
    "unknown": "Whether the input is the bottleneck cannot be told",
}
_MARK = "◀ bottleneck"


def render(found: Sequence[Found], *, width: int, color: bool) -> str:
    """The diagnoses, one below the other, the one that waits most first."""
    out = io.StringIO()
    for number, one in enumerate(_ordered(found)):
        out.write("\n" if number else "")
        _write(one, out, max(width, 40), color)
    return out.getvalue()


def _write(one: Found, out: io.StringIO, width: int, color: bool) -> None:
    def paint(code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if color else text

    diagnosis = one.diagnosis
    out.write(paint("2", plain(one.path, width)) + "\n")
    title = f"{_TITLES[diagnosis.verdict]} (confidence {diagnosis.confidence})."
    out.write(paint("1;31" if diagnosis.verdict == "input_bound" else "1", title) + "\n")
    for sentence in diagnosis.evidence:
        wrap(sentence, out, width, "  ")
    if diagnosis.loads:
        out.write("\n")
        _diagram(diagnosis, out, width, paint)
        out.write(
            paint("2", "  in brackets: the place in your chain of transformations; the source is 0") + "\n"
        )
    if diagnosis.changes:
        out.write("\n" + paint("1", "What a change would gain") + " (predicted duration of a step)\n")
        for change in diagnosis.changes:
            p = change.prediction
            if change.unknown:
                wrap(f"unknown: {change.what}; {change.unknown}.", out, width, "  ", paint("2", "?"))
                continue
            steps = f"{_ps(p.step_ps)} ({_ps(p.low_ps)} to {_ps(p.high_ps)})"
            helps = f"then {_short(p.limits_next)} limits" if change.helps else "would not help"
            wrap(
                f"{steps}: {change.what}; {helps}.",
                out,
                width,
                "  ",
                paint("2", "-") if not change.helps else "+",
            )
            if change.code is not None and change.helps:
                _code(change.code, out, width, paint)


def _code(code: Code, out: io.StringIO, width: int, paint: Any) -> None:
    """The line to change, and what it would be then."""
    out.write(paint("2", shorten_cells(f"      {plain(code.file)}:{code.line}", width)) + "\n")
    if code.after is not None:
        for mark, text, color in (("-", code.before, "31"), ("+", code.after, "32")):
            out.write(paint(color, shorten_cells(f"      {mark} {plain(text)}", width)) + "\n")


def _diagram(diagnosis: Diagnosis, out: io.StringIO, width: int, paint: Any) -> None:
    loads = diagnosis.loads
    worst = diagnosis.bottleneck
    lines: list[tuple[str, Load | None]] = []
    if diagnosis.waits is not None:
        traced_ps = diagnosis.waits.step_ps
        untraced_ps = diagnosis.step_ps or traced_ps
        told = f", {_ps(untraced_ps)} when nothing is traced" if untraced_ps != traced_ps else ""
        lines.append((f"program  a step takes {_ps(traced_ps)}{told}", None))
    below: dict[int, list[Load]] = {}
    for load in loads:
        above = load.stage.above or next((o.stage for o in loads if o.stage.fed_by is load.stage), None)
        below.setdefault(-1 if above is None else above.number, []).append(load)
    todo = [(load, "", True) for load in reversed(below.get(-1, []))]
    while todo:
        load, indent, last = todo.pop()
        written = diagnosis.places.get(load.stage, ())
        at = f"  {written[0].file}:{written[0].line}" if written and written[0].file else ""
        lines.append((f"{indent}{'└─' if last else '├─'} {_label(load.stage)}{at}", load))
        inner = indent + ("   " if last else "│  ")
        rest = below.get(load.stage.number, [])
        todo += [(one, inner, one is rest[-1]) for one in reversed(rest)]
    names = [plain(text) for text, _ in lines]
    facts = ["" if load is None else _facts(load, load is worst) for _, load in lines]
    widest = min(max(map(cells, names)), max(width - 2 - max(map(cells, facts)), 16))
    for name, fact, (_, drawn) in zip(names, facts, lines, strict=True):
        text = shorten_cells(name, widest)
        line = f"{text}{' ' * (widest - cells(text))}  {fact}" if fact else name
        line = shorten_cells(line, width)
        out.write((paint("1;31", line) if drawn is not None and drawn is worst else line) + "\n")


def _facts(load: Load, is_worst: bool) -> str:
    fact = f"{_ps(load.service_ps)} a step"
    fact += f" on {units.count(load.width, 'thread')}" if load.width > 1 else ""
    return fact + (", ahead" if load.stage.ahead else "") + (f"  {_MARK}" if is_worst else "")


def _label(stage: Stage) -> str:
    last = stage.branch_name.rpartition("::")[2]
    branch = stage.branch_name.split("::")[-2] if "[" in stage.branch_name.rpartition("::")[0][-8:] else ""
    label = f"{branch} {last}" if branch.endswith("]") else last
    return f"{label} · {stage.told('{} ({})')}" if stage.user_stage else label


def wrap(text: str, out: io.StringIO, width: int, indent: str, bullet: str = "") -> None:
    """Writes a paragraph, later lines indented by two more."""
    first = indent + (f"{bullet} " if bullet else "")
    paragraph(text, out, width, first, indent + "  ", len(indent) + (2 if bullet else 0))


def to_json(found: Sequence[Found], missing: Sequence[str] = ()) -> str:
    """The diagnosis that waits most as the document, the others below `others`. Times are integer
    picoseconds, shares 0 to 1. missing: what of the recordings is lost, told where there is no diagnosis."""
    ordered = _ordered(found)
    if not ordered:
        document: dict[str, Any] = {
            "format": FORMAT,
            "verdict": "unknown",
            "confidence": "low",
            "wait_ratio": None,
            "bottleneck": None,
            "changes": [],
            "evidence": [*NOTHING[:1], *missing],
            "stages": [],
            "others": [],
        }
    else:
        document = {"format": FORMAT, **_document(ordered[0])}
        document["others"] = [_document(one) for one in ordered[1:]]
    return json.dumps(document, indent=2) + "\n"


def predicted(change: Change | None) -> dict[str, int | None]:
    """What a change is told to do to the step, in picoseconds; nulls where that is not known."""
    told = None if change is None or change.unknown else change.prediction
    return {
        "predicted_step_ps": None if told is None else told.step_ps,
        "low": None if told is None else told.low_ps,
        "high": None if told is None else told.high_ps,
    }


def _document(one: Found) -> dict[str, Any]:
    diagnosis, waits = one.diagnosis, one.diagnosis.waits
    worst = diagnosis.bottleneck
    return {
        "path": one.path,
        "run_id": one.run_id,
        "host_id": one.host_id,
        "verdict": diagnosis.verdict,
        "confidence": diagnosis.confidence,
        "wait_ratio": None if waits is None else waits.ratio,
        "wait_ratio_with_first_steps": None if waits is None else waits.ratio_all,
        "step_ps": diagnosis.step_ps,
        "traced_step_ps": None if waits is None else waits.step_ps,
        "wait_ps": None if waits is None else waits.wait_ps,
        "wait_shares": [] if waits is None else waits.shares,
        "steps_found": waits is not None and waits.has_steps,
        "bottleneck": None if worst is None else _stage(worst, diagnosis),
        "changes": [
            {
                "name": change.name,
                "stage": change.stage,
                "what": change.what,
                "helps": None if change.unknown else change.helps,
                "unknown": change.unknown or None,
                **predicted(change),
                "limits_next": None if change.unknown else change.prediction.limits_next,
                "code": None
                if change.code is None
                else {
                    "file": change.code.file,
                    "line": change.code.line,
                    "before": change.code.before,
                    "after": change.code.after,
                },
            }
            for change in diagnosis.changes
        ],
        "evidence": list(diagnosis.evidence),
        "cores": diagnosis.cores,
        "share_seen": diagnosis.share_seen,
        "stages": [_stage(load, diagnosis) for load in diagnosis.loads],
        "ceiling": None
        if diagnosis.ceiling is None
        else {
            "step_ps": diagnosis.ceiling.step_ps,
            "limits": diagnosis.ceiling.limits,
            "cores": [{"stage": stage, "cores": cores} for stage, cores in diagnosis.ceiling.cores],
        },
        "machine": None
        if diagnosis.machine is None
        else {
            "cores": diagnosis.machine.cores,
            "busy": diagnosis.machine.busy,
            "busiest_core": diagnosis.machine.busiest,
            "process_cores": diagnosis.machine.process_cores,
            "full": diagnosis.machine.full,
        },
        "model": None
        if diagnosis.accounts is None
        else {
            "batches": diagnosis.accounts.batches,
            "consumer_gap_ps": diagnosis.accounts.gap_ps,
            "cpu_budget": diagnosis.accounts.cores,
            "ram_budget_bytes": diagnosis.accounts.ram_bytes,
        },
    }


def _stage(load: Load, diagnosis: Diagnosis) -> dict[str, Any]:
    stage, account = load.stage, load.account
    return {
        "stage": stage.name,
        "branch_name": stage.branch_name,
        "user_stage": stage.user_stage,
        "user_position": stage.position,
        "pipeline": stage.pipeline,
        "number": stage.number,
        "consumer": None if stage.above is None else stage.above.number,
        "fed_by": None if stage.fed_by is None else stage.fed_by.number,
        "works_ahead": stage.ahead,
        "calls": load.calls,
        "total_ps": load.total_ps,
        "work_ps": load.work_ps,
        "service_ps": load.service_ps,
        "in_waits_ps": load.in_waits_ps,
        "queue_ps": load.queue_ps,
        "width": load.width,
        "parallelism": stage.parallelism,
        "threads": load.threads,
        "runs_python": load.python,
        "cpu_ps": load.cpu_ps,
        "trace_work_ps": load.trace_work_ps,
        "model_work_ps": load.model_work_ps,
        "work_from": load.work_from,
        "batch_bytes": None if account is None else account.batch_bytes,
        "elements_per_batch": None if account is None else account.visits,
        "buffer_fill": None if account is None else account.buffered,
        "code": [
            {"transformation": one.transformation, "file": one.file, "line": one.line, "text": one.text}
            for one in diagnosis.places.get(stage, ())
        ],
    }


def _ordered(found: Iterable[Found]) -> list[Found]:
    def waits(one: Found) -> float:
        return -1.0 if one.diagnosis.waits is None else one.diagnosis.waits.ratio

    return sorted(found, key=lambda one: (-waits(one), one.source_id))


def _short(name: str) -> str:
    return {"program": "the program itself", "cpu": "the CPU", "threads": "the thread pool"}.get(
        name, name.rpartition("::")[2]
    )


def _ps(value: int) -> str:
    return units.show(value, "ps")
