"""What 10,000 hosts with a million events each take and cost, from measured figures and list prices.

    python benchmarks/fleet_cost.py --measure [--hosts 8] [--events 1000000] [--work DIR]
    python benchmarks/fleet_cost.py --page

`--measure` records nothing: it writes XPlanes with generate_xspace.py, ingests and compacts them, and keeps
bytes and processor seconds an event (`fleet-cost-DATE.json`). Bytes in BigQuery follow from
its rules for the size of values. `--page` writes docs/fleet-cost.md from the newest of these files and the
newest of benchmarks/fleet.py; a test compares the page with them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import kept

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PAGE = ROOT / "docs" / "fleet-cost.md"

HOSTS, EVENTS, CORES = 10_000, 1_000_000, 64
AT_ONCE = 32
"""Files that compaction writes at a time on a machine with 256 GiB: see stepscope.session.compacting."""
GIB, TIB = 1 << 30, 1 << 40
SUMMED = ("name", "host_id", "dur_ps")
"""The columns of slice that a sum by name and host reads."""
VALUE_BYTES = {"BIGINT": 8, "INTEGER": 8, "DOUBLE": 8, "BOOLEAN": 1}
"""What BigQuery counts for a value; a text counts its bytes in UTF-8 and two more, NULL counts nothing."""


class Price(NamedTuple):
    """A list price in US dollars: an assumption, to be replaced by one's own."""

    about: str
    dollars: float
    per: str
    listed: str


