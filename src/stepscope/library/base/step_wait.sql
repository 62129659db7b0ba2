-- Time waited in each step
--
-- question: How long did a host wait in each step, and for what?
-- reads: wait_slice, step
-- notes: The union of the waits of one kind over all threads, cut at the edges of the step: two threads
--   that wait at once count once.
-- columns:
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
--   source_id | int | Source | source it was read from
--   step_id | int | Step row | row of the view step
--   wait | text | Wait | what is waited for, as in wait_slice
--   waits | int | Waits | slices that wait
--   waited_ps | ps | Waited | union of their times within the step
WITH cut AS (
  SELECT
    s.run_id,
    s.host_id,
    s.source_id,
    s.id AS step_id,
    w.wait,
    w.slice_id,
    CASE WHEN w.ts_ps < s.ts_ps THEN s.ts_ps ELSE w.ts_ps END AS from_ps,
    CASE WHEN w.end_ps > s.ts_ps + s.dur_ps THEN s.ts_ps + s.dur_ps ELSE w.end_ps END AS to_ps
  FROM step AS s
  INNER JOIN wait_slice AS w
    ON w.source_id = s.source_id AND w.ts_ps < s.ts_ps + s.dur_ps AND w.end_ps > s.ts_ps
  WHERE w.place <> 'device'
),

ordered AS (
  SELECT
    c.run_id,
    c.host_id,
    c.source_id,
    c.step_id,
    c.wait,
    c.from_ps,
    c.to_ps,
    MAX(c.to_ps) OVER (
      PARTITION BY c.step_id, c.wait
      ORDER BY c.from_ps NULLS LAST, c.slice_id NULLS LAST
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS covered_ps
  FROM cut AS c
)

SELECT
  o.run_id,
  o.host_id,
  o.source_id,
  o.step_id,
  o.wait,
  COUNT(*) AS waits,
  CAST(SUM(CASE
    WHEN o.covered_ps IS NULL OR o.covered_ps <= o.from_ps THEN o.to_ps - o.from_ps
    WHEN o.covered_ps >= o.to_ps THEN 0
    ELSE o.to_ps - o.covered_ps
  END) AS BIGINT) AS waited_ps
FROM ordered AS o
GROUP BY o.run_id, o.host_id, o.source_id, o.step_id, o.wait
