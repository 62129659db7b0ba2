"""The analyses once more, by brute force in Python: cells of time in sets, no windows, no joins.

What a slice is (place, class, wait) is written here from the documentation of the views, as tables of
names rather than as SQL. Times are multiples of UNIT, so that intervals are sets of cells.

Past 400 lines because it is a list: a twin for each analysis, over one world.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from tests.draw import Row, Tables

UNIT = 30_000_000

CLASSES = {
    "MatMul": "compute",
    "IteratorGetNext": "input",
    "_Recv": "wait",
    "MEMCPYHtoD": "copy",
    "NcclAllReduce": "communication",
    "_XlaCompile": "compile",
    "EagerPyFunc": "python",
    "pure_callback": "python",
    "MatchingFiles": "compute",
}
"""Op types that draws use."""
NAME_CLASSES = {
    "IteratorGetNextOp::DoCompute": "input",
    "Memcpy HtoD": "copy",
    "ncclKernel": "communication",
    "kernel": "compute",
    "QUEUE": "wait",
    "cudaStreamSynchronize": "wait",
}
"""Names without op type."""
MARKS = (
    "gpu_user_annotation", "user_annotation", "cuda_sync", "xpu_sync", "overhead", "python_function",
)  # fmt: skip
"""Categories of slices on rows of devices that are no work."""
WAITS = {"cudaStreamSynchronize": "device", "IteratorGetNextOp::DoCompute": "input", "QUEUE": "peers"}
TYPE_WAITS = {"IteratorGetNext": "input", "_Recv": "receive"}

WAITING = ("input", "wait")
"""Classes that are no work."""

Twin = Callable[[Tables], list[tuple[Any, ...]]]


def cells(begin: int, end: int) -> set[int]:
    """The units of time between two instants."""
    assert begin % UNIT == end % UNIT == 0
    return set(range(begin // UNIT, end // UNIT))


class World:
    """A trace with what its rows are."""

    def __init__(self, tables: Tables) -> None:
        self.rows = tables.rows
        self.producer = {s["source_id"]: s["producer"] for s in self.rows["source"]}
        self.devices = {d["id"]: d for d in self.rows["device"]}
        self.tracks = {t["id"]: t for t in self.rows["track"]}
        self.steps = [{**s, "kind": self._kind_of_step(s)} for s in self.rows["step_stored"]]
        self.windows = {s["source_id"]: self._window(s["source_id"]) for s in self.steps}
        """By source: the stretches of time that count."""
        self.apart = {s["source_id"]: s["recovered_from"] == "file" for s in self.steps}
        """By source: whether each step is a recording of its own."""

    def _kind_of_step(self, step: Row) -> str:
        """The kind of a step; runs of a session that do other work are of a kind each."""
        kind, at = self._trains(step), self._works(step)
        alike = [self._works(s) for s in self.rows["step_stored"] if at and self._works(s)[:3] == at[:3]]
        works = sorted(set(alike), key=lambda work: alike.index(work))
        if not 2 <= len(works) <= 4 or min(map(alike.count, works)) < 3:
            return kind
        return ("train " if kind == "train" else "kind ") + "ABCD"[works.index(at)]

    def _works(self, step: Row) -> tuple[str, ...]:
        """Run, host, kind and work of a run of a session; empty where its work is unknown or not averaged."""
        known = step["averaged"] and step["recovered_from"] == "file" and step["work"] is not None
        return (step["run_id"], step["host_id"], self._trains(step), step["work"]) if known else ()

    def _trains(self, step: Row) -> str:
        """A run of a session trains where others of its host do not; alone, nothing is known of it."""
        if step["recovered_from"] != "file" or step["kind"] != "train":
            return step["kind"]
        host = (step["run_id"], step["host_id"])
        beside = [
            s["kind"]
            for s in self.rows["step_stored"]
            if (s["run_id"], s["host_id"]) == host and s["recovered_from"] == "file"
        ]
        return "unknown" if set(beside) == {"train"} else "train"

    def _window(self, source: int) -> list[tuple[int, int]]:
        own = [s for s in self.steps if s["source_id"] == source]
        apart = own[0]["recovered_from"] == "file"
        together = [
            s
            for s in self.steps
            if (s["run_id"], s["host_id"]) == (own[0]["run_id"], own[0]["host_id"])
            and s["recovered_from"] == "file"
        ]
        kept = any(s["averaged"] for s in (together if apart else own))
        judged = [s for s in own if s["averaged"] or not kept or (s["kind"] == "cut_off" and not apart)]
        spans = [(s["ts_ps"], s["ts_ps"] + s["dur_ps"]) for s in judged]
        if apart:
            return spans
        return [(min(begin for begin, _ in spans), max(end for _, end in spans))]

    def length(self, source: int) -> int:
        """How much time of a source counts."""
        return sum(end - begin for begin, end in self.windows[source])

    def place(self, slice_: Row) -> str:
        """device, host, launch or none."""
        track = self.tracks[slice_["track_id"]]
        if track["kind"] in ("async", "counter", "derived", "compiler") or track["records"] == "annotation":
            return "none"
        if track["kind"] == "device_stream":
            others = [
                t
                for t in self.tracks.values()
                if t["kind"] == "device_stream"
                and (t["source_id"], t["device_id"]) == (track["source_id"], track["device_id"])
                and "stream:all" not in t["name"]
            ]
            return "none" if "stream:all" in track["name"] and others else "device"
        return "launch" if track["records"] == "dispatch" else "host"

    def device(self, slice_: Row) -> str:
        """Name of the device, or of the process."""
        track = self.tracks[slice_["track_id"]]
        found = self.devices.get(track["device_id"])
        return str(found["name"] if found else track["process"])

    def kind(self, slice_: Row) -> str:
        """The class of an op slice."""
        if slice_["op_type"] is not None:
            return CLASSES[slice_["op_type"]]
        return NAME_CLASSES.get(slice_["name"], "compute")

    def shown(self, slice_: Row, place: str) -> str:
        """The class of an op slice in a table: what is launched is dispatch."""
        kind = self.kind(slice_)
        return "dispatch" if place == "launch" and kind not in (*WAITING, "compile") else kind

    def ops(self) -> Iterable[tuple[Row, str]]:
        """Slices that stand for ops, with their places."""
        for s in self.rows["slice"]:
            place = self.place(s)
            category = s["category"] or ""
            if place == "device":
                if category not in MARKS:
                    yield s, place
            elif place != "none" and (
                s["op_type"] is not None
                or s["op_name"] is not None
                or category in ("cpu_op", "Op")
                or (
                    self.producer[s["source_id"]] in ("horovod", "viztracer", "unknown")
                    and category not in ("user_annotation", "python_function")
                )
            ):
                yield s, place

    def work(self) -> Iterable[tuple[Row, str, int, int]]:
        """Slices of work, cut at the window: one part for each of its stretches."""
        for s, place in self.ops():
            if self.kind(s) in WAITING or place == "launch" or s["dur_ps"] == 0:
                continue
            for begin, end in self.windows[s["source_id"]]:
                low, high = max(s["ts_ps"], begin), min(s["ts_ps"] + s["dur_ps"], end)
                if low < high:
                    yield s, place, low, high

    def waits(self) -> Iterable[tuple[Row, str, str]]:
        """Slices that wait, with what for, and their places."""
        for s in self.rows["slice"]:
            place = self.place(s)
            wait = None
            if s["category"] == "cuda_sync":
                wait = "stream"
            elif s["category"] not in ("gpu_user_annotation", "python_function"):
                wait = TYPE_WAITS.get(s["op_type"]) if s["op_type"] is not None else WAITS.get(s["name"])
            if wait and place != "none":
                yield s, wait, place

    def busy(self, key: Callable[[Row, str], Any]) -> dict[Any, set[int]]:
        """Cells in which something is at work, by a key."""
        found: dict[Any, set[int]] = defaultdict(set)
        for s, place, low, high in self.work():
            found[key(s, place)] |= cells(low, high)
        return found

    def executed(self) -> dict[Any, list[int]]:
        """Times of everything that worked, by source, place and device, whatever the window."""
        found: dict[Any, list[int]] = defaultdict(list)
        for s, place in self.ops():
            if self.kind(s) not in WAITING and place != "launch":
                own = s["dur_ps"] if place == "device" else s["self_ps"]
                found[s["source_id"], place, self.device(s)].append(own)
        return found

    def by_device(self) -> dict[Any, set[int]]:
        """Cells of the windows in which a device worked; none for one that only worked outside of them."""
        busy = self.busy(lambda s, place: (s["source_id"], place, self.device(s)))
        return {key: busy.get(key, set()) for key in self.executed()}

    def waited(self, step: Row, kind: str) -> set[int]:
        """Cells of a step in which threads wait."""
        begin, end = step["ts_ps"], step["ts_ps"] + step["dur_ps"]
        found: set[int] = set()
        for s, wait, place in self.waits():
            if wait == kind and place != "device" and s["source_id"] == step["source_id"]:
                found |= cells(max(begin, s["ts_ps"]), min(end, s["ts_ps"] + s["dur_ps"]))
        return found


def runs(busy: set[int], begin: int, end: int) -> list[int]:
    """Lengths of the stretches without work between two cells, in units."""
    lengths = []
    free = 0
    for cell in range(begin // UNIT, end // UNIT):
        if cell in busy:
            if free:
                lengths.append(free)
            free = 0
        else:
            free += 1
    return lengths + ([free] if free else [])


def share(part: float, whole: float) -> float | None:
    """part / whole as the library does it: NULL over nothing."""
    return part / whole if whole else None


def _ranked(rows: list[tuple[Any, ...]], *keys: Callable[[tuple[Any, ...]], Any]) -> list[tuple[Any, ...]]:
    return sorted(rows, key=lambda row: tuple(_last(key(row)) for key in keys))


def _last(value: Any) -> Any:
    return (value is None, value if value is not None else 0)


def _sums(groups: dict[Any, list[tuple[Row, str]]], world: World) -> list[tuple[Any, ...]]:
    totals: dict[str, int] = defaultdict(int)
    for key, members in groups.items():
        totals[key[0]] += sum(s["self_ps"] for s, _ in members)
    rows = []
    for key, members in groups.items():
        durs = [s["dur_ps"] for s, _ in members]
        own = sum(s["self_ps"] for s, _ in members)
        kind = max(world.shown(s, place) for s, place in members)
        figures = (own, share(own, totals[key[0]]), sum(durs), len(durs), sum(durs) // len(durs))
        rows.append((key, figures, key[0], kind, min(durs), max(durs)))
    return sorted(rows, key=lambda row: (row[2], -row[1][0], row[0]))


IN_PIPELINE = None
"""Nothing that is drawn works for an input pipeline."""


def op_types(tables: Tables) -> list[tuple[Any, ...]]:
    """Twin of op_types."""
    world = World(tables)
    groups: dict[Any, list[tuple[Row, str]]] = defaultdict(list)
    for s, place in world.ops():
        groups[place, s["op_type"] or s["op_name"] or s["name"]].append((s, place))
    return [
        (k[1], place, *figures, kind, low, high, IN_PIPELINE)
        for k, figures, place, kind, low, high in _sums(groups, world)
    ]


def ops(tables: Tables) -> list[tuple[Any, ...]]:
    """Twin of ops."""
    world = World(tables)
    groups: dict[Any, list[tuple[Row, str]]] = defaultdict(list)
    for s, place in world.ops():
        op = s["op_name"] or s["name"]
        groups[place, op, s["op_type"] or op].append((s, place))
    return [
        (k[1], place, *figures, kind, k[2], low, high, IN_PIPELINE)
        for k, figures, place, kind, low, high in _sums(groups, world)
    ]


def slices_by_name(tables: Tables) -> list[tuple[Any, ...]]:
    """Twin of slices_by_name."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for s in tables.rows["slice"]:
        groups[s["name"]].append(s)
    rows = []
    for name, members in groups.items():
        durs = [s["dur_ps"] for s in members]
        own = sum(s["self_ps"] for s in members)
        rows.append((name, sum(durs), sum(durs) // len(durs), min(durs), max(durs), len(durs), own))
    return _ranked(rows, lambda row: -row[1], lambda row: row[0])


def step_times(tables: Tables) -> list[tuple[Any, ...]]:
    """Twin of step_times."""
    groups: dict[Any, list[Row]] = defaultdict(list)
    for s in World(tables).steps:
        if s["recovered_from"] != "whole_capture":
            groups[s["run_id"], s["host_id"], s["kind"], s["averaged"]].append(s)
    rows = []
    for key, members in groups.items():
        durs = sorted(s["dur_ps"] for s in members)
        n = len(durs)
        median, p95 = durs[-(-n * 50 // 100) - 1], durs[-(-n * 95 // 100) - 1]
        spread = share(p95 - median, median)
        told = min(s["recovered_from"] for s in members)
        rows.append((*key, n, sum(durs) // n, median, p95, durs[0], durs[-1], spread, told))
    return sorted(rows, key=lambda row: (row[0], row[1], not row[3], row[2]))


def step_list(tables: Tables) -> list[tuple[Any, ...]]:
    """Twin of step_list."""
    world = World(tables)
    rows = []
    with_slices = {row["source_id"] for row in tables.rows["slice"]}
    for s in world.steps:
        waited = len(world.waited(s, "input")) * UNIT if s["source_id"] in with_slices else None
        names = ("run_id", "host_id", "source_id", "step", "name", "kind", "averaged", "ts_ps", "dur_ps")
        rows.append((*(s[n] for n in names), waited, s["recovered_from"], s["reason"], s["id"]))
    ordered = sorted(rows, key=lambda r: (r[0], r[1], r[3], r[2], r[7], r[12]))
    return [row[:12] for row in ordered]


_PARTS = (
    ("dur_ps", "input"), ("dur_ps", "compile"), ("dur_ps", "compute"), ("dur_ps", "communication"),
    ("dur_ps", "copy"), ("dur_ps", "dispatch"), ("dur_ps", "setup"), ("dur_ps", "python"),
    ("dur_ps", "wait"), ("dur_ps", "idle"),
    ("dur_ps", "unknown"), ("hidden_ps", "input"), ("hidden_ps", "communication"), ("hidden_ps", "copy"),
)  # fmt: skip


def step_parts(tables: Tables) -> list[tuple[Any, ...]]:
    """Twin of step_parts."""
    groups: dict[Any, list[tuple[Row, list[int]]]] = defaultdict(list)
    for s in World(tables).steps:
        own = [p for p in tables.rows["step_part"] if p["step_id"] == s["id"]]
        sums = [sum(p[key] for p in own if p["label"] == label) for key, label in _PARTS]
        groups[s["run_id"], s["host_id"]].append((s, [s["dur_ps"], *sums]))
    rows: list[tuple[Any, ...]] = []
    for key, steps in sorted(groups.items()):
        judged = [sums for s, sums in steps if s["averaged"]] or [sums for _, sums in steps]
        means = [sum(values) // len(judged) for values in zip(*judged, strict=True)]
        rows.append((*key, "mean", len(judged), None, True, *means))
        for s, sums in sorted(
            steps, key=lambda one: [one[0][n] for n in ("step", "source_id", "ts_ps", "id")]
        ):
            rows.append((*key, str(s["step"]), 1, s["kind"], s["averaged"], *sums))
    return rows


def busy_by_device(tables: Tables) -> list[tuple[Any, ...]]:
    """Twin of busy_by_device."""
    world = World(tables)
    number: dict[Any, int] = defaultdict(int)
    for s, place, _, _ in world.work():
        number[s["source_id"], place, world.device(s)] += 1
    executed = world.executed()
    rows = []
    for key, busy in world.by_device().items():
        gaps = [gap for window in world.windows[key[0]] for gap in runs(busy, *window)]
        figures = (
            len(busy) * UNIT,
            world.length(key[0]),
            max(gaps, default=0) * UNIT,
            len(gaps),
            number[key],
            len(executed[key]),
            sum(executed[key]),
        )
        rows.append((*key, *figures))
    merged: dict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        merged[-1 if world.apart[row[0]] else row[0], row[1], row[2]].append(row)
    done = []
    for (_, place, device), alike in merged.items():
        busy_ps, window_ps, _, gaps_number, slices, runs_number, sum_ps = (
            sum(r[i] for r in alike) for i in range(3, 10)
        )
        first, longest = min(r[0] for r in alike), max(r[5] for r in alike)
        told = ("r", "h", first, place, device, busy_ps, window_ps - busy_ps)
        counted = (longest, gaps_number, slices, runs_number, sum_ps, window_ps)
        done.append((*told, share(busy_ps, window_ps), *counted))
    return sorted(done, key=lambda row: row[2:5])


def busy_by_track(tables: Tables) -> list[tuple[Any, ...]]:
    """Twin of busy_by_track."""
    world = World(tables)
    rows = []
    number: dict[int, int] = defaultdict(int)
    for s, *_ in world.work():
        number[s["track_id"]] += 1
    for track_id, busy in world.busy(lambda s, _: s["track_id"]).items():
        track = world.tracks[track_id]
        whole = world.length(track["source_id"])
        between = []
        for begin, end in world.windows[track["source_id"]]:
            if own := busy & cells(begin, end):
                between += runs(own, min(own) * UNIT, max(own) * UNIT)
        length = len(busy) * UNIT
        device = world.device({"track_id": track_id})
        place = ("r", "h", track_id, device, track["name"], track["kind"], length, whole - length)
        longest = max(between, default=0) * UNIT
        rows.append((*place, share(length, whole), longest, number[track_id]))
    return sorted(rows, key=lambda row: (-row[6], row[2]))


def busy_of_recording(tables: Tables) -> list[tuple[Any, ...]]:
    """Twin of busy_of_recording."""
    world = World(tables)
    found: dict[Any, list[tuple[int, int]]] = defaultdict(list)
    for s, place in world.ops():
        if place == "device" and world.kind(s) not in WAITING:
            found[s["source_id"], world.device(s)].append((s["ts_ps"], s["ts_ps"] + s["dur_ps"]))
    rows = []
    for (source_id, device), spans in found.items():
        busy_ps = UNIT * len(set().union(*(cells(*span) for span in spans)))
        span_ps = max(end for _, end in spans) - min(begin for begin, _ in spans)
        rows.append(("r", "h", source_id, device, busy_ps, span_ps, share(busy_ps, span_ps), len(spans)))
    return sorted(rows)


def concurrency(tables: Tables) -> list[tuple[Any, ...]]:
    """Twin of concurrency."""
    world = World(tables)
    tracks: dict[Any, list[int]] = defaultdict(list)
    for key, busy in world.busy(lambda s, p: (s["source_id"], p, world.device(s), s["track_id"])).items():
        tracks[key[:3]].append(len(busy))
    rows = []
    for key, busy in world.busy(lambda s, place: (s["source_id"], place, world.device(s))).items():
        summed = sum(tracks[key])
        rows.append(
            ("r", "h", *key, len(tracks[key]), share(summed, len(busy)), len(busy) * UNIT, summed * UNIT)
        )
    return sorted(rows, key=lambda row: row[2:5])


def waits(tables: Tables) -> list[tuple[Any, ...]]:
    """Twin of waits."""
    world = World(tables)
    groups: dict[Any, list[int]] = defaultdict(list)
    for s, wait, _ in world.waits():
        groups[wait, s["name"]].append(s["dur_ps"])
    kept = [s for s in world.steps if s["averaged"]]
    whole = sum(s["dur_ps"] for s in kept)
    rows = []
    for (wait, name), durs in groups.items():
        union = sum(len(world.waited(step, wait)) for step in kept) * UNIT
        rows.append(
            (wait, name, len(durs), sum(durs), sum(durs) // len(durs), max(durs), union, share(union, whole))
        )
    return sorted(rows, key=lambda row: (-row[3], row[0], row[1]))


def idle_gaps(tables: Tables) -> list[tuple[Any, ...]]:
    """Twin of idle_gaps, without the order of equally long gaps of one device."""
    world = World(tables)
    rows = []
    for key, busy in world.by_device().items():
        starts = []
        for begin, end in world.windows[key[0]]:
            free = set(range(begin // UNIT, end // UNIT)) - busy
            starts += [(c, free, end) for c in sorted(free) if c - 1 not in free]
        for start, free, end in starts:
            stop = next(c for c in range(start, end // UNIT + 1) if c not in free)
            gap = set(range(start, stop))
            after = [
                s
                for s, place, low, _ in world.work()
                if (s["source_id"], place, world.device(s)) == key and low == stop * UNIT
            ]
            next_one = min(after, key=lambda s: s["id"]) if after and stop * UNIT < end else None
            causes = [
                (-len(gap & cells(s["ts_ps"], s["ts_ps"] + s["dur_ps"])), s["id"], s["name"])
                for s, _, place in world.waits()
                if place != "device" and s["source_id"] == key[0]
            ]
            best = min(causes, default=(0, 0, None))
            cause = best[2] if -best[0] * 2 >= len(gap) and best[0] else None
            told = (next_one["name"], next_one["step"]) if next_one else (None, None)
            rows.append(("r", "h", *key, start * UNIT, len(gap) * UNIT, *told, cause))
    return sorted(rows, key=lambda row: (-row[6], row[2], row[3], row[4], row[5]))


def op_time_over_steps(tables: Tables) -> list[tuple[Any, ...]]:
    """Twin of op_time_over_steps; draws have fewer than ten types."""
    world = World(tables)
    groups: dict[Any, list[int]] = defaultdict(list)
    for s, place in world.ops():
        if s["step"] is not None:
            key = (s["source_id"], s["step"], place, s["op_type"] or s["op_name"] or s["name"])
            groups[key].append(s["self_ps"])
    totals: dict[Any, int] = defaultdict(int)
    for key, own in groups.items():
        totals[key[2:]] += sum(own)
    order = sorted(totals, key=lambda kind: (-totals[kind], *kind))[:10]
    starts = {(s["source_id"], s["step"]): s["ts_ps"] for s in world.steps}
    rows = [("r", "h", *key, len(own), sum(own)) for key, own in groups.items() if key[2:] in order]
    return sorted(rows, key=lambda row: (row[2], starts[row[2], row[3]], order.index(row[4:6]), row[3]))


def launches(tables: Tables) -> list[tuple[Any, ...]]:
    """Twin of launches."""
    world = World(tables)
    groups: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    known = [s for s in tables.rows["slice"] if s["correlation_id"] is not None]
    for a in known:
        works = [
            b
            for b in known
            if a["source_id"] == b["source_id"]
            and a["correlation_id"] == b["correlation_id"]
            and world.place(b) == "device"
        ]
        if works and world.place(a) in ("host", "launch"):
            lag = min(b["ts_ps"] for b in works) - a["ts_ps"]
            groups[a["name"]].append((a["dur_ps"], sum(b["dur_ps"] for b in works), lag))
    rows = []
    for name, followed in groups.items():
        launch, work, lags = (list(column) for column in zip(*followed, strict=True))
        rows.append(
            ("r", "h", name, len(followed), sum(launch), sum(work), sum(lags) // len(lags), max(lags))
        )
    return sorted(rows, key=lambda row: (-row[5], row[2]))


def transfers(tables: Tables) -> list[tuple[Any, ...]]:
    """Twin of transfers; draws tell bytes of every other copy."""
    world = World(tables)
    groups: dict[Any, list[tuple[int, float | None]]] = defaultdict(list)
    for s, place in world.ops():
        if world.kind(s) == "copy":
            told = float(s["args_json"].split(":")[1].strip(' "}')) if s["args_json"] else None
            groups[place, s["op_name"] or s["name"]].append((s["dur_ps"], told))
    rows = []
    for key, members in groups.items():
        durs = [dur for dur, _ in members]
        told = [(dur, size) for dur, size in members if size is not None]
        size = sum(size for _, size in told) if told else None
        rate = share(size * 1e12, sum(dur for dur, _ in told)) if size is not None else None
        counted = (len(durs), sum(durs), sum(durs) // len(durs), max(durs))
        rows.append((*key, *counted, None if size is None else int(size), rate))
    return sorted(rows, key=lambda row: (-row[3], row[0], row[1]))


TWINS: dict[str, Twin] = {
    twin.__name__: twin
    for twin in (
        op_types,
        ops,
        slices_by_name,
        step_times,
        step_list,
        step_parts,
        busy_by_device,
        busy_by_track,
        busy_of_recording,
        concurrency,
        waits,
        idle_gaps,
        op_time_over_steps,
        launches,
        transfers,
    )
}
