"""Compares the whole library on two engines over one lake, cell by cell, and says how long each entry took.

    python benchmarks/engine_agreement.py LAKE --engine spark --remote local[2] [--only NAME...]
    python benchmarks/engine_agreement.py LAKE --engine bigquery --dataset PROJECT.DATASET

For lakes of millions of slices, which the suite has no time for: ingest what `generate_fleet.py` and
`generate_xspace.py` write, or any recording. Base views hold a row for each slice and have no order: they
are compared as multisets, in Arrow. Exit 1 when an entry differs. Spark's driver needs memory for them:
PYSPARK_SUBMIT_ARGS="--driver-memory 8g --conf spark.driver.maxResultSize=6g pyspark-shell". The figures go to
benchmarks/results/engines-LABEL.json.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb as engine
import pyarrow

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.engines.agreeing import differences

import stepscope
from stepscope import library
from stepscope.lake import derived, reader
from stepscope.session.trace import Trace


def main() -> int:
    """Compares, prints a line an entry, writes JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("lake", type=Path)
    parser.add_argument("--engine", choices=("spark", "bigquery"), required=True)
    parser.add_argument("--remote")
    parser.add_argument("--dataset")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--label", default=datetime.date.today().isoformat())
    options = parser.parse_args()
    entries = [one for one in library.entries() if not options.only or one.name in options.only]
    rows: dict[str, dict[str, Any]] = {}
    with (
        stepscope.open(options.lake) as duckdb,
        stepscope.open(options.lake, engine=_engine(options)) as other,
    ):
        ((slices,),) = duckdb.query("SELECT COUNT(*) AS n FROM slice").rows()
        for entry in entries:
            begun = time.perf_counter()
            if entry.kind == "base":
                seen, cells = multisets(duckdb, other, entry.name)
            else:
                different, cells = differences(duckdb, other, [entry])
                seen = different.get(entry.name, "")
            took_s = time.perf_counter() - begun
            rows[entry.name] = {"cells": cells, "different": seen, "seconds": round(took_s, 2)}
            print(f"{entry.name:32} {cells:>12,} cells  {took_s:7.2f} s  {seen[:200] or 'same'}", flush=True)
    result = {
        "slices": slices, "engine": options.engine, "load": os.getloadavg()[0], "cores": os.cpu_count(),
        "cells": sum(row["cells"] for row in rows.values()), "entries": rows,
    }  # fmt: skip
    out = Path(__file__).with_name("results") / f"engines-{options.label}.json"
    out.write_text(json.dumps(result, indent=1) + "\n")
    print(f"{slices:,} slices, {result['cells']:,} cells; wrote {out}")
    return int(any(row["different"] for row in rows.values()))


def multisets(wanted: Trace, found: Trace, view: str) -> tuple[str, int]:
    """How the rows of a view differ, whatever their order, and how many cells were compared."""
    with engine.connect() as both:
        both.execute("SET preserve_insertion_order = false")
        for name, trace in (("wanted", wanted), ("found", found)):
            rows = pyarrow.RecordBatchReader.from_stream(trace.stream(f"SELECT * FROM {view}"))
            both.register("rows", rows)
            both.execute(f"CREATE TABLE {name} AS FROM rows")
            both.unregister("rows")
        columns, others = ([one[0] for one in both.execute(f"DESCRIBE {name}").fetchall()]
                           for name in ("wanted", "found"))  # fmt: skip
        if columns != others:
            return f"columns {columns} and {others}", 0
        ((rows_of_it,),) = both.execute("SELECT COUNT(*) FROM wanted").fetchall()
        lacking, more = (
            both.execute(f"SELECT COUNT(*) FROM (FROM {one} EXCEPT ALL FROM {other})").fetchall()[0][0]
            for one, other in (("wanted", "found"), ("found", "wanted"))
        )
    seen = f"{lacking:,} rows lack and {more:,} are too many" if lacking or more else ""
    return seen, rows_of_it * len(columns)


def _engine(options: argparse.Namespace) -> Callable[[], Any]:
    if options.engine == "spark":
        from stepscope.engines.spark import Spark

        return lambda: Spark(remote=options.remote)
    from stepscope.engines.bigquery import BigQuery

    manifests = reader.open_lake(options.lake.absolute()).manifests
    runs = {run: derived.digest(own) for run, own in derived.by_run(manifests).items()}
    return lambda: BigQuery(options.dataset, runs)


if __name__ == "__main__":
    sys.exit(main())
