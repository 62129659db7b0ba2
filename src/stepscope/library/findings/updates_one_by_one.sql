-- The optimizer updates parameters one by one
--
-- question: Do optimizers of PyTorch run ops of their own for each parameter, on a processor?
-- reads: slice, rollup_op, track_place, step_window
-- severity: medium from a quarter of the window, low from a tenth
-- impact: {optimizer}.step() runs {ops} {ops:op|ops} in a call of {mean_ps}: {share} of the window. They update one
--   parameter after the other.
-- action: Give {optimizer} fused=True, if the installed PyTorch has that for processors, or foreach=True: then a few ops
--   update all parameters.
-- notes: Only of recordings without a device. On a device, PyTorch updates parameters together by default.
-- weakened_by: lost, capped, truncated
-- reasoning: Each op costs some microseconds of the framework, however small its parameter is. With many small
--   parameters the update takes longer than the arithmetic in it.
-- formula: ops = ops of PyTorch that are in no other, within the calls of Optimizer.step / calls, at least 100, where
--   none of them is a foreach, fused or compiled one; impact = the calls within the window; share = impact / window. Reported from 0.1.
-- columns:
--   impact_ps | ps | In updates | time of these calls within the window
--   run_id, host_id
--   optimizer | text | Optimizer | class of the optimizer
--   ops | int | Ops | ops in a call
--   mean_ps | ps | Call | mean duration of a call
--   share | ratio | Share of window | those calls as part of the window
WITH updating AS (
  SELECT
    columns!(r, id, run_id, host_id, source_id),
    REPLACE(REPLACE(r.name, 'Optimizer.step#', ''), '.step', '') AS class_name
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE r.name LIKE 'Optimizer.step#%' AND p.place = 'host'
),

devices AS (
  SELECT p.source_id AS of_source, COUNT(*) AS number
  FROM track_place AS p
  WHERE p.place = 'device'
  GROUP BY p.source_id
),

calls AS (
  SELECT
    columns!(u, run_id, host_id, source_id, class_name),
    s.id AS call_id,
    columns!(s, track_id, ts_ps, dur_ps)
  FROM slice AS s
  INNER JOIN updating AS u ON u.id = s.rollup_id
  LEFT JOIN devices AS d ON d.of_source = u.source_id
  WHERE d.number IS NULL
),

tracks AS (
  SELECT c.track_id AS on_track
  FROM calls AS c
  GROUP BY c.track_id
),

moments AS (
  SELECT
    columns!(s, track_id, ts_ps, category),
    CASE
      WHEN s.name LIKE '%foreach%' OR s.name LIKE '%fused%' OR s.name LIKE '%ompiled%' THEN 1
      ELSE 0
    END AS together,
    until!(c.call_id IS NOT NULL, s) AS until_ps
  FROM slice AS s
  INNER JOIN tracks AS t ON t.on_track = s.track_id
  LEFT JOIN calls AS c ON c.call_id = s.id
  LEFT JOIN slice AS a ON a.id = s.parent_id
  WHERE c.call_id IS NOT NULL OR (s.category = 'cpu_op' AND (a.category IS NULL OR a.category <> 'cpu_op'))
),

-- Calls of a track do not overlap: each ends at a time of its own.
counted AS (
  SELECT m.track_id AS of_track, m.until_ps, COUNT(*) AS within, MAX(m.together) AS any_together
  FROM moments AS m
  WHERE m.category = 'cpu_op' AND m.ts_ps < m.until_ps
  GROUP BY m.track_id, m.until_ps
),

cut AS (
  SELECT
    columns!(c, run_id, host_id, class_name, track_id, dur_ps),
    c.ts_ps + c.dur_ps AS end_ps,
    greatest!(c.ts_ps, w.open_ps) AS from_ps,
    least!(c.ts_ps + c.dur_ps, w.close_ps) AS to_ps
  FROM calls AS c
  INNER JOIN step_window AS w ON w.source_id = c.source_id
),

sums AS (
  SELECT
    columns!(c, run_id, host_id, class_name),
    COUNT(*) AS number,
    SUM(n.within) AS all_within,
    SUM(c.dur_ps) AS called_ps,
    sum_where!(c.to_ps > c.from_ps, c.to_ps - c.from_ps) AS updating_ps,
    MAX(n.any_together) AS ever_together
  FROM cut AS c
  INNER JOIN counted AS n ON n.of_track = c.track_id AND n.until_ps = c.end_ps
  GROUP BY columns!(c, run_id, host_id, class_name)
),

windows AS (
  SELECT w.run_id AS of_run, w.host_id AS of_host, SUM(w.window_ps) AS all_ps
  FROM step_window AS w
  GROUP BY w.run_id, w.host_id
)

SELECT
  CASE WHEN s.updating_ps * 4 >= w.all_ps THEN 'medium' ELSE 'low' END AS severity,
  CAST(s.updating_ps AS BIGINT) AS impact_ps,
  columns!(s, run_id, host_id),
  s.class_name AS optimizer,
  mean!(s.all_within, s.number) AS ops,
  mean!(s.called_ps, s.number) AS mean_ps,
  share!(s.updating_ps, w.all_ps) AS share
FROM sums AS s
INNER JOIN windows AS w ON w.of_run = s.run_id AND w.of_host = s.host_id
WHERE s.ever_together = 0 AND s.all_within >= s.number * 100 AND s.updating_ps * 10 >= w.all_ps
ORDER BY nulls_last!(s.updating_ps DESC, s.run_id, s.host_id, s.class_name)
