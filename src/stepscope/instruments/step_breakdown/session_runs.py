"""The inside of Session.run in steps of which only stacks are known.

TensorFlow 1 has no profiler that watches a program: a recorder samples stacks in steps that run as ever, and
traces other runs in full. Tracing takes long, and meanwhile the input works ahead, so that those runs tell
what ops take and not how long the program waits for its batches. Of the time that a step spends inside of
Session.run, ops get what they take in a traced run, and copying what the values take that are fed to it and
fetched from it. The rest is waiting for input where the runs take a batch and wait for it, and otherwise
launching.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any, NamedTuple

from stepscope.instruments.step_breakdown import labels
from stepscope.instruments.step_breakdown.labels import EXECUTION, NUMBER, Label
from stepscope.instruments.thresholds import MEASURED, tuned
from stepscope.library.statements import Query, statement

SPLIT: Label = "dispatch"
"""What samples of stacks call the inside of Session.run."""


@dataclass(frozen=True, eq=False, repr=False)
class SessionThresholds:
    """What traced runs tell of those that were not."""

    input: float = tuned(
        0.05,
        "runs wait for their input when traced ones do so for this part of their time",
        fitted_on="loops of TensorFlow 1.15 that feed, and that take from tf.data",
    )
    copied_byte_ps: int = tuned(
        4_000,
        "a byte that is fed takes no longer to copy: 80 MB take 58 to 125 ms, and 290 ms where five times as "
        "many threads want the cores, with TensorFlow 1.15 and 1.1",
        fitted_on=MEASURED,
    )
    fetched_byte_ps: int = tuned(
        500,
        "a byte that is fetched takes no longer to copy: 32 MB take 3.6 to 7 ms, with TensorFlow 2.21",
        fitted_on=MEASURED,
    )

    rare: float = tuned(
        0.1,
        "runs that were not traced are rare when there are fewer of them, as of checkpoints",
        fitted_on="loops of TensorFlow 1.15 that evaluate, feed back and store",
    )


THRESHOLDS = SessionThresholds()


class _Host(NamedTuple):
    """Steps of a host."""

    sampled: list[int]
    """Those of a recorder, of which only stacks are known."""
    sources: set[int]
    """Sources that have them."""
    traced: list[int]
    """Runs that were traced in full beside them."""


def shared(query: Query, parts: list[dict[str, Any]], stacks: list[dict[str, Any]]) -> None:
    """Shares the time that steps spend inside of Session.run among what traced runs of it do. parts, stacks:
    rows of step_part and stack_part, which are changed."""
    hosts = {key: host for key, host in _hosts(query).items() if host.sampled and host.traced}
    if not hosts:
        return
    by_step, of_stacks = _rows_by_step(parts), _rows_by_step(stacks)
    copied, calls = _copied(query), _traced_calls(query)
    whole_steps = _hosts_traced_whole(query)
    for key, host in hosts.items():
        seen = [row[0] for row in query(statement("sampled_sources", run_id=key[0], host_id=key[1])).rows()]
        # What a profiler watched at the same time executes in the steps already.
        watched = not host.sources.issubset(seen)
        run = _mean([[] if watched else by_step.get(step_id, []) for step_id in host.traced])
        run["copy"] = run.get("copy", 0.0) + copied[key] / len(host.traced)
        stacks_inside = _session_stacks(query, seen)
        held = {step_id: _held(of_stacks[step_id], stacks_inside) for step_id in host.sampled}
        shares = _shares(_whole(held) / len(held), run, [] if key in whole_steps else calls[key])
        for step_id, step_stacks in held.items():
            whole = _whole({step_id: step_stacks})
            for label, share in shares.items():
                dur_ps = int(whole * share)
                if dur_ps:
                    _move(by_step[step_id], parts, label, dur_ps)
                    stacks += _move_stack_time(step_stacks, label, dur_ps)


def _hosts_traced_whole(query: Query) -> set[tuple[str, str]]:
    """The hosts of which all runs of a session were traced in the steps that were, but for rare ones."""
    runs: defaultdict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for run_id, host_id, series, number in query(statement("runs_of_traced_steps")).rows():
        runs[run_id, host_id][series] = number
    return {
        key for key, of in runs.items() if of.get("untraced", 0.0) < THRESHOLDS.rare * of.get("traced", 0.0)
    }


def _traced_calls(query: Query) -> defaultdict[tuple[str, str], list[float]]:
    """How long each traced call of a host took, in picoseconds."""
    calls: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for run_id, host_id, of_call, series, value, _ in query(statement("traced_durations")).rows():
        if of_call and series == "traced_ns":
            calls[run_id, host_id].append(1000 * value)
    return calls


def _rows_by_step(rows: Iterable[dict[str, Any]]) -> defaultdict[int, list[dict[str, Any]]]:
    found: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[row["step_id"]].append(row)
    return found


def _hosts(query: Query) -> dict[tuple[str, str], _Host]:
    found: dict[tuple[str, str], _Host] = {}
    for source_id, run_id, host_id, step_id, *_, averaged, _, recovered_from in query(
        statement("timed_steps")
    ).rows():
        host = found.setdefault((run_id, host_id), _Host([], set(), []))
        if recovered_from == "recorder":
            host.sampled.append(step_id)
            host.sources.add(source_id)
        elif recovered_from == "file" and not averaged:
            host.traced.append(step_id)
    return found


def _copied(query: Query) -> Counter[tuple[str, str]]:
    """How long the values of all traced runs of a host take at most to copy, in picoseconds."""
    found: Counter[tuple[str, str]] = Counter()
    for asked, byte_ps in (
        ("fed_to_runs", THRESHOLDS.copied_byte_ps),
        ("fetched_from_runs", THRESHOLDS.fetched_byte_ps),
    ):
        for run_id, host_id, size in query(statement(asked)).rows():
            found[run_id, host_id] += byte_ps * size
    return found


def _mean(steps: Sequence[Sequence[Mapping[str, Any]]]) -> dict[str, float]:
    """What labels take of a traced run, in picoseconds."""
    sums: Counter[str] = Counter()
    for rows in steps:
        for row in rows:
            sums[row["label"]] += row["dur_ps"]
    return {label: total / len(steps) for label, total in sums.items()}


def _session_stacks(query: Query, sources: Sequence[int]) -> frozenset[int]:
    """The stacks on which a session runs its graph."""
    rows = query(statement("frames_of_stacks", sources=sources)).rows()
    return frozenset(row[1] for row in rows if labels.runs_graph(row[3] or "", row[5] or ""))


def _held(on_stacks: Sequence[dict[str, Any]], inside: frozenset[int]) -> list[dict[str, Any]]:
    """Rows of a step of the time inside of Session.run."""
    return [row for row in on_stacks if row["stack_id"] in inside and row["label"] == SPLIT]


def _whole(held: Mapping[int, Sequence[dict[str, Any]]]) -> int:
    """The time of such rows."""
    return sum(row["dur_ps"] for stack_rows in held.values() for row in stack_rows)


def _move_stack_time(held: Sequence[dict[str, Any]], label: Label, dur_ps: int) -> list[dict[str, Any]]:
    """Moves time of stacks to a label, from each in proportion; the rows of what is moved. What rounding
    leaves is taken from the first that have some."""
    whole = sum(row["dur_ps"] for row in held)
    moved = [dur_ps * row["dur_ps"] // whole for row in held]
    left = dur_ps - sum(moved)
    for number, row in enumerate(held):
        more = min(left, row["dur_ps"] - moved[number])
        moved[number] += more
        left -= more
        row["dur_ps"] -= moved[number]
    return [{**row, "label": label, "dur_ps": ps} for row, ps in zip(held, moved, strict=True) if ps]


def _shares(whole_ps: float, run: Mapping[str, float], calls: Sequence[float]) -> dict[Label, float]:
    """Which parts of the time inside of Session.run labels other than launching get: the same ones in all
    steps, because whatever makes a run longer makes its ops longer as well.

    whole_ps: a step's mean time there. run: what a traced run takes. calls: what the call that marks a step
    takes, where a step makes others of which no run was traced.
    """
    if whole_ps <= 0:
        return {}
    left = whole = min(mean(calls) / whole_ps, 1.0) if calls else 1.0
    found: dict[Label, float] = {}
    for label in EXECUTION:
        found[label] = min(run.get(label, 0.0) / whole_ps, left)
        left -= found[label]
    # Between the runs of a step it is not known what happens.
    if run.get("input", 0.0) >= THRESHOLDS.input * (sum(run.values()) - run.get("unknown", 0.0)):
        found["input"] = max(left, 0.0)
    return {label: min(share, whole) for label, share in found.items() if share > 0}


def _move(step_rows: list[dict[str, Any]], parts: list[dict[str, Any]], label: Label, dur_ps: int) -> None:
    """Moves time of a step from launching to a label."""
    launching = next(row for row in step_rows if row["label"] == SPLIT)
    launching["dur_ps"] -= dur_ps
    to = next((row for row in step_rows if row["label"] == label), None)
    if to is None:
        to = {**launching, "label": label, "dur_ps": 0, "hidden_ps": 0}
        step_rows.append(to)
        parts.append(to)
    to["dur_ps"] += dur_ps


def sort_parts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of one source by step, and of a step in the order of labels; without those that took no time."""
    kept = [row for row in rows if row["dur_ps"] or row.get("hidden_ps")]
    return sorted(kept, key=lambda row: (row["step_id"], row.get("stack_id", 0), NUMBER[row["label"]]))
