"""docs/yardstick.md: the scores that are kept, the programs and the traces. A test compares it with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import kept
from benchmarks.yardstick import score, tools, truth

PAGE = Path(__file__).resolve().parents[2] / "docs" / "yardstick.md"
HEAD = """\
# The yardstick

How often is a profiler right about programs and traces whose truth is known? Every tool that reads an input
gets the same questions, and its best answer counts. [The rules](../benchmarks/yardstick/README.md) say how
truth is found, what counts as right, and what is not scored. The programs and the scorer are beside them.
`python -m benchmarks.yardstick page` makes this page from the kept scores and the truths.

A score is *right of answered*. `-` means that the tool gives no such answer.
"""
MARKS = {True: "✓", False: "✗", None: "-"}
TITLES = {
    "stepscope": "stepscope",
    "xprof": "xprof",
    "tracelens": "TraceLens",
    "hta": "HTA",
    "pyinstrument": "pyinstrument",
}
PARTS = {
    "programs": {"right": "cause", "placed": "place", "placed_first": "place, first alone"},
    "traces": {
        "limit": "limit",
        "cause": "cause",
        "busy": "busy time",
        "step": "step",
        "longest": "longest op",
    },
}

Found = Mapping[str, Any]


def text() -> str:
    """The page."""
    found = kept.read("yardstick")
    lines = [HEAD]
    lines += ["## Programs with a planted cause", "", *_scores(found, "programs")]
    lines += [*_each(found, "programs")]
    lines += ["## Steps without the cause", "", *_gains(found)]
    lines += ["## Traces of other projects", "", *_scores(found, "traces"), *_each(found, "traces")]
    lines += ["## How each tool is read", "", *_readings(found)]
    lines += ["## The programs", "", *_programs(), "", "## The traces", "", *_traces()]
    return "\n".join(lines) + "\n"


def _scores(found: Found, part: str) -> Iterator[str]:
    names = PARTS[part]
    asked = sorted({name for one in found.get(part, {}).values() for name in one["found"]})
    if not asked:
        yield "Nothing is kept yet."
        yield ""
        return
    rows = []
    for tool in tools.NAMES:
        if tool in found[part]:
            results = found[part][tool]["found"]
            rows.append(
                [TITLES[tool], found[part][tool]["version"], *(_share(results, name) for name in names)]
            )
    yield f"{len(asked)} were asked about."
    yield ""
    yield from _table(["tool", "version", *names.values()], rows)
    yield ""


def _share(results: Found, name: str) -> str:
    """Right of answered."""
    known = [one[name] for one in results.values() if one[name] is not None]
    if not known:
        return "-"
    return f"{sum(known)} of {len(known)}"


def _each(found: Found, part: str) -> Iterator[str]:
    told = found.get(part, {})
    asked = [tool for tool in tools.NAMES if tool in told]
    names = PARTS[part]
    rows = []
    for name in sorted({name for one in told.values() for name in one["found"]}):
        cells = []
        for tool in asked:
            one = told[tool]["found"].get(name)
            answered = one is not None and any(one[key] is not None for key in names)
            cells.append(" ".join(MARKS[one[key]] for key in names) if answered else "")
        rows.append([f"`{name}`", *cells])
    if rows:
        yield f"Each: {', '.join(names.values())}. Empty: the tool does not read it, or gives no answer."
        yield ""
        yield from _table(["", *(TITLES[tool] for tool in asked)], rows)
        yield ""


def _gains(found: Found) -> Iterator[str]:
    """What tools predict of the fixed programs, and how near another run of those comes."""
    rows = []
    for tool, told in found.get("programs", {}).items():
        shares = score.shares(list(told["found"].values()))
        if any(one["gain"] is not None for one in told["found"].values()):
            rows += [[TITLES[tool], name, shares[name]] for name in score.GAINS]
    yield (
        "From a recording of the slow program, a tool predicts how long a step of the fixed one takes: as a "
        "number with bounds, or only as a bound where the recording supports no more; and by how much it "
        "is shorter. Both programs are timed without a profiler, in turns. Where there were several "
        "recordings, the one is kept whose steps agree best with those of the turns: the rules say what "
        "that flatters."
    )
    yield ""
    yield from _table(["tool", "what is right", "share"], rows)
    yield ""


def _readings(found: Found) -> Iterator[str]:
    for name, module in tools.modules().items():
        told = [found[part][name] for part in PARTS if name in found.get(part, {})]
        when = sorted({_when(one) for one in told})
        yield f"- **{TITLES[name]}**: {module.ABOUT}" + (f" Asked: {'; '.join(when)}." if when else "")
    yield ""


def _when(one: Found) -> str:
    machine = one["machine"]
    return f"{one['date']}, {machine['cores']} cores, load {machine['load']:.0f}"


def _programs() -> Iterator[str]:
    rows = []
    for program in truth.programs():
        place = program.truth["place"]
        line = "" if place is None else f"{place['line_from']}, `{place['function']}`"
        causes = ", ".join(
            [program.truth["cause"], *(f"({one})" for one in program.truth["also_acceptable"])]
        )
        rows.append([f"`{program.name}`", causes, line, program.truth["fix"] or ""])
    yield f"{len(rows)} programs. In brackets: other causes that count as right."
    yield ""
    yield from _table(["program", "cause", "place", "fix"], rows)


def _traces() -> Iterator[str]:
    traces = truth.traces()
    yield (
        f"{len(traces)} traces, none of them part of this repository; `traces.json` has the SHA-256 of each "
        "and the longest op."
    )
    yield ""
    rows = []
    for trace in traces:
        known = trace.truth
        busy = ", ".join(f"{values[-1]:g}" for values in (known.get("busy_ms") or {}).values())
        steps = " to ".join(f"{ms:.4g}" for ms in known.get("step_ms", ()))
        limits = ", ".join(known["limit"]) + (f"; {', '.join(known['cause'])}" if known.get("cause") else "")
        where = f"{trace.project} `{Path(trace.file).name}`" if trace.file else trace.project
        rows.append([f"`{trace.name}`", trace.about, limits, busy, steps, f"{where} ({trace.licence})"])
    yield from _table(["trace", "what ran", "limit; cause", "busy, ms", "step, ms", "from"], rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(row)} |"
