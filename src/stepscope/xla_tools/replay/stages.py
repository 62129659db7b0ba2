"""Stages of a module run one after the other with the same inputs, or one stage with two sets of flags."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stepscope.errors import StepscopeError, UnreadableSource
from stepscope.formats.xla import compiles
from stepscope.formats.xla.compiles import Stage
from stepscope.xla_tools.replay import cut, inputs
from stepscope.xla_tools.replay.running import PLAIN, ReplayFailure, ReplayRun, Runner

COLUMNS = (
    *("module", "id", "stage", "pass", "part", "flags", "runs", "median_ps", "least_ps", "first_ps"),
    *("compile_ps", "outputs", "verdict", "elements", "beyond", "nan", "max_difference", "max_relative"),
    *("tolerance", "compared_with", "output", "index", "values", "custom_calls", "device", "jax", "file"),
    "problem",
)
"""A row is a stage with a set of flags. runs: that were timed; first_ps: the run before them, with what is
done once. verdict: reference, identical, within (the tolerance), differs, random (it draws numbers of its
own) or failed. beyond: elements that differ by more than the tolerance; nan: elements of what it is compared
with that are NaN. max_difference: the largest, and max_relative that over the value and the root mean
square of its array together; NULL for a difference that is infinite. output, index, values: where it is
largest, and both values. compared_with: the stage or flags before, of which the results are known. problem:
why it failed."""

_PS = 1000


class RequestedStage(NamedTuple):
    """A stage with flags."""

    stage: Stage
    flags: tuple[str, ...]

    @property
    def is_plain(self) -> bool:
        """Whether XLA's optional passes are off."""
        return self.flags[: len(PLAIN)] == PLAIN


def requested(
    every: compiles.Compile,
    wanted: str | None,
    flags: tuple[str, ...],
    against: tuple[str, ...] | None,
    *,
    optimized: bool,
) -> list[RequestedStage]:
    """The stages of a compile that are asked for, with their flags, in order. wanted: a stage, A..B, or
    passes, which are all; the last where none is named. against: other flags for the same stage. optimized:
    XLA's optional passes are on, also when stages are compared."""
    if wanted == "passes":
        chosen = every
    elif wanted is None:
        chosen = [every[-1]]
    elif ".." in wanted:
        first, _, last = wanted.partition("..")
        chosen = [every[compiles.place(every, end)] for end in (first or "before", last or "after")]
    else:
        chosen = [every[compiles.place(every, wanted)]]
    common = (*PLAIN, *flags) if len(chosen) > 1 and not optimized else flags
    asked = [RequestedStage(stage, common) for stage in chosen]
    return asked if against is None else [*asked, RequestedStage(chosen[0], against)]


def program(path: str, part: str | None, runner: Runner) -> cut.ReplayProgram:
    """What a file says, or a part of it, as a program. UnreadableSource when it is damaged."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UnreadableSource(
            "The module can no longer be read", seen=str(error), todo="dump it again", path=path
        ) from error
    proto = runner.proto_of_text(path) if is_text(data) else inputs.read(data).module
    module = cut.Module(proto)
    return module.whole() if part is None else module.part(part)


def is_text(data: bytes) -> bool:
    """Whether a dump is HLO text."""
    return data[:4096].lstrip().startswith((b"HloModule", b"//")) or data[:1] in (b"%", b"E")


def rows(
    asked: Sequence[RequestedStage],
    part: str | None,
    runner: Runner,
    tolerance: float | None,
    say: Callable[[str], None],
) -> Iterator[dict[str, Any]]:
    """Rows with COLUMNS, as soon as each is known. A stage whose program equals that before it gives none.
    say: is given the stage that is run now."""
    compared = len(asked) > 1
    before: tuple[str, ReplayRun] | None = None
    last: tuple[bytes, tuple[str, ...]] | None = None
    for stage in asked:
        title = name(stage, asked)
        row = _row(stage, part)
        try:
            made = program(stage.stage.path, part, runner)
        except StepscopeError as error:
            if not compared:
                raise
            yield {**row, "verdict": "failed", "problem": f"{error.happened}: {error.seen}"}
            continue
        if last == (made.proto, stage.flags):
            continue
        last = made.proto, stage.flags
        say(title)
        row["custom_calls"] = ", ".join(made.custom_calls) or None
        ran = runner.run(made, stage.flags, keep=compared)
        if isinstance(ran, ReplayFailure):
            yield {**row, "verdict": "failed", "problem": f"{ran.at}: {ran.message}"}
            continue
        row.update(_times(ran))
        if compared:
            row.update(_compared(before, ran, made, runner, tolerance))
        if row["verdict"] in (None, "reference", "identical", "within", "differs"):
            before = title, ran
        yield row


def name(stage: RequestedStage, asked: Sequence[RequestedStage]) -> str:
    """What tells a stage, or flags, from the others."""
    if len({other.stage.path for other in asked}) > 1 or len(asked) == 1:
        number = stage.stage.row["pass_number"]
        return stage.stage.name if number is None else f"{number} {stage.stage.name}"
    return " ".join(stage.flags) or "no flags"


def _row(stage: RequestedStage, part: str | None) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    row.update({key: stage.stage.row[key] for key in ("module", "id", "stage", "pass", "file")})
    added_flags = stage.flags[len(PLAIN) :] if stage.is_plain else stage.flags
    row.update({"part": part, "flags": " ".join(added_flags) or None})
    return row


def _times(ran: ReplayRun) -> dict[str, Any]:
    return {
        "runs": len(ran.spent_ns),
        "median_ps": round(statistics.median(ran.spent_ns) * _PS),
        "least_ps": min(ran.spent_ns) * _PS,
        "first_ps": ran.first_ns * _PS,
        "compile_ps": ran.compile_ns * _PS,
        "outputs": ran.outputs,
        "device": ran.device,
        "jax": ran.jax,
    }


def _compared(
    before: tuple[str, ReplayRun] | None,
    ran: ReplayRun,
    made: cut.ReplayProgram,
    runner: Runner,
    tolerance: float | None,
) -> dict[str, Any]:
    if made.is_random:
        return {"verdict": "random", "problem": "it draws random numbers, others in each run"}
    if before is None:
        return {"verdict": "reference"}
    title, other = before
    assert other.results is not None
    assert ran.results is not None
    comparison = runner.compare(other.results, ran.results, tolerance)
    if "other" in comparison:
        return {"verdict": "failed", "problem": f"compare: {comparison['other']}"}
    is_same = comparison["output"] is None
    found = {
        "verdict": "identical" if is_same else "differs" if comparison["beyond"] else "within",
        "elements": comparison["elements"],
        "beyond": comparison["beyond"],
        "nan": comparison["nan"],
        "max_difference": comparison["absolute"],
        "max_relative": comparison["relative"],
        "compared_with": title,
    }
    if not is_same:
        found["output"] = comparison["output"]
        found["index"] = ",".join(map(str, comparison["at"])) or None
        found["values"] = " → ".join(comparison["values"])
        found["tolerance"] = comparison["tolerance"]
    return found
