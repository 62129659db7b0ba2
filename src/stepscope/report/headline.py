"""The title of a report, and the sentences of its headline that take no judgement: how long a step is, how
busy the devices are, and which types of op have most of the work."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from stepscope import units
from stepscope.instruments import laws
from stepscope.instruments.causes.written_ops import OpsOfLibraries, written_op
from stepscope.report import program_text, runs
from stepscope.report.names import distinct_names, listed
from stepscope.report.parts import Rows
from stepscope.report.remains import takes_as_long
from stepscope.report.step_text import is_run, kind_means, steps_of_kind

_HOLES = 2
"""The window may be at most this many times as long as the devices' own steps in it, for shares of it to mean
anything."""
_NO_TRACE = "no-trace-in-events"
"""The note that an event file holds nothing but summaries."""
_TELLING = 0.01
"""An op type with a smaller part of the work is not named at the top."""
_TAKES_PART = 0.1
"""A device takes part where it executes for this part of the time that the one does which executes
longest."""
_MOST_LINES = 3
"""Lines that are named of a program that was sampled."""
_FUNCTIONS = ("__inference_", "__forward_", "__backward_")
_FUSED = "Fused"
_CALLS = "call"
_BESIDE = {"copy": "copies", "communication": "collectives", _CALLS: "ops called one by one"}
"""Classes of work beside compute, and what the ops of each are. _CALLS is that of ops which have no slice of
their own, and so no row in tables of ops."""
_PLACES = {"device": "on devices", "host": "on hosts", "launch": "in launches"}


def title(rows_of: Mapping[str, Rows]) -> str:
    """Runs, hosts and steps of a recording."""
    hosts = rows_of["runs_and_hosts"]
    names = runs.run_ids(rows_of)
    steps = sum(row["steps"] + row["steps_left_out"] for row in hosts)
    name = (
        _telling(names[0], rows_of["sources"])
        if len(names) == 1
        else ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    )
    machines = len({row["host_id"] for row in hosts})
    counts = [units.count(len(names), "run"), units.count(machines, "host"), units.count(steps, "step")]
    return f"{name or 'nothing'}: {', '.join(counts if steps else counts[:2])}"


_SHORT = 3
"""A name of a run that is no longer says little."""


def _telling(name: str, sources: Rows) -> str:
    """The name of a run, behind that of the folder around it where it is short."""
    for row in sources if len(name) <= _SHORT else ():
        folders = row["path"].split("/")[:-1]
        if name in folders[1:] and (outer := folders[folders.index(name, 1) - 1]):
            return f"{outer}/{name}"
    return name


def headline(
    rows_of: Mapping[str, Rows],
    judged: int = 0,
    mean: tuple[int, int] | None = None,
    of_libraries: OpsOfLibraries | None = None,
    of_ops: bool = True,
    launched: Sequence[tuple[str, int]] = (),
    left_out: Sequence[tuple[str, str, int]] = (),
    untraced: Mapping[tuple[str, str], tuple[int, int]] = MappingProxyType({}),
    alone: Sequence[tuple[str, int]] = (),
) -> Iterable[str]:
    """What comes at the top. judged: of how many runs other sentences before these say what limits them. Of
    several runs nothing more is said: what holds for one of them holds for no other. mean: how many steps
    those sentences speak of, and their mean, of which these have to speak as well. of_libraries: ops of the
    program by the types of what libraries run for it. of_ops: a recorder knows ops. launched: what devices
    computed for each op that launched kernels, in picoseconds. left_out: place and type of op, and what its
    ops take in runs that averages leave out, in picoseconds. untraced: how long a typical step of a run and
    host takes with the profiler and without it, where that is another time. alone: types of op, and how long
    they compute on hosts within calls that the program makes one by one, without a slice of their own."""
    if judged > 1:
        return
    steps = [row for row in rows_of["step_times"] if row["averaged"]]
    hosts = rows_of["runs_and_hosts"]
    several_hosts = len({row["host_id"] for row in hosts}) > 1
    if hosts and not any(row["sources"] for row in hosts):
        yield from program_text.modules(rows_of)
        yield _timeless_sentence(hosts)
    elif hosts and not steps and not rows_of["op_types"] and not any(row["events"] for row in hosts):
        of_events = [row for row in rows_of["completeness"] if row["slug"] == _NO_TRACE]
        if of_events:
            yield f"No trace is in {of_events[0]['path'].rpartition('/')[2]}: {of_events[0]['why']}."
        else:
            yield "Nothing was recorded: there are no events, so where the time went is unknown."
    main = _main_steps(steps, mean)
    if main is not None:
        typical = untraced.get((main["run_id"], main["host_id"]))
        yield _mean_step(rows_of, main, several_hosts, typical)
    yield from _least_busy(rows_of, main, several_hosts)
    ops = _named_by_ops(_averaged(rows_of["op_types"], left_out), launched)
    calls = ({**_CALL, "op_type": op, "self_ps": ps} for op, ps in alone if ops)
    yield from _most_work([*ops, *calls], of_libraries or {}, of_ops)


_CALL = MappingProxyType({"place": "host", "class": _CALLS, "input_ps": None})
"""What the calls of ops have in common with types of op."""


def sampled(lines: Rows) -> Iterable[str]:
    """Where a program was seen of which only stacks were sampled. lines: of python_lines."""
    seen = [row for row in lines if row["told_by"] == "samples" and row["file"] and row["share"]][
        :_MOST_LINES
    ]
    if not seen:
        return
    first, *more = (
        f"in {row['file']}:{row['line']} `{row['function']}` for {units.show(row['share'], 'ratio')}"
        for row in seen
    )
    sampled_ps = units.show(round(seen[0]["time_ps"] / seen[0]["share"]), "ps")
    yield f"The main thread is {', '.join((f'{first} of the {sampled_ps} that were sampled', *more))}."


def _timeless_sentence(hosts: Rows) -> str:
    shown = {"graphs": "what could run", "checkpoints": "what was learned", "dumps": "what XLA compiled"}
    kinds = [kind for kind in shown if any(row[kind] for row in hosts)] or ["graphs"]
    found, show = listed(kinds), listed([shown[kind] for kind in kinds])
    return f"Only {found} were found: they show {show}, not where the time went."


def _main_steps(steps: Rows, mean: tuple[int, int] | None) -> dict[str, Any] | None:
    """The steps with most of the time, by as many and as long ones as were judged; None where there are
    none."""
    main = max(steps, key=lambda row: row["steps"] * row["mean_ps"], default=None)
    if main is None or mean is None:
        return main
    if mean[0] == main["steps"] and abs(mean[1] - main["mean_ps"]) <= 1:
        return main
    # Steps of several kinds, or those that averages leave out, were judged together.
    return {**main, "kind": "unknown", "steps": mean[0], "mean_ps": mean[1], "all": True}


def _mean_step(
    rows_of: Mapping[str, Rows], main: Mapping[str, Any], several_hosts: bool, typical: tuple[int, int] | None
) -> str:
    """How long a step takes. typical: such a step with the profiler and without it, where that is another
    time."""
    whose = f" of {main['run_id']}" if runs.are_several(rows_of) else ""
    whose += _host_clause(main) if several_hosts else " of the host" if _are_apart(rows_of) else ""
    mean = units.show(main["mean_ps"], "ps")
    average = f"{mean} on average" if main["steps"] > 1 else mean
    if _broken(rows_of, "work_within_steps"):
        average = f"at least {average}"
    elif typical is not None:
        traced, without = (units.show(ps, "ps") for ps in typical)
        apart = not takes_as_long(typical[0], main["mean_ps"])
        average += (
            f", typically {traced} with the profiler and {without} without it"
            if apart
            else f" with the profiler, typically {without} without it"
        )
    steps = steps_of_kind(main, main["steps"])
    if main.get("all") and main["steps"] > 1:
        average += kind_means(rows_of)
        recorded = "" if is_run(main) else "recorded "
        steps = f"All {main['steps']:,} {recorded}{steps[0].lower()}{steps[1:]}"
    if is_run(main) and main["steps"] > 1:
        average += "; what lies between them was not recorded"
    return f"{steps}{whose} {units.agree(main['steps'], 'takes', 'take')} {average}."


def _least_busy(
    rows_of: Mapping[str, Rows], main: Mapping[str, Any] | None, several_hosts: bool
) -> Iterable[str]:
    """How busy the device is that does least of those that take part."""
    least = _least_busy_device(rows_of["busy_by_device"], main)
    if least is None or _are_apart(rows_of):
        return
    bound = laws.bound(row["slug"] for row in rows_of["completeness"] if row["slug"])
    if bound and not least["busy_ps"]:
        return  # at least nothing
    whose = f" of {least['run_id']}" if runs.are_several(rows_of) else ""
    whose += _host_clause(least) if several_hosts else ""
    yield f"{least['device']}{whose} is busy {_busy_for(least, bound, main)}."


def _least_busy_device(rows: Rows, main: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The device that does least of those that take part. main: the steps that the answer is about."""
    busy = _together([row for row in rows if row["place"] == "device" and row["busy_share"] is not None])
    if main is not None and main["recovered_from"] == "device":
        # Between steps that the device shows itself, nothing may have been recorded.
        longest = _HOLES * main["steps"] * main["mean_ps"]
        busy = [row for row in busy if row["window_ps"] <= longest]
    # A device that hardly works beside the others takes no part in what the others do.
    most = max((row["sum_ps"] or 0 for row in busy), default=0)
    busy = [row for row in busy if (row["sum_ps"] or 0) >= _TAKES_PART * most]
    return min(busy, key=lambda row: row["busy_share"], default=None)


