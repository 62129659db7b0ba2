-- Some steps take far longer than the others
--
-- question: Are there steps of a host that take more than twice the median?
-- reads: step
-- severity: medium when the time above the median is a fifth of the time of all steps, low from a twentieth
-- impact: {slow_steps} of {steps} {steps:step|steps} on {host_id} {slow_steps:takes|take} more than twice
--   the median of {median_ps}; the longest, step {longest_step}, takes {longest_ps}. The time above the
--   median is {impact_ps} in all.
-- action: Compare the step with an ordinary one: `op_time_over_steps` shows which ops differ, `idle_gaps`
--   and `step_list` show whether it waits. The usual causes are checkpoints, evaluation, garbage
--   collection, a shuffle buffer that fills, waiting for work that earlier steps only queued and, in the
--   first step of a program, warm-up.
-- weakened_by: lost, capped, truncated
-- reasoning: A mean hides that most steps are quick and few are very slow, and their causes differ:
--   checkpoints, evaluation, garbage collection, a buffer that fills. The median represents the ordinary
--   step; the time of slow steps above it is what could be saved, but for work of others that they wait for.
-- formula: slow = steps longer than 2 x the median of their kind (at least four steps); impact = sum over
--   slow steps of (duration - median); reported when impact >= 0.05 x the sum of all steps of
--   the host, medium from 0.2.
-- columns:
--   impact_ps | ps | Above the median | time of the slow steps above the median
--   run_id, host_id
--   kind | text | Kind | kind of the steps
--   slow_steps | int | Slow | steps over twice the median
--   steps | int | Steps | steps of that kind
--   median_ps | ps | Median | duration that half of the steps do not exceed
--   longest_ps | ps | Longest | duration of the longest
--   longest_step | int | Longest step | its number
WITH ranked AS (
  SELECT
    columns!(s, run_id, host_id, kind, step, dur_ps),
    ROW_NUMBER() OVER (
      PARTITION BY s.run_id, s.host_id, s.kind ORDER BY nulls_last!(s.dur_ps, s.id)
    ) AS place,
    COUNT(*) OVER (PARTITION BY s.run_id, s.host_id, s.kind) AS total
  FROM step AS s
  WHERE s.averaged
),

medians AS (
  SELECT r.run_id, r.host_id, r.kind, median!(r.dur_ps, r.place, r.total) AS half_ps
  FROM ranked AS r
  GROUP BY r.run_id, r.host_id, r.kind
),

kinds AS (
  SELECT
    columns!(r, run_id, host_id, kind),
    m.half_ps,
    COUNT(*) AS number,
    SUM(r.dur_ps) AS sum_ps,
    sum_where!(r.dur_ps > 2 * m.half_ps, 1) AS slow,
    sum_where!(r.dur_ps > 2 * m.half_ps, r.dur_ps - m.half_ps) AS above_ps,
    MAX(r.dur_ps) AS most_ps,
    MAX(CASE WHEN r.place = r.total THEN r.step END) AS most_step
  FROM ranked AS r
  INNER JOIN medians AS m ON m.run_id = r.run_id AND m.host_id = r.host_id AND m.kind = r.kind
  GROUP BY r.run_id, r.host_id, r.kind, m.half_ps
),

hosts AS (
  SELECT k.run_id, k.host_id, SUM(k.sum_ps) AS whole_ps
  FROM kinds AS k
  GROUP BY k.run_id, k.host_id
)

SELECT
  CASE WHEN k.above_ps * 5 >= h.whole_ps THEN 'medium' ELSE 'low' END AS severity,
  CAST(k.above_ps AS BIGINT) AS impact_ps,
  columns!(k, run_id, host_id, kind),
  CAST(k.slow AS BIGINT) AS slow_steps,
  k.number AS steps,
  k.half_ps AS median_ps,
  k.most_ps AS longest_ps,
  k.most_step AS longest_step
FROM kinds AS k
INNER JOIN hosts AS h ON h.run_id = k.run_id AND h.host_id = k.host_id
WHERE k.number >= 4 AND k.slow >= 1 AND k.above_ps * 20 >= h.whole_ps
ORDER BY nulls_last!(k.above_ps DESC, k.run_id, k.host_id, k.kind)
