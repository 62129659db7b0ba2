"""Sentences before the tables of sections: what their rows say."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from stepscope import units
from stepscope.report import program_text, ranks, runs, step_text, verdict_text
from stepscope.report.names import listed
from stepscope.report.parts import Rows

_OF_OPS = ("ops", "op_types")
"""Tables of ops."""
_MUCH, _FEW = 0.1, 3
"""Ops without rows are mentioned if they take more than this part of the time of those with rows; so many of
their types are named."""


def answer(name: str, rows_of: Mapping[str, Rows], alone: Sequence[tuple[str, int]] = ()) -> list[str]:
    """The sentences before the table of an analysis; none where its rows say enough. alone: types of op that
    the program calls one by one on hosts and that have no slice of their own, with their time in picoseconds.
    """
    sentences = _SENTENCES.get(name)
    found = list(sentences(rows_of)) if sentences and rows_of[name] else []
    return [*found, *_called_alone(rows_of[name], alone)] if name in _OF_OPS else found


def _called_alone(ops: Rows, alone: Sequence[tuple[str, int]]) -> Iterable[str]:
    """The ops that have no rows, where they take much of the time."""
    called_ps = sum(ps for _, ps in alone)
    if called_ps > _MUCH * sum(row["self_ps"] for row in ops if row["place"] == "host"):
        longest = sorted(alone, key=lambda found: -found[1])
        names = [f"{op} ({units.show(ps, 'ps')})" for op, ps in longest[:_FEW]]
        others_ps = sum(ps for _, ps in longest[_FEW:])
        others = [f"others ({units.show(others_ps, 'ps')})"] if others_ps else []
        yield f"Ops that the program calls one by one have no rows here: {listed([*names, *others])}."


def _recorded(rows_of: Mapping[str, Rows]) -> Iterable[str]:
    """Events, graphs, checkpoints and programs that were read."""
    hosts = rows_of["runs_and_hosts"]
    events = sum(row["events"] for row in hosts)
    sources = sum(row["sources"] for row in hosts)
    recorded_ps = sum(row["recorded_ps"] for row in hosts)
    # A profile of memory is of one moment.
    time = f" over {units.show(recorded_ps, 'ps')}" if recorded_ps else ""
    who = ", ".join(sorted({name for row in hosts for name in row["producers"].split(", ")} - {"unknown"}))
    graphs = sum(row["graphs"] for row in hosts)
    if sources:
        read = units.count(sources, "source")
        yield f"{units.count(events, 'event')}{time} from {read}{f' by {who}' if who else ''}."
    beside = "Beside them, " if sources else ""
    if graphs:
        nodes = sum(row["events_seen"] for row in rows_of["sources"] if row["kind"] == "graph")
        of = f" of {units.count(nodes, 'node')}" if nodes else ""
        holds = f"{units.agree(graphs, 'holds a graph', 'hold graphs')}{of}"
        yield f"{beside}{units.count(graphs, 'file')} {holds}: what could run, not what ran (`node`, `edge`)."
    checkpoints = sum(row["checkpoints"] for row in hosts)
    if checkpoints:
        holds = units.agree(checkpoints, "holds", "hold")
        yield f"{units.count(checkpoints, 'checkpoint')} {holds} what was learned (`checkpoint_tensor`)."
    if dumps := sum(row["dumps"] for row in hosts):
        holds = units.agree(dumps, "holds", "hold")
        yield f"{units.count(dumps, 'dump')} of XLA {holds} what was compiled (`hlo_module`, `hlo_pass`)."


def _checkpoints(rows_of: Mapping[str, Rows]) -> Iterable[str]:
    """One sentence for each of the first checkpoints, weights apart from what optimizers keep. A tensor that
    was stored alone is no model."""
    paths = list(dict.fromkeys(row["path"] for row in rows_of["checkpoint_tensors"]))
    for path in paths[:3]:
        rows = [row for row in rows_of["checkpoint_tensors"] if row["path"] == path]
        tensors, size = sum(row["tensors"] for row in rows), sum(row["tensor_bytes"] for row in rows)
        name = path.rpartition("/")[2].removesuffix(".index")
        sentence = f"{name}: {units.count(tensors, 'tensor')}, {units.show(size, 'bytes')}"
        of = {row["role"]: row for row in rows}
        if tensors > 1 and (weights := of.get("weight")):
            sentence += f"; {units.count(weights['parameters'], 'parameter')} of the model in "
            sentence += f"{units.show(weights['tensor_bytes'], 'bytes')}, the largest {weights['largest']}"
        if statistics := of.get("statistic"):
            averages = units.count(statistics["parameters"], "moving average")
            sentence += f"; {averages}"
        kept = [of[role] for role in ("slot", "optimizer") if role in of]
        if kept:
            whole = units.show(sum(row["tensor_bytes"] for row in kept), "bytes")
            sentence += f"; the optimizer keeps {whole} besides"
        if copies := of.get("copy"):
            sentence += f"; {units.show(copies['tensor_bytes'], 'bytes')} are stored again"
        yield sentence + "."
    if len(paths) > 3:
        yield f"{units.count(len(paths) - 3, 'more checkpoint')} in the table."


def _waits(rows_of: Mapping[str, Rows]) -> Iterable[str]:
    """What threads wait for."""
    seen: set[str] = set()
    parts = []
    for row in rows_of["waits"]:
        if row["wait"] not in seen and row["share"]:
            seen.add(row["wait"])
            parts.append(f"{row['wait']} {units.show(row['share'], 'ratio')}")
    if parts:
        yield f"Share of the steps in which some thread waits: {', '.join(parts)}."


def _concurrent_rows(rows_of: Mapping[str, Rows]) -> Iterable[str]:
    """How many rows of a device are busy together."""
    devices: dict[str, Rows] = {}
    several = runs.are_several(rows_of)
    for row in rows_of["concurrency"]:
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


def _complete(rows_of: Mapping[str, Rows]) -> Iterable[str]:
    """How much of what was recorded is in the tables."""
    sources = {row["path"]: row for row in rows_of["completeness"]}.values()
    seen, stored, lost, repaired = (
        sum(row[f"events_{what}"] for row in sources) for what in ("seen", "stored", "lost", "repaired")
    )
    kinds = {row["kind"] for row in rows_of["sources"] if row["events_seen"]}
    graphs, tensors = "graph" in kinds, "checkpoint" in kinds
    nouns = [units.agree(seen, "event", "events"), *["nodes"] * graphs, *["tensors"] * tensors]
    sentence = f"{stored:,} of {seen:,} {listed(nouns)} stored"
    sentence += f", {lost:,} lost" if lost else ""
    yield sentence + (f", {repaired:,} repaired" if repaired else "") + "."


_SENTENCES: Mapping[str, Callable[[Mapping[str, Rows]], Iterable[str]]] = {
    "runs_and_hosts": _recorded,
    "step_list": step_text.sentences,
    "waits": _waits,
    "pipeline_stages": verdict_text.sentences,
    "concurrency": _concurrent_rows,
    "checkpoint_tensors": _checkpoints,
    "hlo_modules": program_text.modules,
    "hlo_passes": program_text.passes,
    "completeness": _complete,
    "ranks": ranks.sentences,
}
"""By the analysis whose table they stand before."""