_ADDED = ("busy_ps", "idle_ps", "window_ps", "sum_ps")
"""What is added up of the recordings of a device."""


def _together(rows: Rows) -> Rows:
    """The devices, each with figures of all recordings of its host: an answer about the steps of all of them
    is about no single recording."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        device = (row["run_id"], row["host_id"], row["device"])
        if (added := found.get(device)) is None:
            found[device] = dict(row)
            continue
        added |= {name: (added[name] or 0) + (row[name] or 0) for name in _ADDED}
        added["busy_share"] = added["busy_ps"] / max(added["busy_ps"] + added["idle_ps"], 1)
    return list(found.values())


def _busy_for(device: Mapping[str, Any], bound: str, main: Mapping[str, Any] | None) -> str:
    """Of which part of the time a device is busy. bound: what a law says of the share. main: the steps that
    the answer is about."""
    if not bound and not device["idle_ps"]:
        return "all the time"
    # What it is idle for is not said again: of that, the first sentence says what holds it up.
    busy = device["busy_share"]
    share = f"{units.bounded(bound, busy) if bound else units.show(busy, 'ratio')} of the"
    if main is not None and device["window_ps"] > _HOLES * main["steps"] * main["mean_ps"]:
        # The first sentence is of the steps, between which most of this time lies.
        return f"{share} {units.show(device['window_ps'], 'ps')} from the first step to the last"
    return f"{share} time"


def _most_work(op_types: Rows, of_libraries: OpsOfLibraries, of_ops: bool) -> Iterable[str]:
    """The types of op with most of the work, as the program wrote them. of_ops: the recorder knows ops and
    their places; others draw what programs tell them to."""
    place, rows = _work(_besides_input(op_types))
    all_place, all_rows = _work(op_types)
    input_ps = sum(row["input_ps"] or 0 for row in all_rows)
    besides = " besides the input pipeline"
    if not rows:
        # Nothing but the pipeline was recorded.
        place, rows, besides = all_place, all_rows, ", all of it of the input pipeline"
    whole = sum(row["self_ps"] for row in rows)
    most_of = [op for op in _written_types(rows, of_libraries).most_common(3) if op[1] >= _TELLING * whole]
    named = distinct_names([name for name, _ in most_of])
    parts = [
        f"{name} ({units.show(self_ps / whole, 'ratio')}"
        for name, (_, self_ps) in zip(named, most_of, strict=True)
    ]
    if parts:
        parts[0] += " of it"
        beside = [word for kind, word in _BESIDE.items() if _class_ps(rows, kind) >= _TELLING * whole]
        # The sentence before this one may be of the same op, as a part of what computes.
        included = f", {listed(beside)} included" if beside else ""
        left_out = besides if input_ps >= _TELLING * whole else ""
        most = f"Most work {_PLACES[place]}{left_out}{included}" if of_ops else "Most of what ran"
        yield f"{most}: {', '.join(f'{part})' for part in parts)}."


def _besides_input(op_types: Rows) -> Rows:
    """The types of op without what is work of the input pipeline."""
    return [{**row, "self_ps": row["self_ps"] - (row["input_ps"] or 0)} for row in op_types]


def _class_ps(rows: Rows, kind: str) -> int:
    return sum(row["self_ps"] for row in rows if row["class"] == kind)


def _averaged(op_types: Rows, left_out: Sequence[tuple[str, str, int]]) -> Rows:
    """The types of op without what is left out; as they are where nothing is."""
    less = {(place, op_type): self_ps for place, op_type, self_ps in left_out}
    return [
        {**row, "self_ps": row["self_ps"] - less.get((row["place"], row["op_type"]), 0)} for row in op_types
    ]


def _named_by_ops(op_types: Rows, launched: Sequence[tuple[str, int]]) -> Rows:
    """The types of op, with the ops that launched them in place of the kernels that compute. launched: as for
    headline; where it does not tell of all kernels, they stay."""
    kernels = [row for row in op_types if _is_kernel(row)]
    all_ps = sum(row["self_ps"] for row in kernels)
    if not kernels or abs(sum(ps for _, ps in launched) - all_ps) > _TELLING * all_ps:
        return op_types
    by_op = ({**kernels[0], "op_type": op, "self_ps": ps, "input_ps": None} for op, ps in launched)
    return [*by_op, *(row for row in op_types if not _is_kernel(row))]


def _is_kernel(row: Mapping[str, Any]) -> bool:
    """Whether a row of op_types is about what computes on a device."""
    return (row["place"], row["class"]) == ("device", "compute")


def _work(op_types: Rows) -> tuple[str, Rows]:
    """Where the work is that counts, on devices if any was recorded there, and the types of op that do it."""
    working = [row for row in op_types if row["class"] not in ("input", "wait") and row["self_ps"]]
    # An executor's nodes that compute nothing are no work; launches are, where nothing else was recorded.
    working = [row for row in working if (row["class"], row["place"]) != ("dispatch", "host")]
    # What a function runs has rows of its own; the rest of a call is that of its first, which compiles.
    working = [row for row in working if not row["op_type"].startswith(_FUNCTIONS)] or working
    # Averages leave out steps that compile, so compiling is not among their work.
    working = [row for row in working if row["class"] != "compile"] or working
    places = [row["place"] for row in working]
    place = "device" if "device" in places or not places else places[0]
    return place, [row for row in working if row["place"] == place]


def _written_types(rows: Rows, of_libraries: OpsOfLibraries) -> Counter[str]:
    """Self time by the type that the program wrote, in picoseconds."""
    recorded: Counter[str] = Counter()
    for row in rows:
        recorded[row["op_type"]] += row["self_ps"]
    written: Counter[str] = Counter()
    for op_type, self_ps in recorded.most_common():
        # Elsewhere, shares are those of a type as recorded: types are not added up here either.
        for op, part in of_libraries.get(op_type, {written_op(op_type): 1.0}).items():
            written[f"fused {op}" if op in written and _FUSED in op_type else op] += round(part * self_ps)
    return written


def _are_apart(rows_of: Mapping[str, Rows]) -> bool:
    """Whether a host runs so far ahead of its device, or has such a different clock, that its steps say
    nothing of the device."""
    return _broken(rows_of, "step_of_the_device") or _broken(rows_of, "clocks_agree")


def _broken(rows_of: Mapping[str, Rows], law: str) -> bool:
    return any(row["slug"] == law for row in rows_of["completeness"])


def _host_clause(row: Mapping[str, Any]) -> str:
    return "" if row["host_id"] == "unknown" else f" on {row['host_id']}"
