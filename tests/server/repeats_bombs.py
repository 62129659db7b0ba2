"""SQL that would take all memory or time ends in time, and the console answers the next question."""

import asyncio
import contextlib
import resource
import time
from pathlib import Path

import pytest

from stepscope.errors import LimitReached, StepscopeError
from stepscope.server.console import JsonRows, Settings, StatementProcesses
from tests.corpus import SAMPLES

SECONDS = 1.0
MEMORY = 400 << 20
HANG_SECONDS = 120.0
"""No statement takes that long, however busy the machine is; on an idle one all end within 2.2 s."""

SLUGS = {"limit-reached", "query-stopped", "query", "usage"}
TABLE = "range(100000000)"
BOMBS = (
    "SELECT repeat('x', 3000000000) AS a",
    "SELECT length(repeat('x', 1000000000)) AS a",
    "SELECT length(repeat(repeat('x', 100000), 100000)) AS a",
    "SELECT levenshtein(repeat('a', 200000), repeat('b', 200000)) AS a",
    "SELECT damerau_levenshtein(repeat('a', 100000), repeat('b', 100000)) AS a",
    "SELECT jaro_similarity(repeat('ab', 300000), repeat('ba', 300000)) AS a",
    "SELECT length(bitstring('1', 2000000000)) AS a",
    "SELECT length(lpad('x', 2000000000, 'y')) AS a",
    "SELECT length(rpad('x', 2000000000, 'y')) AS a",
    f"SELECT count(*) AS n FROM {TABLE} AS a, {TABLE} AS b",
    f"SELECT sum(a.range * b.range) AS n FROM {TABLE} AS a, {TABLE} AS b, {TABLE} AS c",
    "SELECT count(*) AS n FROM slice AS a, slice AS b, slice AS c, slice AS d",
    "SELECT * FROM slice AS a, slice AS b ORDER BY a.name || b.name, a.id, b.id",
    f"SELECT array_agg(range) AS a FROM {TABLE}",
    f"SELECT list(range ORDER BY hash(range)) AS a FROM {TABLE}",
    f"SELECT string_agg(range::VARCHAR, ',') AS a FROM {TABLE}",
    f"SELECT DISTINCT md5(range::VARCHAR) AS a FROM {TABLE}",
    f"SELECT md5(range::VARCHAR) AS a, count(*) AS n FROM {TABLE} GROUP BY a ORDER BY n",
    f"SELECT * FROM {TABLE} ORDER BY hash(range)",
    f"SELECT median(hash(range)) AS a FROM {TABLE}",
    f"SELECT histogram(range) AS a FROM {TABLE}",
    f"SELECT map_from_entries(list((range, range))) AS a FROM {TABLE}",
    f"SELECT row_number() OVER (ORDER BY hash(range)) AS a FROM {TABLE}",
    f"SELECT sum(range) OVER (ORDER BY range ROWS 1000000 PRECEDING) AS a FROM {TABLE}",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) AS n FROM t",
    "WITH RECURSIVE t(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM t) SELECT max(length(s)) AS n FROM t",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t, range(1000)) SELECT count(*) FROM t",
    "SELECT list_sort(list_transform(range(100000000), lambda x: hash(x))) AS a",
    "SELECT list_reduce(range(50000000), lambda x, y: x + y) AS a",
    "SELECT unnest(range(1000000000)) AS a ORDER BY hash(a)",
    "SELECT generate_series(1, 10000000000) AS a",
    "SELECT len(flatten([range(10000000) FOR x IN range(1000)])) AS a",
    "SELECT regexp_replace(repeat('a', 50000000), 'a', 'bbbbbbbbbbbbbbbbbbbb', 'g') AS a",
    "SELECT regexp_extract_all(repeat('a', 100000000), 'a') AS a",
    "SELECT string_split(repeat('a,', 100000000), ',') AS a",
    "SELECT sleep_ms(60000) AS a",
    "SELECT sum(sleep_ms(1000)) AS a FROM range(60)",
    "SELECT " + "(" * 5000 + "1" + ")" * 5000 + " AS a",
    "SELECT " + " + ".join(["1"] * 50000) + " AS a",
    "SELECT * FROM (VALUES " + ", ".join(["(1)"] * 100000) + ") AS t CROSS JOIN range(1000000)",
    "SELECT 2::HUGEINT ** 10000000 AS a, factorial(100000) AS b",
    f"SELECT json_group_array(range) AS a FROM {TABLE}",
)


