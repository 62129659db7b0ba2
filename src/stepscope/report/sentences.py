"""What the rows say, in sentences: title, headline, and what comes before the table of a section."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from stepscope import units
from stepscope.instruments import laws
from stepscope.instruments.causes.written_ops import written_op
from stepscope.instruments.pipeline.stages import branch, words
from stepscope.report import ranks
from stepscope.report.parts import Rows

_FUNCTIONS = ("__inference_", "__forward_", "__backward_")
_FUSED = "Fused"
_PLACES = {"device": "on devices", "host": "on hosts", "launch": "in launches"}


def title(told: Mapping[str, Rows]) -> str:
    hosts = told["runs_and_hosts"]
    runs = sorted({row["run_id"] for row in hosts})
    steps = sum(row["steps"] + row["steps_left_out"] for row in hosts)
    name = runs[0] if len(runs) == 1 else ", ".join(runs[:3]) + (", …" if len(runs) > 3 else "")
    machines = len({row["host_id"] for row in hosts})
    counts = [units.count(len(runs), "run"), units.count(machines, "host"), units.count(steps, "step")]
    return f"{name or 'nothing'}: {', '.join(counts if steps else counts[:2])}"


_HOLES = 2
"""Devices' own steps have to fill the window but for this factor, for shares of it to mean anything."""
_TELLING = 0.01
"""An op type with a smaller part of the work is not named at the top."""
_TAKES_PART = 0.1
"""A device takes part where it executes for this part of the time that the one does which executes
longest."""


def headline(
    told: Mapping[str, Rows],
    judged: int = 0,
    mean: tuple[int, int] | None = None,
    of_libraries: Mapping[str, str] | None = None,
    of_ops: bool = True,
) -> Iterable[str]:
    """What comes at the top. judged: of how many runs other sentences before these say what limits them. Of
    several runs nothing more is said: what holds for one of them holds for no other. mean: how many steps
    those sentences speak of, and their mean, of which these have to speak as well. of_libraries: ops of the
    program by the types of what libraries run for it. of_ops: a recorder knows ops."""
    if judged > 1:
        return
    steps = [row for row in told["step_times"] if row["averaged"]]
    hosts = told["runs_and_hosts"]
    several_hosts = len({row["host_id"] for row in hosts}) > 1
    if hosts and not any(row["sources"] for row in hosts):
        yield from _modules(told)
        yield _without_time(hosts)
    elif hosts and not steps and not told["op_types"] and not any(row["events"] for row in hosts):
        yield "Nothing was recorded: there are no events, so where the time went is unknown."
    main = _main_steps(steps, mean)
    if main is not None:
        yield _mean_step(told, main, several_hosts)
    yield from _least_busy(told, main, several_hosts)
    yield from _most_work(told, of_libraries or {}, of_ops)


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


def _mean_step(told: Mapping[str, Rows], main: Mapping[str, Any], several_hosts: bool) -> str:
    """How long a step takes."""
    whose = f" of {main['run_id']}" if several_runs(told) else ""
    whose += _on(main) if several_hosts else " of the host" if _ahead(told) else ""
    average = f"{_ps(main['mean_ps'])} on average" if main["steps"] > 1 else _ps(main["mean_ps"])
    who = _kind(main, main["steps"])
    if main.get("all") and main["steps"] > 1:
        who = f"All {main['steps']:,} recorded {who[0].lower()}{who[1:]}"
    return f"{who}{whose} {units.agree(main['steps'], 'takes', 'take')} {average}."


def _least_busy(
    told: Mapping[str, Rows], main: Mapping[str, Any] | None, several_hosts: bool
) -> Iterable[str]:
    """How busy the device is that does least of those that take part."""
    least = _least_busy_device(told["busy_by_device"], main)
    if least is None or _ahead(told):
        return
    bound = laws.bound(row["slug"] for row in told["completeness"] if row["slug"])
    whose = f" of {least['run_id']}" if several_runs(told) else ""
    whose += _on(least) if several_hosts else ""
    yield f"{least['device']}{whose} is busy {_busy_for(least, bound)}."


