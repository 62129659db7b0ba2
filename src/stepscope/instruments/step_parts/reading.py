"""From the tables of a trace to rows of `step_part` and `stack_part`.

A source is read in bits of time: what decides an instant is all at that instant, so bits need not know of
each other, and a recording of any length takes the memory of one bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from stepscope.instruments.step_parts import driver, stacks
from stepscope.instruments.step_parts.by_stack import ByStack
from stepscope.instruments.step_parts.labels import EXECUTION, LABELS, READS, STORES, Label
from stepscope.instruments.step_parts.stacks import Look
from stepscope.instruments.step_parts.sweep import Evidence, Interval, sweep
from stepscope.instruments.step_parts.totals import Totals
from stepscope.lake.numbers import first_id


class Answer(Protocol):
    """What a query gives."""

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows."""


Query = Callable[[str], Answer]

MOST_AT_ONCE = 200_000
"""Slices that are looked at together, if their times can be told apart."""
_BITS = 4096


class Step(NamedTuple):
    """A row of the view step."""

    id: int
    ts_ps: int
    end_ps: int


class Source(NamedTuple):
    """A source with steps."""

    source_id: int
    run_id: str
    host_id: str
    steps: list[Step]


class Found(NamedTuple):
    """Rows of both tables."""

    step_part: list[dict[str, Any]]
    stack_part: list[dict[str, Any]]


def rows(query: Query) -> Found:
    """Rows of the tables step_part and stack_part, source by source."""
    found = Found([], [])
    for source in _sources(query):
        own = _rows_of(query, source)
        for kept, more in zip(found, own, strict=True):
            kept += more
    return found


def _sources(query: Query) -> list[Source]:
    found: dict[int, Source] = {}
    for source_id, run_id, host_id, step_id, ts_ps, dur_ps in query(
        "SELECT source_id, run_id, host_id, id, ts_ps, dur_ps FROM step WHERE dur_ps > 0 "
        "ORDER BY source_id, ts_ps, dur_ps DESC, id"
    ).rows():
        source = found.setdefault(source_id, Source(source_id, run_id, host_id, []))
        source.steps.append(Step(step_id, ts_ps, ts_ps + dur_ps))
    return list(found.values())


def _rows_of(query: Query, source: Source) -> Found:
    spans = [(step.ts_ps, step.end_ps) for step in source.steps]
    totals, by_stack = Totals(spans), ByStack(spans)
    for window, evidence, looks in _evidence(query, source):
        within = [clipped for span in spans if (clipped := _clipped(span, window))]
        totals.add(by_stack.seen(sweep(within, evidence), looks))
    sums = zip(source.steps, totals.of_steps(), strict=True)
    parts = [
        {"step_id": step.id, "label": label, "dur_ps": dur_ps, "hidden_ps": hidden_ps}
        for step, own in sums
        for label, dur_ps, hidden_ps in zip(LABELS, own, own[len(LABELS) :], strict=False)
        if dur_ps or hidden_ps
    ]
    stacks = [
        {"step_id": source.steps[number].id, "stack_id": stack_id, "label": label, "dur_ps": dur_ps}
        for (number, stack_id, label), dur_ps in by_stack.sums()
    ]
    return Found(_numbered(source, parts), _numbered(source, stacks))