def memory_of(pid: int) -> int:
    """The most physical memory that a process has had that no file stands behind, in bytes."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0  # it ended
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("RssAnon:")), 0)


async def answered(console: StatementProcesses) -> JsonRows:
    """What it says to a small question, for which a busy machine may need more than a second, and again."""
    while True:
        with contextlib.suppress(LimitReached):
            return await console.run("SELECT 1 AS a")


def children_s() -> float:
    """Processor time of the processes that were started from here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_there_are_enough() -> None:
    assert len(set(BOMBS)) >= 40


def test_bombs_end_in_time() -> None:
    async def run() -> list[tuple[str, float, int]]:
        settings = Settings(
            (str(SAMPLES / "chrome" / "kineto_cuda.json"),), seconds=SECONDS, memory_bytes=MEMORY, processes=3
        )
        console = StatementProcesses(settings)
        most: dict[int, int] = {}
        over = False

        async def watch() -> None:
            while not over:
                for one in list(console._every):
                    if one._process is not None:
                        pid = one._process.pid
                        most[pid] = max(most.get(pid, 0), memory_of(pid))
                await asyncio.sleep(0.02)

        async def throw(sql: str) -> tuple[str, float]:
            async with gate:
                if not console._idle and len(console._every) < settings.processes:
                    await answered(console)  # a fresh process is not the bomb's time
                begun = time.monotonic()
                try:
                    found = await console.run(sql)
                    outcome = f"{found.header['rows']} rows, cut: {found.header['cut']}"
                    assert len(found.body) <= settings.most_bytes + 2
                except StepscopeError as error:
                    outcome = error.slug
                return outcome, time.monotonic() - begun

        gate = asyncio.Semaphore(settings.processes)
        watching = asyncio.create_task(watch())
        try:
            ends = await asyncio.gather(*map(throw, BOMBS))
            begun = time.monotonic()
            assert (await answered(console)).body == b"[[1]]"
            again = time.monotonic() - begun
        finally:
            over = True
            await watching
            await console.close()
        assert again < HANG_SECONDS
        largest = max(most.values())
        print(f"largest process {largest >> 20} MiB; usable again after {again:.2f} s")
        assert largest < (MEMORY + (200 << 20)) * 1.1  # what a fresh process has comes on top
        return [(sql, seconds, outcome) for sql, (outcome, seconds) in zip(BOMBS, ends, strict=True)]

    begun_s = children_s()
    ends = asyncio.run(run())
    used_s = children_s() - begun_s
    late = [(sql[:60], seconds) for sql, seconds, _ in ends if seconds > HANG_SECONDS]
    print("\n".join(f"{seconds:6.2f} s  {outcome:24} {sql[:60]}" for sql, seconds, outcome in ends))
    assert late == []
    # Two threads until it is told to stop, two until it is killed, and what a fresh process takes to open.
    assert used_s < len(BOMBS) * ((SECONDS + Settings.grace_seconds) * Settings.threads + 5)
    assert {outcome for *_, outcome in ends if "rows" not in outcome} <= SLUGS
    stopped = [outcome for *_, outcome in ends if outcome in ("limit-reached", "query-stopped")]
    assert len(stopped) >= 30


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_download_is_whole_or_refused(form: str) -> None:
    async def run() -> None:
        settings = Settings(
            (str(SAMPLES / "chrome" / "phases.json"),), most_download_bytes=10_000, seconds=200, processes=1
        )
        console = StatementProcesses(settings)
        try:
            small = await console.run("SELECT range AS a FROM range(100)", form)
            assert small.body.count(b"\n") >= 100
            with pytest.raises(StepscopeError, match="too large for a download"):
                await console.run("SELECT range AS a FROM range(100000)", form)
            assert (await console.run("SELECT 1 AS a")).body == b"[[1]]"
        finally:
            await console.close()

    asyncio.run(run())