def _least_busy_device(rows: Rows, main: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The device that does least of those that take part. main: the steps that the answer is about."""
    busy = [row for row in rows if row["place"] == "device" and row["busy_share"] is not None]
    if main is not None and main["recovered_from"] == "device":
        # Between steps that the device shows itself, nothing may have been recorded.
        longest = _HOLES * main["steps"] * main["mean_ps"]
        busy = [row for row in busy if row["window_ps"] <= longest]
    # A device that hardly works beside the others takes no part in what the others do.
    most = max((row["sum_ps"] or 0 for row in busy), default=0)
    busy = [row for row in busy if (row["sum_ps"] or 0) >= _TAKES_PART * most]
    return min(busy, key=lambda row: row["busy_share"], default=None)


def _busy_for(device: Mapping[str, Any], bound: str) -> str:
    """Of which part of the time a device is busy. bound: what a law says of the share."""
    if not bound and not device["idle_ps"]:
        return "all the time"
    # What it is idle for is not said again: of that, the first sentence says what holds it up.
    share = f"{units.show(device['busy_share'], 'ratio')} of the time"
    return f"{bound} {share}" if bound else share


def _most_work(told: Mapping[str, Rows], of_libraries: Mapping[str, str], of_ops: bool) -> Iterable[str]:
    """The types of op with most of the work, as the program wrote them. of_ops: a recorder knows ops and
    their places; others draw whatever they are told to."""
    working = [row for row in told["op_types"] if row["class"] not in ("input", "wait") and row["self_ps"]]
    # What a function runs is there by itself; the rest of a call is that of its first, which compiles.
    working = [row for row in working if not row["op_type"].startswith(_FUNCTIONS)] or working
    if working:
        place = "device" if any(row["place"] == "device" for row in working) else working[0]["place"]
        whole = sum(row["self_ps"] for row in working if row["place"] == place)
        recorded: Counter[str] = Counter()
        for row in working:
            if row["place"] == place:
                recorded[row["op_type"]] += row["self_ps"]
        types: Counter[str] = Counter()
        for op_type, self_ps in recorded.most_common():
            # Elsewhere, shares are those of a type as recorded: types are not added up here either.
            name = written_op(op_type, of_libraries)
            types[f"fused {name}" if name in types and _FUSED in op_type else name] += self_ps
        parts = [
            f"{shortened(name)} ({units.show(self_ps / whole, 'ratio')}"
            for name, self_ps in types.most_common(3)
            if self_ps >= _TELLING * whole
        ]
        if parts:
            parts[0] += " of it"
            most = f"Most work {_PLACES[place]}" if of_ops else "Most of what ran"
            yield f"{most}: {', '.join(f'{part})' for part in parts)}."


def _ahead(told: Mapping[str, Rows]) -> bool:
    """Whether a host runs so far ahead of its device that its steps say nothing of the device."""
    return any(row["slug"] == "step_of_the_device" for row in told["completeness"])


def host_of(name: str) -> str:
    """A host as a sentence names it."""
    return "a host without a name" if name == "unknown" else name


def _on(row: Mapping[str, Any]) -> str:
    return "" if row["host_id"] == "unknown" else f" on {row['host_id']}"


BATCHES = frozenset({"prefill", "decode", "mixed"})
"""Kinds of steps of a server: it infers in batches."""


def unrelated(told: Mapping[str, Rows]) -> bool:
    """Whether recordings of programs of different frameworks share a run: a folder of files that have nothing
    in common. What one recorder took of one program belongs together: a program of JAX may read its input
    with tf.data, whose profiler is another one."""
    sources = told["sources"]
    timed = [row["path"] for row in sources if row["kind"] != "capture" and row["events_stored"]]
    folders = [row["path"].rpartition("/")[0] + "/" for row in sources if row["kind"] == "capture"]
    if folders and all(any(path.startswith(folder) for folder in folders) for path in timed):
        return False
    found: dict[str, set[str]] = {}
    for row in sources:
        if row["events_seen"] and row["framework"] is not None:
            found.setdefault(row["run_id"], set()).add(row["framework"])
    return any(len(frameworks) > 1 for frameworks in found.values())


def answer(name: str, told: Mapping[str, Rows]) -> list[str]:
    sentences = _ANSWERS.get(name)
    return list(sentences(told)) if sentences else []


def _recorded(told: Mapping[str, Rows]) -> Iterable[str]:
    hosts = told["runs_and_hosts"]
    events = sum(row["events"] for row in hosts)
    sources = sum(row["sources"] for row in hosts)
    recorded = _ps(sum(row["recorded_ps"] for row in hosts))
    who = ", ".join(sorted({name for row in hosts for name in row["producers"].split(", ")}))
    graphs = sum(row["graphs"] for row in hosts)
    if sources:
        read = units.count(sources, "source")
        yield f"{units.count(events, 'event')} over {recorded} from {read} by {who}."
    beside = "Beside them, " if sources else ""
    if graphs:
        holds = units.agree(graphs, "holds a graph", "hold graphs")
        yield f"{beside}{units.count(graphs, 'file')} {holds}: what could run, not what ran (`node`, `edge`)."
    checkpoints = sum(row["checkpoints"] for row in hosts)
    if checkpoints:
        holds = units.agree(checkpoints, "holds", "hold")
        yield f"{units.count(checkpoints, 'checkpoint')} {holds} what was learned (`checkpoint_tensor`)."
    if dumps := sum(row["dumps"] for row in hosts):
        holds = units.agree(dumps, "holds", "hold")
        yield f"{units.count(dumps, 'dump')} of XLA {holds} what was compiled (`hlo_module`, `hlo_pass`)."


def _without_time(hosts: Rows) -> str:
    shown = {
        "graphs": "what could run",
        "checkpoints": "what was learned",
        "dumps": "what XLA compiled",
    }
    there = [kind for kind in shown if any(row[kind] for row in hosts)] or ["graphs"]
    found, say = (_listed(words) for words in (there, [shown[kind] for kind in there]))
    return f"Only {found} were found: they show {say}, not where the time went."


def _listed(words: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _modules(told: Mapping[str, Rows]) -> Iterable[str]:
    rows = [row for row in told["hlo_modules"] if not row["is_copy"]]
    if not rows:
        return
    functions = units.count(len({(row["run_id"], row["function"]) for row in rows}), "function")
    yield f"XLA compiled {units.count(len(rows), 'module')} of {functions}."
    most = max(rows, key=lambda row: row["run_flops"] or 0)
    if most["run_flops"]:
        yield f"The most work is in {shortened(most['module'])}: {_work(most)}."
    hungriest = max(rows, key=lambda row: row["allocated_bytes"] or 0)
    if hungriest["allocated_bytes"]:
        size, temporary = (units.show(hungriest[key], "bytes") for key in ("allocated_bytes", "temp_bytes"))
        yield f"{shortened(hungriest['module'])} takes the most memory: {size}, {temporary} of it temporary."
    if copies := len(told["hlo_modules"]) - len(rows):
        yield f"The table also lists {units.count(copies, 'copy', 'copies')} that recordings keep."
    if unread := sum(row["instructions"] is None for row in rows):
        yield f"{units.count(unread, 'module')} could not be read; the column problem says why."


def _work(module: Mapping[str, Any]) -> str:
    """What a run of a program computes."""
    work = f"{units.show(module['run_flops'], 'flop')} a run"
    if module["devices"] and module["is_final"]:
        work += f" on each of {module['devices']} devices"
    if module["flops_per_byte"]:
        work += f", {units.show(module['flops_per_byte'], 'float')} for each byte it moves"
    return work


def _passes(told: Mapping[str, Rows]) -> Iterable[str]:
    passes = sum(row["passes"] for row in told["hlo_modules"])
    if same := passes - sum(row["changing_passes"] for row in told["hlo_modules"]):
        equal = units.agree(same, "equals", "equal")
        dumps = units.count(passes, "dump")
        yield f"Of {dumps} after passes, {same:,} {equal} the dump before byte for byte."


def _checkpoints(told: Mapping[str, Rows]) -> Iterable[str]:
    """One sentence for each of the first checkpoints, weights told from what optimizers keep."""
    paths = list(dict.fromkeys(row["path"] for row in told["checkpoint_tensors"]))
    for path in paths[:3]:
        rows = [row for row in told["checkpoint_tensors"] if row["path"] == path]
        tensors, size = sum(row["tensors"] for row in rows), sum(row["tensor_bytes"] for row in rows)
        name = path.rpartition("/")[2].removesuffix(".index")
        sentence = f"{name}: {units.count(tensors, 'tensor')}, {units.show(size, 'bytes')}"
        of = {row["role"]: row for row in rows}
        if weights := of.get("weight"):
            sentence += f"; {units.count(weights['parameters'], 'parameter')} of the model in "
            sentence += f"{units.show(weights['tensor_bytes'], 'bytes')}, the largest {weights['largest']}"
        if statistics := of.get("statistic"):
            averages = units.count(statistics["parameters"], "moving average")
            sentence += f"; {averages}"
        kept = [of[role] for role in ("slot", "optimizer") if role in of]
        if kept:
            whole = units.show(sum(row["tensor_bytes"] for row in kept), "bytes")
            sentence += f"; the optimizer keeps {whole} besides"
        yield sentence + "."
    if len(paths) > 3:
        yield f"{units.count(len(paths) - 3, 'more checkpoint')} in the table."


_FOUND_BY = {
    "batch": "the server's marks of its batches",
    "marker": "marks in the program",
    "profiler_step": "the profiler's own marks",
    "session_run": "calls of Session.run",
    "function_run": "runs of the training function",
    "function_call": "calls of a compiled function",
    "get_next": "requests for the next batch",
    "file": "files, one for each step",
    "recorder": "the recorder",
    "device": "what the accelerator shows of its own steps",
}
"""What tells where a step begins, by `recovered_from` of the view step."""

_MOST_GROUPS = 6
"""Groups of steps that get a sentence each; a table has the others."""


def _steps(told: Mapping[str, Rows]) -> Iterable[str]:
    groups = [row for row in told["step_times"] if row["averaged"]]
    hosts = {run: {row["host_id"] for row in groups if row["run_id"] == run} for run in _runs(told)}
    longest = sorted(groups, key=lambda row: -row["steps"] * row["mean_ps"])[:_MOST_GROUPS]
    for row in groups:
        if any(row is one for one in longest):
            where = f"{row['run_id']}: " if len(hosts) > 1 else ""
            on = f" on {host_of(row['host_id'])}" if len(hosts[row["run_id"]]) > 1 else ""
            yield f"{where}{_counted(row)}{on}: {_durations(row)}."
    yield from _tokens(told["step_list"])
    if len(groups) > len(longest):
        more = len(groups) - len(longest)
        yield f"{units.count(more, 'more group')} of steps: `step_times` lists them by run, host and kind."
    yield from _left_out(told["step_list"], several_runs(told))


def _counted(group: Mapping[str, Any]) -> str:
    """How many steps, or batches, a group has."""
    kind = "" if group["kind"] == "unknown" else f"{_words(group['kind'])} "
    if group["kind"] in BATCHES:
        return units.count(group["steps"], f"{kind}batch", f"{kind}batches")
    return units.count(group["steps"], f"{kind}step")


def _durations(group: Mapping[str, Any]) -> str:
    """How long the steps of a group take, and what they were found by."""
    found_by = f"found by {_FOUND_BY.get(group['recovered_from'], _words(group['recovered_from']))}"
    if group["steps"] == 1:
        return f"{_ps(group['mean_ps'])}; {found_by}"
    mean, median, most = (_ps(group[key]) for key in ("mean_ps", "median_ps", "p95_ps"))
    return f"mean {mean}, median {median}, 95 % within {most}; {found_by}"


def _left_out(steps: Rows, several: bool) -> Iterable[str]:
    """The steps that averages leave out. several: there are several runs."""
    delimited = [row for row in steps if row["recovered_from"] != "whole_capture"]
    left = [row for row in delimited if not row["averaged"]]
    if left:
        shown = [
            f"step {row['step']}{' of ' + row['run_id'] if several else ''} "
            f"({_words(row['kind'])}, {_ps(row['dur_ps'])}: {row['reason']})"
            for row in left[:3]
        ]
        others = f" and {len(left) - 3:,} more" if len(left) > 3 else ""
        yield f"Left out of the averages: {', '.join(shown)}{others}."
    if steps and not delimited:
        yield "No steps were found: shares refer to the whole capture."


def _tokens(steps: Rows) -> Iterable[str]:
    """How long requests of a server wait for their next token: from one batch that decodes to the next."""
    hosts: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in steps:
        if row["kind"] in BATCHES:
            hosts.setdefault((row["run_id"], row["host_id"]), []).append(row)
    for (run, host), batches in hosts.items():
        batches.sort(key=lambda row: row["ts_ps"])
        pairs = [
            (one, after)
            for one, after in pairwise(batches)
            if (one["kind"], after["kind"]) == ("decode", "decode")
        ]
        if not pairs:
            continue
        every = sum(after["ts_ps"] - one["ts_ps"] for one, after in pairs) // len(pairs)
        between = every - sum(one["dur_ps"] for one, _ in pairs) // len(pairs)
        whose = f" on {host_of(host)}" if len({key[0] for key in hosts}) < len(hosts) else ""
        whose += f" of {run}" if len({key[0] for key in hosts}) > 1 else ""
        apart = f", {_ps(between)} of that between batches" if between > 0 else ""
        yield f"A request{whose} gets its next token every {_ps(every)} on average{apart}."


def _waits(told: Mapping[str, Rows]) -> Iterable[str]:
    seen: set[str] = set()
    parts = []
    for row in told["waits"]:
        if row["wait"] not in seen and row["share"]:
            seen.add(row["wait"])
            parts.append(f"{row['wait']} {units.show(row['share'], 'ratio')}")
    if parts:
        yield f"Share of the steps in which some thread waits: {', '.join(parts)}."


def _at_once(told: Mapping[str, Rows]) -> Iterable[str]:
    devices: dict[str, list[dict[str, Any]]] = {}
    several = several_runs(told)
    for row in told["concurrency"]:
        if row["rows_drawn"] > 1:
            name = f"{row['device']} of {row['run_id']}" if several else row["device"]
            devices.setdefault(name, []).append(row)
    for device, rows in list(devices.items())[:3]:
        most = max(rows, key=lambda row: row["rows_drawn"])
        at_once = units.show(most["concurrency"], "float")
        yield (
            f"{device} is drawn as {units.count(most['rows_drawn'], 'row')}; while any of them is busy, "
            f"the mean number of busy rows is {at_once}."
        )


_VERDICTS = {
    "input_bound": "The input{} is the bottleneck.",
    "partly_input_bound": "The input{} is part of the bottleneck: waiting for it takes {} of a step.",
    "not_input_bound": "The input{} is not the bottleneck.",
}
_UNJUDGED = "The recording does not show whether the input{} is the bottleneck."


def _pipeline(told: Mapping[str, Rows]) -> Iterable[str]:
    """One verdict for each host with a pipeline, the one that waits most first."""
    hosts: dict[tuple[Any, Any], list[dict[str, Any]]] = {}
    for row in told["pipeline_stages"]:
        hosts.setdefault((row["run_id"], row["host_id"]), []).append(row)
    ordered = sorted(hosts.items(), key=lambda one: -(one[1][0]["wait_share"] or 0.0))
    for (run, host), stages in ordered[:_MOST_GROUPS]:
        named = host_of(host)
        whose = f" of {named} in {run}" if several_runs(told) else f" of {named}" if len(hosts) > 1 else ""
        first = stages[0]
        share = units.show(first["wait_share"] or 0.0, "ratio")
        yield _VERDICTS.get(first["verdict"], _UNJUDGED).format(whose, share)
        if first["limits"] is None:
            if first["verdict"] in ("input_bound", "partly_input_bound"):
                yield "No stage limits it by itself."
            continue
        yield f"{_written(first)} limits it: it needs {_ps(first['service_ps'])} per step."
        others = [row for row in stages if row["pipeline"] == first["pipeline"]]
        most = max(others, key=lambda row: row["service_ps"] or 0)
        if (most["service_ps"] or 0) > first["service_ps"]:
            needs = _ps(most["service_ps"])
            yield f"{_written(most)} needs more, {needs}, but in parallel with the others."
    if len(ordered) > _MOST_GROUPS:
        yield f"{units.count(len(ordered) - _MOST_GROUPS, 'more host')}: `pipeline_stages` lists them."


def _written(stage: Mapping[str, Any]) -> str:
    """A stage as the user wrote it: map with batch. In one of several branches, TensorFlow's name."""
    name = branch(stage["stage"])
    return name if "::" in name else " with ".join(words(stage["user_stage"])) or name


def _complete(told: Mapping[str, Rows]) -> Iterable[str]:
    sources = {row["path"]: row for row in told["completeness"]}.values()
    seen, stored = sum(r["events_seen"] for r in sources), sum(r["events_stored"] for r in sources)
    lost, repaired = sum(r["events_lost"] for r in sources), sum(r["events_repaired"] for r in sources)
    kinds = {row["kind"] for row in told["sources"] if row["events_seen"]}
    graphs, tensors = "graph" in kinds, "checkpoint" in kinds
    nouns = [units.agree(seen, "event", "events"), *["nodes"] * graphs, *["tensors"] * tensors]
    sentence = f"{stored:,} of {seen:,} {_listed(nouns)} stored"
    sentence += f", {lost:,} lost" if lost else ""
    yield sentence + (f", {repaired:,} repaired" if repaired else "") + "."


_ANSWERS: dict[str, Callable[[Mapping[str, Rows]], Iterable[str]]] = {
    "runs_and_hosts": _recorded,
    "step_list": _steps,
    "waits": _waits,
    "pipeline_stages": _pipeline,
    "concurrency": _at_once,
    "checkpoint_tensors": _checkpoints,
    "hlo_modules": _modules,
    "hlo_passes": _passes,
    "completeness": _complete,
    "ranks": ranks.sentences,
}


def shortened(name: str) -> str:
    """A name as a sentence holds it: kernels of GPUs have names of hundreds of characters."""
    return name if len(name) <= 40 else f"{name[:24]}…{name[-15:]}"


def _ps(value: int) -> str:
    return units.show(value, "ps")


def _words(name: str) -> str:
    return name.replace("_", " ")


def _kind(row: Mapping[str, Any], number: int) -> str:
    kind = "" if row["kind"] == "unknown" else f"{_words(row['kind'])} "
    one, several = ("batch", "batches") if row["kind"] in BATCHES else ("step", "steps")
    noun = f"one {kind}{one}" if number == 1 else f"{kind}{several}"
    return noun[0].upper() + noun[1:]


def _runs(told: Mapping[str, Rows]) -> list[str]:
    return sorted({row["run_id"] for row in told["runs_and_hosts"]})


def several_runs(told: Mapping[str, Rows]) -> bool:
    return len(_runs(told)) > 1