def _numbered(source: Source, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    first = first_id(source.source_id)
    own = {"run_id": source.run_id, "host_id": source.host_id, "source_id": source.source_id}
    return [{"id": first + number, **own, **row} for number, row in enumerate(rows)]


def _clipped(span: Interval, window: Interval) -> Interval | None:
    begin, end = max(span[0], window[0]), min(span[1], window[1])
    return (begin, end) if begin < end else None


def _evidence(query: Query, source: Source) -> Iterator[tuple[Interval, Evidence, Sequence[Look]]]:
    """What is known of each bit of the source's steps, and the samples in it, bit after bit."""
    whole = min(step.ts_ps for step in source.steps), max(step.end_ps for step in source.steps)
    places = {
        row[0]
        for row in query(
            "SELECT DISTINCT p.place FROM rollup_op AS r INNER JOIN track_place AS p ON p.track_id = "
            "r.track_id "
            f"WHERE r.source_id = {source.source_id} AND r.is_op AND r.class <> 'wait'"
        ).rows()
    }
    accelerator = "device" in places
    waits = {
        row[0]
        for row in query(
            "SELECT DISTINCT r.wait FROM rollup_op AS r "
            f"WHERE r.source_id = {source.source_id} AND r.wait IN ('input', 'receive', 'peers')"
        ).rows()
    }
    programs = bool(
        query(
            f"SELECT r.id FROM rollup_op AS r WHERE r.source_id = {source.source_id} AND r.name IN ({_RUNS}) "
            "LIMIT 1"
        ).rows()
    )
    track = driver.choose(query(_CANDIDATES.format(source_id=source.source_id, calls=driver.CALLS)).rows())
    looks = stacks.of_host(query, source.source_id, source.run_id, source.host_id, whole)
    samples = stacks.segments(looks)
    for window in _windows(query, source.source_id, whole):
        found: dict[str, list[Interval]] = {}
        if accelerator or "host" in places:
            for layer, begin, end in query(
                _executing(source.source_id, "device" if accelerator else "host", window)
            ).rows():
                found.setdefault(layer, []).append((begin, end))
        if programs and not accelerator:
            for layer, begin, end in query(_running(source.source_id, window)).rows():
                found.setdefault(layer, []).append((begin, end))
            found = {layer: united(intervals) for layer, intervals in found.items()}
        for layer, begin, end in query(_waiting(source.source_id, window)).rows() if waits else ():
            found.setdefault(layer, []).append((begin, end))
        executing: dict[Label, list[Interval]] = {
            label: found[label] for label in EXECUTION if label in found
        }
        # With what is near on both sides, so that a gap between two calls is seen whole.
        near = window[0] - driver.SHORT_PS, window[1] + driver.SHORT_PS
        rows = () if track is None else query(_driving(track, near)).rows()
        does = driver.joined(driver.segments(rows))
        seen = [one for one in samples if one.from_ps < window[1] and one.to_ps > window[0]]
        yield (
            window,
            Evidence(
                executing,
                found.get("input work", ()),
                found.get("input waits", ()),
                found.get("peer waits", ()),
                does,
                driver.launching(seen, does),
                accelerator,
            ),
            [one for one in looks if one.from_ps < window[1] and one.to_ps > window[0]],
        )


def _windows(query: Query, source_id: int, whole: Interval) -> Iterator[Interval]:
    """Bits of the time, in order and without gaps, each with few slices."""
    begin, end = whole
    (number,) = query(f"SELECT sum(slices) FROM rollup_op WHERE source_id = {source_id}").rows()[0]
    if (number or 0) <= MOST_AT_ONCE:
        yield whole
        return
    width = max((end - begin) // _BITS, 1)
    there, at = 0, begin
    for part, many in query(
        f"SELECT (ts_ps - {begin}) // {width} AS part, count(*) AS many FROM slice "
        f"WHERE source_id = {source_id} AND ts_ps > {begin} AND ts_ps < {end} GROUP BY part ORDER BY part"
    ).rows():
        cut = begin + part * width
        if there and there + many > MOST_AT_ONCE and cut > at:
            yield at, cut
            there, at = 0, cut
        there += many
    yield at, end


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


_CANDIDATES = """
SELECT t.id, t.name, COALESCE(m.steps, 0), COALESCE(c.calls, 0)
FROM track AS t
INNER JOIN track_place AS p ON p.track_id = t.id AND p.place IN ('host', 'launch')
LEFT JOIN (
  SELECT r.track_id, SUM(r.slices) AS calls FROM rollup_op AS r WHERE r.source_id = {source_id} AND {calls}
  GROUP BY r.track_id
) AS c ON c.track_id = t.id
LEFT JOIN (
  SELECT s.track_id, COUNT(DISTINCT o.id) AS steps
  FROM slice AS s INNER JOIN step AS o ON o.source_id = s.source_id AND o.ts_ps = s.ts_ps AND o.name = s.name
  WHERE s.source_id = {source_id} GROUP BY s.track_id
) AS m ON m.track_id = t.id
WHERE t.source_id = {source_id} AND t.name NOT LIKE 'tf_%' AND (c.calls > 0 OR m.steps > 0)
"""
"""Threads that may drive the steps: the framework's own are called tf_something."""

_JOINED = """,
cut AS (
  SELECT
    f.layer,
    CASE WHEN f.ts_ps < {begin} THEN {begin} ELSE f.ts_ps END AS from_ps,
    CASE WHEN f.end_ps > {end} THEN {end} ELSE f.end_ps END AS to_ps
  FROM found AS f
  WHERE f.layer IS NOT NULL AND f.end_ps > f.ts_ps
),
ordered AS (
  SELECT c.layer, c.from_ps, c.to_ps, MAX(c.to_ps) OVER (
    PARTITION BY c.layer ORDER BY c.from_ps, c.to_ps ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ) AS covered_ps
  FROM cut AS c
),
islands AS (
  SELECT o.layer, o.from_ps, o.to_ps, SUM(CASE WHEN o.covered_ps IS NULL OR o.from_ps > o.covered_ps THEN 1
  ELSE 0 END)
    OVER (PARTITION BY o.layer ORDER BY o.from_ps, o.to_ps ROWS UNBOUNDED PRECEDING) AS island
  FROM ordered AS o
)
SELECT i.layer, MIN(i.from_ps) AS begin_ps, MAX(i.to_ps) AS stop_ps
FROM islands AS i GROUP BY i.layer, i.island ORDER BY i.layer, begin_ps
"""
"""The union of what was found, layer by layer."""

_EXECUTING = """
WITH functions AS (
  SELECT DISTINCT regexp_extract(s.args_json, '"id": ?"?(-?[0-9]+)', 1) AS id
  FROM slice AS s
  WHERE s.source_id = {source_id} AND s.name LIKE 'InstantiatedCapturedFunction::%' AND s.args_json IS NOT
  NULL
),
runs AS (
  SELECT s.id
  FROM slice AS s
  INNER JOIN functions AS f ON f.id = regexp_extract(s.args_json, '"id": ?"?(-?[0-9]+)', 1)
  WHERE s.source_id = {source_id} AND s.name LIKE 'ExecutorState::%' AND s.ts_ps < {end} AND s.ts_ps +
  s.dur_ps > {begin}
),
found AS (
  SELECT
    CASE
      WHEN p.place = 'host' AND (
        t.name LIKE 'tf_data%' OR l.type_or_name IN ({reads}) OR r.id IS NOT NULL
      ) THEN 'input work'
      WHEN l.type_or_name IN ({stores}) THEN 'wait'
      WHEN l.class = 'collective' THEN 'communication'
      WHEN l.class IN ('compute', 'copy', 'compile', 'python') THEN l.class
    END AS layer,
    l.ts_ps,
    l.end_ps
  FROM _labelled_slice AS l
  INNER JOIN track AS t ON t.id = l.track_id
  INNER JOIN track_place AS p ON p.track_id = l.track_id
  INNER JOIN slice AS s ON s.id = l.slice_id
  LEFT JOIN runs AS r ON r.id = s.parent_id
  WHERE l.source_id = {source_id} AND p.place = '{place}' AND l.class <> 'wait'
    AND l.ts_ps < {end} AND l.end_ps > {begin}
)"""


def _executing(source_id: int, place: str, window: Interval) -> str:
    begin, end = window
    told = {"source_id": source_id, "place": place, "begin": begin, "end": end}
    return _EXECUTING.format(**told, reads=_listed(READS), stores=_listed(STORES)) + _JOINED.format(
        begin=begin, end=end
    )


_RUNS = "'ThunkExecutor::Execute', 'ThunkExecutor::Execute (wait for completion)'"
"""Slices that last as long as XLA's program for processors runs. Its bigger ops run in pieces on threads of a
pool, most of which have no slice."""
_RUN_ID = """regexp_extract({slice}.args_json, '"run_id": ?"?(-?[0-9]+)', 1)"""


def _running(source_id: int, window: Interval) -> str:
    """When programs of XLA run on processors: a program that only copies counts as copying."""
    begin, end = window
    run_of = _RUN_ID.format(slice="s")
    return f"""
WITH runs AS (
  SELECT {run_of} AS run, MIN(CASE WHEN l.class = 'copy' THEN 1 ELSE 0 END) AS copies
  FROM _labelled_slice AS l INNER JOIN slice AS s ON s.id = l.slice_id
  WHERE l.source_id = {source_id} AND l.ts_ps < {end} AND l.end_ps > {begin}
  GROUP BY run
),
found AS (
  SELECT CASE WHEN r.copies = 1 THEN 'copy' ELSE 'compute' END AS layer, s.ts_ps, s.ts_ps + s.dur_ps AS end_ps
  FROM slice AS s LEFT JOIN runs AS r ON r.run = {run_of}
  WHERE s.source_id = {source_id} AND s.name IN ({_RUNS}) AND s.ts_ps < {end} AND s.ts_ps + s.dur_ps > {begin}
)""" + _JOINED.format(begin=begin, end=end)


def united(intervals: Sequence[Interval]) -> list[Interval]:
    """The same time in disjoint intervals, in order."""
    found: list[Interval] = []
    for begin, end in sorted(intervals):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


def _waiting(source_id: int, window: Interval) -> str:
    begin, end = window
    return f"""
WITH found AS (
  SELECT
    CASE
      WHEN w.wait = 'input' THEN 'input waits'
      WHEN w.wait = 'peers' OR w.name LIKE 'RecvTensor%' OR w.name LIKE 'recv-done%' THEN 'peer waits'
    END AS layer,
    w.ts_ps,
    w.end_ps
  FROM wait_slice AS w
  WHERE w.source_id = {source_id} AND w.wait IN ('input', 'receive', 'peers') AND w.place <> 'device'
    AND w.ts_ps < {end} AND w.end_ps > {begin}
)""" + _JOINED.format(begin=begin, end=end)


def _driving(track: int, window: Interval) -> str:
    begin, end = window
    return f"""
SELECT
  s.ts_ps, s.ts_ps + s.dur_ps, s.name, s.category, s.op_name IS NOT NULL OR s.op_type IS NOT NULL,
  COALESCE(
    s.args_json LIKE '%"tf_function_call":"traced%' OR s.args_json LIKE '%"tf_function_call": "traced%', false
  )
FROM slice AS s
WHERE s.track_id = {track} AND s.dur_ps > 0 AND s.ts_ps < {end} AND s.ts_ps + s.dur_ps > {begin}
ORDER BY s.ts_ps, s.dur_ps DESC, s.id
"""
