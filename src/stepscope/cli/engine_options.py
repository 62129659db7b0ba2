"""The options that choose an engine: --engine, and what each engine asks for."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope import units
from stepscope.cli.arguments import size
from stepscope.errors import UsageError

if TYPE_CHECKING:
    from stepscope.cli.arguments import Parser
    from stepscope.cli.console import Console
    from stepscope.engines import Engine

ENGINES = ("duckdb", "spark", "bigquery")
_OPTIONS = {"remote": "spark", "dataset": "bigquery", "max_bytes": "bigquery"}
"""Options that only one engine knows."""


def add_engine(parser: Parser) -> None:
    """What answers, for a lake."""
    group = parser.add_argument_group("engines, for a lake")
    group.add_argument(
        "--engine", choices=ENGINES, default=ENGINES[0], help="what runs queries (default: duckdb)"
    )
    group.add_argument(
        "--remote",
        metavar="ADDRESS",
        help="spark: sc://HOST:PORT of a Spark Connect server, or local; by default SPARK_REMOTE",
    )
    group.add_argument(
        "--dataset", metavar="PROJECT.DATASET", help="bigquery: the dataset that the lake was exported to"
    )
    group.add_argument(
        "--max-bytes",
        metavar="N",
        type=size,
        help="bigquery: refuse a query that reads more, such as 500MB or 2GiB",
    )


def engine_of(options: argparse.Namespace, console: Console) -> Callable[[], Engine] | None:
    """Makes the engine that the options name; None for DuckDB. UsageError for options of another engine, for
    paths that are not a lake, and for an engine whose packages are missing."""
    name: str = getattr(options, "engine", ENGINES[0])
    for option, of in _OPTIONS.items():
        if name != of and getattr(options, option, None) is not None:
            raise UsageError(
                "Only one engine knows this option",
                seen=f"--{option.replace('_', '-')} with --engine {name}",
                todo=f"add --engine {of}, or leave the option out",
            )
    if name == ENGINES[0]:
        return None
    lake = the_lake(options, f"The engine {name}")
    if name == "spark":
        from stepscope.engines.spark import Spark

        return lambda: Spark(remote=options.remote)
    if options.dataset is None:
        raise UsageError(
            "Nothing says which dataset has the lake",
            seen="--engine bigquery without --dataset",
            todo="add --dataset; `stepscope export LAKE -o bigquery://PROJECT.DATASET` fills one",
        )
    from stepscope.engines.bigquery import BigQuery
    from stepscope.lake import derived_tables, reader

    by_run = derived_tables.group_by_run(reader.open_lake(lake).manifests)
    wanted = by_run.keys() if options.run is None else set(options.run)
    runs = {
        run_id: derived_tables.digest(manifests) for run_id, manifests in by_run.items() if run_id in wanted
    }
    return lambda: BigQuery(
        options.dataset, runs, max_bytes=options.max_bytes, cost=lambda read: _tell(read, console)
    )


def the_lake(options: argparse.Namespace, who: str) -> Path:
    """The folder of the lake that the options name. UsageError when they name anything else, or a lake in an
    object store."""
    from stepscope.sources.stores import is_store
    from stepscope.sources.user_paths import is_lake, local_lake

    given = [options.lake] if options.lake is not None else options.paths
    for path in given:
        if is_store(path):
            raise UsageError(
                f"{who} needs a lake in a folder.",
                seen=f"{path} is in an object store",
                todo="copy the lake, with the store's own tool, to a folder (for Spark, on a shared disk)",
                slug="engine-needs-a-lake",
            )
    if options.lake is None and not (len(given) == 1 and is_lake(Path(given[0]))):
        raise UsageError(
            f"{who} needs a lake",
            seen=" ".join(given),
            todo="ingest the recordings first: stepscope ingest PATH --lake DIR",
            slug="engine-needs-a-lake",
        )
    return local_lake(given[0]).absolute()


def _tell(read: int, console: Console) -> None:
    """Says what a query costs before it runs."""
    console.say(f"BigQuery reads {units.show(read, 'bytes')} for this query, by a dry run")
