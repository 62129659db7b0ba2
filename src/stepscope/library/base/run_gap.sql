-- Time between recorded runs
--
-- question: How long after the end of one recorded run of a session did the next one begin?
-- reads: step, source, capture
-- notes: Each run is a recording of its own, and its file says when it began. Only runs whose numbers follow each other
--   count: between others there are runs that were not recorded, and nobody knows where files were numbered by when
--   they began. Where most of a session's runs are on their own, the few that follow each other tell nothing of it.
-- columns:
--   run_id, host_id
--   source_id | int | Source | source of the later run
--   step_id | int | Step row | row of the view step
--   averaged | bool | In averages | false when averages leave the later run out
--   gap_ps | ps | Gap | from the end of the earlier run to the begin of the later one
--   dur_ps | ps | Duration | duration of the later run
WITH runs AS (
  SELECT
    columns!(s, run_id, host_id, source_id),
    s.id AS step_id,
    columns!(s, step, averaged, dur_ps),
    CAST(c.origin_unix_ns - MIN(c.origin_unix_ns) OVER () AS DOUBLE) * 1000.0 + s.ts_ps AS begin_ps
  FROM step AS s
  INNER JOIN source AS f ON f.source_id = s.source_id AND f.of_session
  INNER JOIN capture AS c ON c.source_id = s.source_id AND c.clock = 'unix'
  WHERE s.name <> 'step' AND s.recovered_from = 'file' AND s.step IS NOT NULL AND c.origin_unix_ns IS NOT NULL
),

ordered AS (
  SELECT
    columns!(r, run_id, host_id, source_id, step_id, step, averaged, dur_ps, begin_ps),
    LAG(r.step) OVER (
      PARTITION BY r.run_id, r.host_id ORDER BY nulls_last!(r.begin_ps, r.step_id)
    ) AS before_step,
    LAG(r.begin_ps + r.dur_ps) OVER (
      PARTITION BY r.run_id, r.host_id ORDER BY nulls_last!(r.begin_ps, r.step_id)
    ) AS before_end_ps
  FROM runs AS r
),

following AS (
  SELECT
    columns!(o, run_id, host_id, source_id, step_id, averaged, dur_ps),
    o.begin_ps - o.before_end_ps AS between_ps,
    o.step = o.before_step + 1 AS follows,
    sum_where!(o.step = o.before_step + 1, 1) OVER (PARTITION BY o.run_id, o.host_id) AS follow,
    COUNT(*) OVER (PARTITION BY o.run_id, o.host_id) AS number
  FROM ordered AS o
  WHERE o.before_step IS NOT NULL
)

SELECT
  columns!(f, run_id, host_id, source_id, step_id, averaged),
  whole!(f.between_ps) AS gap_ps,
  f.dur_ps
FROM following AS f
WHERE f.follows AND f.follow * 2 >= f.number AND f.between_ps >= 0 AND f.between_ps < 9.0e18
