"""Sentences about the steps: how many, how long, by what they were found, and which averages leave out."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from stepscope import units
from stepscope.report import runs
from stepscope.report.names import RUN, host_of, listed
from stepscope.report.parts import Rows

_BATCHES = frozenset({"prefill", "decode", "mixed"})
"""Kinds of steps of a server: it infers in batches."""

_FOUND_BY = {
    "batch": "the server's marks of its batches",
    "marker": "marks in the program",
    "profiler_step": "the profiler's own marks",
    "session_run": "calls of Session.run",
    "function_run": "runs of the training function",
    "function_call": "calls of a compiled function",
    "optimizer_step": "updates of the optimizer",
    "get_next": "requests for the next batch",
    "file": "runs of a session; what lies between them was not recorded",
    "recorder": "the recorder",
    "device": "the accelerator's own work",
}
"""What shows where a step begins, by `recovered_from` of the view step."""

_LETTERS = (" A", " B", " C", " D")
"""Endings of the kinds of session runs that are told apart by what the runs do."""
_LONGEST_TURN = 8
"""Most runs after which kinds may begin anew."""
_MOST_GROUPS = 6
"""Groups of steps that get a sentence each; a table has the others."""
_MOST_LEFT_OUT = 3
"""How many reasons for leaving steps out are given, and how many steps are listed for each."""


def steps_of_kind(row: Mapping[str, Any], number: int) -> str:
    """Steps as the subject of a sentence: One training step, or Batches."""
    step, steps = _called(row)
    noun = f"one {step}" if number == 1 else steps
    return noun[0].upper() + noun[1:]


def sentences(rows_of: Mapping[str, Rows]) -> Iterable[str]:
    """How long the steps of each run, host and kind take, of a host the kind with most time first, and which
    are left out of that."""
    groups = sorted(
        (row for row in rows_of["step_times"] if row["averaged"]),
        key=lambda row: (row["run_id"], row["host_id"], -row["steps"] * row["mean_ps"]),
    )
    hosts = {run: {row["host_id"] for row in groups if row["run_id"] == run} for run in runs.run_ids(rows_of)}
    longest = sorted(groups, key=lambda row: -row["steps"] * row["mean_ps"])[:_MOST_GROUPS]
    for row in groups:
        if any(row is group for group in longest):
            where = f"{row['run_id']}: " if len(hosts) > 1 else ""
            on = f" on {host_of(row['host_id'])}" if len(hosts[row["run_id"]]) > 1 else ""
            number = units.count(row["steps"], *_called(row))
            yield f"{where}{number}{on}: {_durations(row)}."
    does = {row["kind"]: row["reason"] for row in rows_of["step_list"] if row["kind"].endswith(_LETTERS)}
    for kind in sorted(does) if len(hosts) == 1 else ():
        yield f"A run of {kind} {does[kind].rpartition(' (')[0]}."
    yield from _tokens(rows_of["step_list"])
    if len(groups) > len(longest):
        more = len(groups) - len(longest)
        yield f"{units.count(more, 'more group')} of steps: `step_times` lists them by run, host and kind."
    yield from _left_out(rows_of["step_list"], runs.are_several(rows_of))
    if are_whole(rows_of["step_list"]):
        yield "No steps were found: shares refer to the whole capture."


def _durations(group: Mapping[str, Any]) -> str:
    """How long the steps of a group take, and what they were found by."""
    found_by = f"found by {_FOUND_BY.get(group['recovered_from'], _words(group['recovered_from']))}"
    if group["steps"] == 1:
        return f"{_ps(group['mean_ps'])}; {found_by}"
    mean, median, most = (_ps(group[key]) for key in ("mean_ps", "median_ps", "p95_ps"))
    return f"mean {mean}, median {median}, 95 % within {most}; {found_by}"


def kind_means(rows_of: Mapping[str, Rows]) -> str:
    """What runs of each kind take where a program makes several, and what a turn of them takes; empty where
    it does not."""
    groups = [row for row in rows_of["step_times"] if row["averaged"]]
    took = {row["kind"]: row["mean_ps"] for row in groups}
    if len(took) < len(groups) or not any(kind.endswith(_LETTERS) for kind in took):
        return ""
    each = listed([f"{row['steps']:,} of {row['kind']} {_ps(row['mean_ps'])}" for row in groups])
    turn = _turn([row["kind"] for row in rows_of["step_list"] if row["averaged"]])
    together = _ps(sum(took[kind] for kind in turn))
    what = "a pair of them takes" if len(turn) == 2 else f"a turn of {len(turn)} takes"
    return f": {each}" + (f". They alternate, and {what} {together}" if turn else "")


def _turn(kinds: Sequence[str]) -> Sequence[str]:
    """The shortest sequence of kinds that repeats from the first run to the last; empty where none does."""
    lengths = range(2, min(_LONGEST_TURN, len(kinds) // 2) + 1)
    found = (kinds[:n] for n in lengths if all(a == b for a, b in zip(kinds, kinds[n:], strict=False)))
    return next(found, ()) if len(set(kinds)) > 1 else ()


def are_whole(steps: Rows) -> bool:
    """Whether rows of step_list stand for captures in which no step is delimited."""
    return bool(steps) and all(map(_is_whole, steps))


def _is_whole(step: Mapping[str, Any]) -> bool:
    return bool(step["recovered_from"] == "whole_capture")


def _left_out(steps: Rows, several: bool) -> Iterable[str]:
    """The steps that averages leave out, those of one kind and reason together. several: there are several
    runs."""
    groups: dict[tuple[str, str, str], Rows] = {}
    for row in steps:
        if not row["averaged"] and not _is_whole(row):
            groups.setdefault((row["run_id"], row["kind"], row["reason"]), []).append(row)
    shown = [
        f"{_numbers(rows)}{' of ' + run if several else ''} ({_kind_and_durations(kind, rows)}: {reason})"
        for (run, kind, reason), rows in list(groups.items())[:_MOST_LEFT_OUT]
    ]
    if shown:
        rest = sum(map(len, list(groups.values())[_MOST_LEFT_OUT:]))
        yield f"Left out of the averages: {', '.join(shown)}{f' and {rest:,} more' if rest else ''}."


def _numbers(steps: Rows) -> str:
    """Which steps these are: "step 4", "steps 4 to 13" or "steps 4, 6, 9 and 7 more"."""
    numbers = list(dict.fromkeys(row["step"] for row in steps))  # hosts count alike
    if len(numbers) == 1:
        return f"step {numbers[0]}"
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"steps {numbers[0]} to {numbers[-1]}"
    rest = len(numbers) - _MOST_LEFT_OUT
    words = [*map(str, numbers[:_MOST_LEFT_OUT]), *([f"{rest:,} more"] if rest > 0 else [])]
    return f"steps {listed(words)}"


def _kind_and_durations(kind: str, steps: Rows) -> str:
    """The kind, where it is known, and how long such steps take."""
    least, most = (_ps(end(row["dur_ps"] for row in steps)) for end in (min, max))
    durations = least if least == most else f"{least} to {most}"
    return durations if kind == "unknown" else f"{_words(kind)}, {durations}"


def _tokens(steps: Rows) -> Iterable[str]:
    """How long requests of a server wait for their next token: from one batch that decodes to the next."""
    hosts: dict[tuple[str, str], Rows] = {}
    for row in steps:
        if row["kind"] in _BATCHES:
            hosts.setdefault((row["run_id"], row["host_id"]), []).append(row)
    runs_that_serve = len({run for run, _ in hosts})
    for (run, host), batches in hosts.items():
        pairs = [
            (batch, after)
            for batch, after in pairwise(sorted(batches, key=lambda row: row["ts_ps"]))
            if (batch["kind"], after["kind"]) == ("decode", "decode")
        ]
        if not pairs:
            continue
        every_ps = sum(after["ts_ps"] - batch["ts_ps"] for batch, after in pairs) // len(pairs)
        between_ps = every_ps - sum(batch["dur_ps"] for batch, _ in pairs) // len(pairs)
        whose = f" on {host_of(host)}" if runs_that_serve < len(hosts) else ""
        whose += f" of {run}" if runs_that_serve > 1 else ""
        apart = f", {_ps(between_ps)} of that between batches" if between_ps > 0 else ""
        yield f"A request{whose} gets its next token every {_ps(every_ps)} on average{apart}."


def _called(row: Mapping[str, Any]) -> tuple[str, str]:
    """What one step of a kind is called, and several."""
    kind, (step, steps) = _words(row["kind"]), _nouns(row)
    if kind == "unknown":
        return step, steps
    if kind.endswith(_LETTERS):
        return f"{step} of {kind}", f"{steps} of {kind}"
    return f"{kind} {step}", f"{kind} {steps}"


def _nouns(row: Mapping[str, Any]) -> tuple[str, str]:
    """What one of such steps is called, and several."""
    if row["kind"] in _BATCHES:
        return "batch", "batches"
    return (RUN, f"{RUN}s") if is_run(row) else ("step", "steps")


def is_run(row: Mapping[str, Any]) -> bool:
    """Whether steps are single runs of a session."""
    return bool(row["recovered_from"] == "file")


def _words(name: str) -> str:
    return name.replace("_", " ")


def _ps(value: int) -> str:
    return units.show(value, "ps")
