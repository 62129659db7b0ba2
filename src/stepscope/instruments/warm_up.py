"""Tells warm-up steps apart where each step is a recording of its own.

A source is judged by itself when it is decoded (see `steps`), and a source of one step has nothing to be
compared with: step 0 of a folder of run_meta_N.pb is a first step only beside the others. So these are judged
when `step` is read, over whatever sources are read together. A lake that grows is judged as one made at once.
"""

from __future__ import annotations

from stepscope.instruments.steps import WARM_UP_OTHERS

FACTOR = 2
"""The first step is warm-up when it takes more than this many times the median of the others. Twice is what
the finding slow-step calls slow, and the first step needs no other explanation."""


def judged(stored: str) -> str:
    """A SELECT of the rows of `stored`, a SELECT of the table step, with `kind`, `averaged` and `reason` of
    the first step of each run, host and kind set where it is warm-up.

    Only sources of one step are compared. The first is the one of the least number. It is warm-up when it
    takes more than FACTOR times the median of the others, of which there must be at least WARM_UP_OTHERS.
    """
    return f"""
WITH stored AS ({stored}),

counted AS (
  SELECT s.*, COUNT(*) OVER (PARTITION BY s.source_id) AS of_source
  FROM stored AS s
),

alone AS (
  SELECT
    c.id, c.run_id, c.host_id, c.kind, c.dur_ps,
    ROW_NUMBER() OVER (
      PARTITION BY c.run_id, c.host_id, c.kind ORDER BY c.step NULLS LAST, c.dur_ps DESC, c.id
    ) AS place
  FROM counted AS c
  WHERE c.of_source = 1 AND c.averaged AND c.step IS NOT NULL AND c.recovered_from <> 'whole_capture'
),

others AS (
  SELECT
    a.run_id, a.host_id, a.kind, a.dur_ps,
    ROW_NUMBER() OVER (PARTITION BY a.run_id, a.host_id, a.kind ORDER BY a.dur_ps, a.id) AS rank_of_length,
    COUNT(*) OVER (PARTITION BY a.run_id, a.host_id, a.kind) AS number
  FROM alone AS a
  WHERE a.place > 1
),

typical AS (
  SELECT o.run_id, o.host_id, o.kind, MIN(o.dur_ps) AS median_ps
  FROM others AS o
  WHERE o.rank_of_length * 2 >= o.number AND o.number >= {WARM_UP_OTHERS}
  GROUP BY o.run_id, o.host_id, o.kind
),

first_steps AS (
  SELECT a.id, CAST(a.dur_ps AS DOUBLE) / GREATEST(t.median_ps, 1) AS times
  FROM alone AS a
  INNER JOIN typical AS t ON t.run_id = a.run_id AND t.host_id = a.host_id AND t.kind = a.kind
  WHERE a.place = 1 AND a.dur_ps > {FACTOR} * t.median_ps
)

SELECT s.* REPLACE (
  CASE WHEN f.id IS NULL THEN s.kind ELSE 'warm_up' END AS kind,
  s.averaged AND f.id IS NULL AS averaged,
  CASE
    WHEN f.id IS NULL THEN s.reason
    ELSE 'the first step, ' || CAST(CAST(f.times AS DECIMAL(18, 1)) AS VARCHAR)
      || ' times as long as the median of the others'
  END AS reason
)
FROM stored AS s
LEFT JOIN first_steps AS f ON f.id = s.id
"""
