"""Writes docs/measured.md from the results that are kept: `python benchmarks/table.py`.

A section shows some families, a line a figure. A test compares the page with the results. A family that no
section shows is listed at the end.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import kept
from measure import MILLION, MOST_MB, MOST_SLOPE, TINY, of_a_million

PAGE = Path(__file__).resolve().parents[1] / "docs" / "measured.md"
HEAD = """\
# What was measured

Times, memory and hits of stepscope, and of other tools on the same input in the same run. Compare within a
line, since machines differ: `measured` says when, on how many cores, and with which load average. `held to`
is the goal that the script holds the figure to.

This page is made from `benchmarks/results` by `make measured`. [How to measure](../benchmarks/README.md) says
what each script needs.
"""
PEERS = {
    "json_loads": "Python's `json.loads` of the file",
    "duckdb_guess": "DuckDB's `read_json`",
    "duckdb_unnest": "DuckDB's `read_json`",
    "duckdb_parquet": "DuckDB's `read_json` to Parquet",
    "duckdb_unnest_parquet": "DuckDB's `read_json` to Parquet",
    "xprof": "xprof's events database",
    "perfetto": "Perfetto's trace processor",
    "profile": "`tf.compat.v1.profiler`",
    "tensorflow": "`tf.compat.v1.profiler`",
    "cache": "reading and keeping it",
}
"""Routes that ours are compared with, in the words of the page."""
UNITS = {"seconds": "s", "processor": "s of the processor", "megabytes": "MB"}

Found = Mapping[str, Any]


class Line(NamedTuple):
    """A line of a table; texts."""

    what: str
    ours: str
    beside: str = ""
    ratio: str = ""
    goal: str = ""
    measured: str = ""
    """Filled in from the result where a line does not say it."""


def rows(found: Found) -> Iterator[Line]:
    """Of run.py: a line for each promise."""
    for row_name, row in found["rows"].items():
        when = measured(row["date"], row["machine"])
        for promise in row["promises"]:
            name = promise["part"] or promise["ours"]
            missed = "" if promise["kept"] else ", missed"
            what = f"`{row_name}`: {row['about']}: {name}"
            if not promise["other"]:
                goal = f"at most {number(promise['wanted'])}{missed}"
                unit = UNITS[promise["kind"]]
                yield Line(what, f"{number(promise['got'])} {unit}", goal=goal, measured=when)
                continue
            kind, got = promise["kind"], number(promise["got"])
            ratio = {
                "times": f"{got} times as fast",
                "memory": f"{got} times less memory",
                "share": f"{got} times as long",
            }
            bound = "at most" if kind == "share" else "at least"
            goal = f"{bound} {number(promise['wanted'])}{missed}"
            ours, other = (figure(row, promise, route) for route in (promise["ours"], promise["other"]))
            yield Line(what, ours, f"{PEERS[promise['other']]}, {other}", ratio[kind], goal, when)


def figure(row: Found, promise: Found, route: str) -> str:
    """What a promise compared of a route: a part, memory, the inside of ours where it tells that, or all."""
    if promise["part"]:
        return f"{number(row['inside'][route]['parts'][promise['part']])} s"
    if promise["kind"] == "memory":
        return f"{number(row['routes'][route]['peak_mb'])} MB"
    inside = row["inside"].get(route, {}) if route == promise["ours"] and promise["kind"] == "times" else {}
    return f"{number(inside.get('seconds', row['routes'][route]['seconds']))} s"


def fleet(found: Found) -> Iterator[Line]:
    """Of fleet.py."""
    for hosts, figures in found["hosts"].items():
        when = measured(figures["date"], figures["machine"])
        for name, told in figures.items():
            if isinstance(told, dict) and "processor_s" in told:
                what = f"{int(hosts):,} hosts: {name.replace('_compacted', ', compacted')}"
                yield Line(what, f"{number(told['processor_s'])} s of the processor", measured=when)


def page(found: Found) -> Iterator[Line]:
    """Of page.py."""
    what = f"{found['events']:,} events" if "events" in found else f"a lake of {found['sources']} recordings"
    if "raw_file_to_cells_s" in found:
        yield Line(f"{what}: from the command to the screen, raw file", f"{found['raw_file_to_cells_s']} s")
    yield Line(f"{what}: from the command to the screen, kept", f"{found['kept_to_cells_s']} s")
    yield Line(f"{what}: panning, slowest 5 % of frames", f"{found['pan_wide_p5_fps']} frames a second")
    viewers = f"{found['viewers']} viewers with five requests a second each"
    yield Line(f"{what}: 99 % of answers to {viewers}", f"{found['timeline_p99_ms']} ms")
    if "busy_timeline_p99_ms" in found:
        ingest = f"{found['busy_file_mb']:,} MB are ingested and four statements run"
        yield Line(f"{what}: the same while {ingest}", f"{found['busy_timeline_p99_ms']} ms")


def perfetto_ui(found: Found) -> Iterator[Line]:
    """Of perfetto_ui.py."""
    ours, other = found["stepscope"], found["perfetto"]
    what, peer = f"a Chrome trace of {found['bytes'] / 1e6:.0f} MB", "Perfetto's page"
    yield Line(
        f"{what}: from the command to the screen",
        f"{ours['seconds']} s",
        f"{peer}, {other['seconds']} s",
        f"{number(found['seconds_ratio'])} times as fast",
    )
    yield Line(
        f"{what}: memory of all processes",
        f"{ours['mb']:.0f} MB",
        f"{peer}, {other['mb']:.0f} MB",
        f"{number(found['mb_ratio'])} times less memory",
    )


def hlo_index(found: Found) -> Iterator[Line]:
    """Of hlo_index.py."""
    for folder in found["folders"].values():
        what = f"a dump folder of {folder['files']:,} files, {folder['megabytes']:.0f} MB"
        yield Line(f"{what}: `xla dumps`", f"{number(min(folder['index_seconds']))} s of the processor")
        yield Line(f"{what}: tables", f"{number(min(folder['tables_seconds']))} s of the processor")
    if protos := found["protos"]:
        what = f"{protos['files']} protos, {protos['instructions']:,} instructions: opcodes, cost, memory"
        ours = f"{protos['ours_seconds']} s"
        for verb, key in (("parses them", "parses"), ("counts opcodes", "counts")):
            ratio = f"{number(protos[f'hlo_pb2_{key}_ratio'])} times as fast"
            yield Line(what, ours, f"hlo_pb2 of TensorFlow {verb}", ratio)
    for text in found["texts"]:
        what = f"HLO text of {text['megabytes']} MB, {text['text']}"
        yield Line(what, f"{text['seconds']} s, {text['peak_megabytes']} MB")


def hlo_diff(found: Found) -> Iterator[Line]:
    """Of hlo_diff.py."""
    for one in found["matching"]:
        if not one["metadata"]:
            what = f"passes of {one['program']}, {one['truth']:,} pairs: matched without names"
            told = f"{percent(one['precision'])} right, {percent(one['recall'])} found"
            yield Line(what, f"{told}; of the worst pass {percent(one['worst'])}")
    speed = found["speed"]
    what = f"compare two modules of {speed['instructions']:,} instructions"
    yield Line(what, f"{number(min(speed['seconds']))} s of the processor")


def layouts(found: Found) -> Iterator[Line]:
    """Of layouts.py."""
    for row in found["rows"]:
        took = {name: row[name] for name in ("dagre", "elkjs") if row[name] != "not tried"}
        told = [
            f"{name}, {one if isinstance(one, str) else f'{number(one)} s'}" for name, one in took.items()
        ]
        ratios = [f"{row[f'{name}_ratio']:,}" for name in took if f"{name}_ratio" in row]
        ratio = f"{' and '.join(ratios)} times as fast" if ratios else ""
        what = f"lay out {row['graph']}, {row['boxes']:,} boxes"
        yield Line(what, f"{row['seconds'] * 1e3:g} ms", "; ".join(told), ratio)


def record_cost(found: Found) -> Iterator[Line]:
    """Of record_cost.py."""
    for name, told in found["programs"].items():
        when = measured(told["date"], told["machine"])
        phases = {
            "watched": "before the recording",
            "recorded": "recorded",
            "detached": "after the recording",
        }
        for phase, title in phases.items():
            step = told[phase]
            ours = f"{step['recorded_cpu_us'] / 1e3:.2f} ms of the processor"
            alone = f"alone, {step['alone_cpu_us'] / 1e3:.2f} ms"
            ratio = f"{step['cpu_ratio']:.2f} times as much"
            yield Line(f"a step of `{name}`, {title}", ours, alone, ratio, measured=when)


def culprits(found: Found) -> Iterator[Line]:
    """Of `python -m benchmarks.yardstick programs`."""
    yield from _culprits(found, "programs with a known culprit")


def elsewhere(found: Found) -> Iterator[Line]:
    """Of the same, for programs that are not in the repository."""
    yield from _culprits(found, "other programs, outside of the repository")


def _culprits(found: Found, kind: str) -> Iterator[Line]:
    whose = f"{len(found['programs'])} {kind}"
    names = {
        "cause": "the cause is right",
        "place": "the line, function, op or stage is right",
        "no false high finding": "no finding of high severity about something else",
    }
    for key, share in found["shares"].items():
        if not share.endswith(" of 0"):
            yield Line(f"{whose}: {names.get(key, key)}", share)


def predictions(found: Found) -> Iterator[Line]:
    """Of predictions.py."""
    of = len(found["cases"])
    inside = sum(case["inside"] for case in found["cases"].values())
    what = f"{of} tf.data pipelines that are mended as `pipeline` says"
    yield Line(f"{what}: faster, or not, as predicted", f"{found['direction']} of {of}")
    yield Line(f"{what}: what remains of a step within a quarter", f"{found['near']} of {of}")
    yield Line(f"{what}: within the predicted bounds", f"{inside} of {of}")


def gate(found: Found) -> Iterator[Line]:
    """Of gate.py."""
    what = f"`check` on {found['splits']} splits of real recordings (`{found['program']}`)"
    yield Line(f"{what}: false alarms", percent(found["false_alarms"]), goal="at most 5 %")
    yield Line(f"{what}: a layer of another width is named", percent(found["found"]), goal="at least 90 %")


ANSWERS = ("summary", "memory", "report .json", "page report/first")
"""Answers whose cost is shown of each kind of recording, beside the dearest one."""


def growth(found: Found) -> Iterator[Line]:
    """Of growth.py: some answers to the largest recording of each kind, and to that of a million events."""
    for kind, told in found["kinds"].items():
        sizes = {int(size) for row in told["rows"].values() for size in row["cells"]}
        for events in sorted(sizes & {MILLION, max(sizes)}):
            yield from _of_size(kind, told, events)


def _of_size(kind: str, told: Found, events: int) -> Iterator[Line]:
    when = measured(told["date"], told["machine"])
    asked = {name: row for name, row in told["rows"].items() if str(events) in row["cells"]}
    cells = {name: row["cells"][str(events)] for name, row in asked.items()}
    took = {name: cell["processor_s"] for name, cell in cells.items() if "ended" not in cell}
    dearest = max(took, key=lambda name: took[name])
    for name in dict.fromkeys((*(one for one in ANSWERS if one in took), dearest)):
        what = f"{kind}, {events:,} events: `{name}`{', the dearest' if name == dearest else ''}"
        ours = f"{number(took[name])} s of the processor, {cells[name]['peak_mb']:,} MB"
        sizes = sorted(int(size) for size in asked[name]["cells"] if int(size) != TINY)
        steepest = dict(zip(sizes[1:], asked[name]["slopes"], strict=True)).get(events)
        power = "" if steepest is None else f"grows with the power {steepest}"
        goal = _held_to(name, events, took[name], cells[name]["peak_mb"], steepest)
        yield Line(what, ours, ratio=power, goal=goal, measured=when)


def _held_to(name: str, events: int, took_s: float, peak_mb: float, steepest: float | None) -> str:
    """The goals of an answer, and whether one is missed."""
    goals = [] if steepest is None else [(f"a power of at most {MOST_SLOPE}", steepest > MOST_SLOPE)]
    if events == MILLION:
        most = of_a_million(name)
        goals.append((f"at most {number(most)} s", took_s > most))
    if events == 10 * MILLION:
        goals.append((f"at most {MOST_MB:,} MB", peak_mb > MOST_MB))
    return "; ".join(f"{goal}{', missed' * is_missed}" for goal, is_missed in goals)


SECTIONS: dict[str, dict[str, Callable[[Found], Iterator[Line]]]] = {
    "Reading, keeping and asking": {"rows": rows},
    "Lakes of many hosts": {"fleet": fleet},
    "Nothing grows faster than its work": {"growth": growth},
    "The page": {"page": page, "page-lake": page, "perfetto-ui": perfetto_ui},
    "Compiled programs": {"hlo-index": hlo_index, "hlo-diff": hlo_diff, "layouts": layouts},
    "What recording costs": {"record-cost": record_cost},
    "How often answers are right": {
        "culprits": culprits,
        "culprits-elsewhere": elsewhere,
        "predictions": predictions,
        "gate-dense": gate,
        "gate-conv": gate,
    },
}
PAGES = {
    "fleet-cost": "[What a fleet costs](fleet-cost.md)",
    "versions": "[Versions](versions.md)",
    "yardstick": "[The yardstick](yardstick.md)",
}
"""Families with a page of their own."""


def section(readers: Mapping[str, Callable[[Found], Iterator[Line]]]) -> Iterator[str]:
    """Tables of some families in Markdown: beside others, and alone."""
    lines: list[Line] = []
    files = {family: kept.families()[family] for family in readers if family in kept.families()}
    yield f"From {', '.join(f'`{path.name}`' for path in files.values())}."
    yield ""
    for family, path in files.items():
        read, found = readers[family], kept.read(family)
        when = measured(path.stem[-10:], found.get("machine"))
        lines += [line._replace(measured=line.measured or when) for line in read(found)]
    yield from table([line for line in lines if line.beside])
    yield from table([line for line in lines if not line.beside])


def table(lines: Sequence[Line]) -> Iterator[str]:
    """A table without the columns that none of its lines fills."""
    titles = {
        "what": "what", "ours": "stepscope", "beside": "beside", "ratio": "ratio", "goal": "held to",
        "measured": "measured",
    }  # fmt: skip
    used = [name for name in titles if any(getattr(line, name) for line in lines)]
    if used:
        yield "| " + " | ".join(titles[name] for name in used) + " |"
        yield "|" + "---|" * len(used)
        for line in lines:
            yield "| " + " | ".join(getattr(line, name) for name in used) + " |"
        yield ""


def measured(date: str, machine: Found | None) -> str:
    """When and on what."""
    if not machine:
        return date
    load = f", load {machine['load']:.1f}" if "load" in machine else ""
    cpu = f" of {machine['cpu']}" if "cpu" in machine else ""
    return f"{date}, {machine['cores']} cores{cpu}{load}"


def number(value: float) -> str:
    """Three digits that count."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def percent(share: float) -> str:
    """A share of one."""
    return f"{share * 100:.4g} %"


def text() -> str:
    """docs/measured.md."""
    lines = [HEAD]
    for title, readers in SECTIONS.items():
        lines += [f"## {title}", "", *section(readers)]
    shown = {family for readers in SECTIONS.values() for family in readers}
    lines += ["## Other results", ""]
    for family, path in kept.families().items():
        if family not in shown:
            lines.append(f"- {PAGES.get(family, f'`{family}`')}, {path.stem[-10:]}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
    print(f"wrote {PAGE}", file=sys.stderr)