PRICES = {
    "machine": Price("n2-standard-64, 64 vCPUs, us-central1, on demand", 3.108, "hour", "2024-05"),
    "store": Price("Cloud Storage, Standard, us-central1", 0.020, "GiB and month", "2026-09"),
    "kept": Price("BigQuery storage, active, logical bytes, US", 0.02, "GiB and month", "2023-09"),
    "asked": Price("BigQuery on demand, US", 6.25, "TiB read", "2023-07"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--measure", action="store_true", help="measure an event again")
    parser.add_argument("--page", action="store_true", help="write the page")
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--work", type=Path, help="folder for recordings and lakes")
    asked = parser.parse_args(arguments)
    if asked.measure:
        with tempfile.TemporaryDirectory(dir=asked.work) as work:
            found = measured(Path(work), asked.hosts, asked.events)
        kept.write("fleet-cost", found)
    if asked.page:
        PAGE.write_text(page(newest("fleet-cost"), newest("fleet")), encoding="utf-8")
    print(page(newest("fleet-cost"), newest("fleet")), end="")
    return 0


def newest(kind: str) -> dict[str, Any]:
    """The newest results of a kind: `fleet-cost`, or `fleet` for benchmarks/fleet.py."""
    return {**kept.read(kind), "file": kept.families()[kind].name}


def measured(work: Path, hosts: int, events: int) -> dict[str, Any]:
    """Bytes and microseconds of the processor an event, from a small fleet that is made now."""
    import generate_xspace
    import stepscope
    from measure import Route, run_once
    from stepscope.lake import reader
    from stepscope.lake.manifest import TIMELINE

    logs, lake = work / "logs", work / "lake"
    for host in range(hosts):
        file = logs / f"host=h{host:05}" / "a.xplane.pb"
        file.parent.mkdir(parents=True)
        generate_xspace.write(file, events, seed=host)
    total = hosts * events

    def us(*words: object) -> float:
        command = [sys.executable, "-m", "stepscope", *map(str, words)]
        route = Route(str(words[0]), command, environment={"STEPSCOPE_CACHE_DIR": str(work / "cache")})
        return round(run_once(route)[2] * 1e6 / total, 3)

    def bytes_of(timelines: bool) -> float:
        files = reader.contents(lake).files_of()
        return round(sum(file.bytes for file in files if (file.table == TIMELINE) == timelines) / total, 2)

    raw = sum(path.stat().st_size for path in logs.rglob("*.pb"))
    found: dict[str, Any] = {
        "hosts": hosts, "events": events, "machine": kept.machine(),
        "raw_bytes": round(raw / total, 2),
    }  # fmt: skip
    found["ingest_us"] = us("ingest", logs, "--lake", lake, "--run", "fleet")
    found["tables_bytes"], found["timelines_bytes"] = bytes_of(timelines=False), bytes_of(timelines=True)
    found["compact_us"] = us("compact", lake)
    found["compacted_bytes"] = bytes_of(timelines=False)
    with stepscope.open(lake) as trace:
        for name, columns in (("slice_logical_bytes", None), ("summed_logical_bytes", SUMMED)):
            found[name] = round(trace.query(logical("slice", columns)).rows()[0][0] / total, 1)
        rest = sum(trace.query(logical(name)).rows()[0][0] for name in stored(lake) if name != "slice")
        found["others_logical_bytes"] = round(rest / total, 1)
        (found["rollup_rows"],) = trace.query(
            "SELECT count(*) // count(DISTINCT host_id) FROM rollup_op"
        ).rows()[0]
    return found


def stored(lake: Path) -> list[str]:
    """The tables that a lake has rows of."""
    from stepscope.lake import reader
    from stepscope.lake.schema import schema

    there = {file.table for file in reader.contents(lake).files_of()}
    return [table.name for table in schema().tables if table.name in there]


def logical(name: str, columns: Sequence[str] | None = None) -> str:
    """The statement that adds up what BigQuery counts for the columns of a table (None: all)."""
    from stepscope.lake.schema import schema

    sizes = [
        f"CASE WHEN {column.name} IS NULL THEN 0 ELSE "
        + (str(VALUE_BYTES[column.type]) if column.type != "VARCHAR" else f"2 + strlen({column.name})")
        + " END"
        for column in schema().table(name).columns
        if columns is None or column.name in columns
    ]
    return f"SELECT COALESCE(SUM({' + '.join(sizes)}), 0) AS total_bytes FROM {name}"


class Cost(NamedTuple):
    """A line of the page."""

    what: str
    amount: str
    dollars: float
    how: str


def machine(found: Mapping[str, Any]) -> list[Cost]:
    """The fleet on one machine of 64 cores, and its lake in an object store."""
    events = HOSTS * EVENTS
    price, store = PRICES["machine"].dollars, PRICES["store"].dollars
    ingest_s = events * found["ingest_us"] / 1e6 / CORES
    compact_s = events * found["compact_us"] / 1e6 / AT_ONCE
    kept = [
        ("recordings", found["raw_bytes"]),
        ("lake: tables", found["compacted_bytes"]),
        ("lake: timelines", found["timelines_bytes"]),
    ]
    lines = [
        Cost(
            "ingest, all cores",
            duration(ingest_s),
            ingest_s / 3600 * price,
            f"{found['ingest_us']} µs an event and core",
        ),
        Cost(
            f"compact, {AT_ONCE} files at a time",
            duration(compact_s),
            compact_s / 3600 * price,
            f"{found['compact_us']} µs an event and core",
        ),
    ]
    for name, size in kept:
        lines.append(
            Cost(
                f"a month of the {name}",
                amount(events * size),
                events * size / GIB * store,
                f"{size} B an event",
            )
        )
    return lines


def warehouse(found: Mapping[str, Any]) -> list[Cost]:
    """The same lake as a dataset of BigQuery."""
    events = HOSTS * EVENTS
    kept, asked = PRICES["kept"].dollars, PRICES["asked"].dollars
    whole = found["slice_logical_bytes"] + found["others_logical_bytes"]
    reads = [
        ("count of all slices", 0.0, "metadata only"),
        ("sum by name and host", found["summed_logical_bytes"], f"reads {', '.join(SUMMED)}"),
        ("every column of slice", found["slice_logical_bytes"], "the most that one scan reads"),
        ("every table but slice", found["others_logical_bytes"], "rollups among them"),
    ]
    lines = [
        Cost("load", amount(events * found["compacted_bytes"]), 0.0, "load jobs are free"),
        Cost(
            "a month of the dataset",
            amount(events * whole),
            events * whole / GIB * kept,
            f"{whole:.1f} B an event",
        ),
    ]
    for name, size, how in reads:
        lines.append(
            Cost(name, amount(events * size), events * size / TIB * asked, f"{size} B an event: {how}")
        )
    return lines


def duration(seconds: float) -> str:
    """In the unit that a person would say."""
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def amount(size: float) -> str:
    """Bytes in decimal units, as disks and networks count."""
    for unit, least in (("TB", 1e12), ("GB", 1e9)):
        if size >= least:
            return f"{size / least:.3g} {unit}"
    return f"{size / 1e6:.0f} MB" if size else "0"


def table(lines: Sequence[Cost]) -> str:
    """Markdown."""
    rows = [f"| {one.what} | {one.amount} | {one.dollars:,.2f} | {one.how} |" for one in lines]
    return "\n".join(["| | takes | US dollars | from |", "|---|--:|--:|---|", *rows])


TEXT = """\
# What a fleet costs

{hosts:,} hosts with {events:,} events each are ten billion events. This page computes what they take on a
machine with {cores} cores and on BigQuery, from figures measured on a small fleet and from list prices.
Nobody has run it at this size. `python benchmarks/fleet_cost.py --measure --page` measures again and writes
this page.

## On one machine

{machine}

- Ingest works on each recording by itself, so its time is divided by the cores. It also has to read {raw}.
  At 32 Gbit/s, the most that such a machine has, that takes {raw_time}; the longer of the two counts. A
  Spark cluster divides both.
- Compaction writes one file a core at a time, each in 2 GB of memory, within a quarter of the machine's:
  {at_once} on one with 256 GiB. Taking more hosts into a compacted run sorts its rows, which takes twice as
  long and 0.9 kB of memory a slice.
- Timelines are what the page of `stepscope serve` draws from. The tables take a third of a lake.

What opening and asking such a lake takes depends on its hosts and their kinds of ops, not on their events, as
long as rollups answer the question. Measured on {hosts:,} hosts with 307 events and 60 kinds of ops each,
compacted, in seconds of the processor:

| count of slices | `summary` | ingesting the known fleet again |
|--:|--:|--:|
| {count_s} | {summary_s} | {again_s} |

A host of the small fleet below has {rollup_rows:,} rows of rollups instead of 60, so a summary of {hosts:,}
such hosts takes longer in proportion.

## On BigQuery

{warehouse}

BigQuery reads whole columns of the tables that a statement names: a question about one host costs as much as
one about all of them. `--max-bytes` refuses a query that reads more than you want to pay for.

## Where the figures come from

Measured on {few} hosts with {each:,} events each, on {here} cores that other work shared (load {load}), in
processor seconds of whole processes (`benchmarks/results/{file}`). The recordings are
XPlanes of `benchmarks/generate_xspace.py`: eight threads of a host and four streams of a GPU, 3.5 stats an
event. Your events may be larger. In BigQuery a number counts 8 bytes, a text its length and 2 bytes. The
fleet of 307 events a host is that of `benchmarks/fleet.py` (`benchmarks/results/{many}`).

Prices are assumptions: list prices without discounts, free tiers and network traffic.

| price of | US dollars | per | as listed in |
|---|--:|---|---|
{prices}
"""


def page(found: Mapping[str, Any], many: Mapping[str, Any]) -> str:
    """docs/fleet-cost.md."""
    raw = HOSTS * EVENTS * found["raw_bytes"]
    times = {
        f"{name}_s": many["hosts"][str(HOSTS)][f"{name}_compacted"]["processor_s"]
        for name in ("count", "summary", "again")
    }
    prices = [f"| {one.about} | {one.dollars:g} | {one.per} | {one.listed} |" for one in PRICES.values()]
    return TEXT.format(
        hosts=HOSTS, events=EVENTS, cores=CORES, machine=table(machine(found)), raw=amount(raw),
        at_once=AT_ONCE,
        raw_time=duration(raw / 4e9), rollup_rows=found["rollup_rows"], warehouse=table(warehouse(found)),
        few=found["hosts"], each=found["events"], here=found["machine"]["cores"],
        load=found["machine"]["load"], file=found["file"],
        many=many["file"], prices="\n".join(prices), **times,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
