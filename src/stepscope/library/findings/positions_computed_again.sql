-- Each step computes earlier positions again
--
-- question: Whose products have more rows in each step by the same number, as where a model writes without a cache?
-- reads: slice, rollup_op, _label_line
-- severity: high from half of the steps, medium from a quarter, low from a twentieth
-- impact: Products of matrices have {more_rows} more {more_rows:row|rows} in each step than in the one before, up to
--   {most_rows} in {in_steps} {in_steps:step|steps}: {share} of the steps computes again what was computed before[,
--   called in {file}:{line} `{function}`].
-- action: Keep what was computed of the positions before, as a cache of keys and values does (past_key_values,
--   use_cache), and compute the new ones only.
-- notes: Of PyTorch on processors, where the sizes of inputs were recorded.
-- weakened_by: lost, capped, truncated, no-steps
-- reasoning: A model that writes token by token needs each position once. Without a cache it computes all of them for
--   each token, and steps take longer the longer the text is. With one, only attention reads what came before.
-- formula: impact = durations of aten::mm and aten::addmm whose first matrix has, for the same second one, the same
--   number of rows more than in the step before, in four fifths of at least five pairs of steps * (rows - rows more) /
--   rows; share = impact / durations of these steps. Reported from 0.05, medium from 0.25, high from 0.5.
-- columns:
--   impact_ps | ps | Computed again | time of such products
--   run_id
--   host_id | text | Host | host
--   share | ratio | Share of steps | that time as part of the steps
--   more_rows | int | More rows | by how many rows the largest grow from step to step
--   most_rows | int | Most rows | rows of the largest
--   in_steps | int | Steps | steps that have such products
--   file | text | File | file of the program, where samples tell the line that computes most
--   line | int | Line | line there
--   function | text | Function | function of that line
WITH products AS (
  SELECT
    columns!(s, run_id, host_id, source_id),
    s.step AS in_step,
    s.dur_ps AS took_ps,
    CASE r.name
      WHEN 'aten::mm' THEN TRY_CAST(arg!(s.args_json, "Input Dims"[0][0]) AS BIGINT)
      ELSE TRY_CAST(arg!(s.args_json, "Input Dims"[1][0]) AS BIGINT)
    END AS row_count,
    CASE r.name
      WHEN 'aten::mm' THEN TRY_CAST(arg!(s.args_json, "Input Dims"[1][0]) AS BIGINT)
      ELSE TRY_CAST(arg!(s.args_json, "Input Dims"[2][0]) AS BIGINT)
    END AS inner_size,
    CASE r.name
      WHEN 'aten::mm' THEN TRY_CAST(arg!(s.args_json, "Input Dims"[1][1]) AS BIGINT)
      ELSE TRY_CAST(arg!(s.args_json, "Input Dims"[2][1]) AS BIGINT)
    END AS width
  FROM slice AS s
  INNER JOIN rollup_op AS r ON r.id = s.rollup_id
  WHERE r.name IN ('aten::mm', 'aten::addmm') AND s.step IS NOT NULL
),

by_step AS (
  SELECT
    columns!(p, run_id, host_id, source_id, in_step, inner_size, width),
    MAX(p.row_count) AS rows_now,
    SUM(p.took_ps) AS sum_ps
  FROM products AS p
  WHERE p.row_count > 0 AND p.inner_size > 0 AND p.width > 0
  GROUP BY columns!(p, run_id, host_id, source_id, in_step, inner_size, width)
),

grown AS (
  SELECT
    columns!(b, run_id, host_id, source_id, in_step, inner_size, width, rows_now, sum_ps),
    b.rows_now - LAG(b.rows_now) OVER (
      PARTITION BY columns!(b, source_id, inner_size, width)
      ORDER BY b.in_step NULLS LAST
    ) AS grew
  FROM by_step AS b
),

pairs AS (
  SELECT columns!(g, source_id, inner_size, width), COUNT(*) AS all_pairs
  FROM grown AS g
  WHERE g.grew IS NOT NULL
  GROUP BY columns!(g, source_id, inner_size, width)
),

usual AS (
  SELECT
    columns!(g, source_id, inner_size, width),
    g.grew AS usual_rows
  FROM grown AS g
  INNER JOIN pairs AS q ON q.source_id = g.source_id AND q.inner_size = g.inner_size AND q.width = g.width
  WHERE g.grew > 0 AND q.all_pairs >= 5
  GROUP BY columns!(g, source_id, inner_size, width), g.grew, q.all_pairs
  HAVING COUNT(*) * 5 >= q.all_pairs * 4
),

again AS (
  SELECT
    columns!(g, run_id, host_id),
    SUM(
      CAST(g.sum_ps AS DOUBLE) / g.rows_now
      * greatest!(g.rows_now - u.usual_rows, 0)
    ) AS old_ps,
    MAX(u.usual_rows) AS more_rows,
    MAX(g.rows_now) AS most_rows,
    COUNT(DISTINCT g.in_step) AS step_count
  FROM grown AS g
  INNER JOIN usual AS u ON u.source_id = g.source_id AND u.inner_size = g.inner_size AND u.width = g.width
  GROUP BY columns!(g, run_id, host_id)
),

lines AS (
  SELECT
    columns!(l, run_id, host_id, steps_ps, file, line, function),
    ROW_NUMBER() OVER (
      PARTITION BY columns!(l, run_id, host_id)
      ORDER BY nulls_last!(l.line_ps DESC, l.file, l.line, l.function)
    ) AS place
  FROM _label_line AS l
  WHERE l.label = 'compute'
)

SELECT
  CASE
    WHEN a.old_ps * 2 >= l.steps_ps THEN 'high'
    WHEN a.old_ps * 4 >= l.steps_ps THEN 'medium'
    ELSE 'low'
  END AS severity,
  whole!(least!(a.old_ps, l.steps_ps)) AS impact_ps,
  columns!(a, run_id, host_id),
  share!(least!(a.old_ps, l.steps_ps), l.steps_ps) AS share,
  columns!(a, more_rows, most_rows),
  CAST(a.step_count AS BIGINT) AS in_steps,
  columns!(l, file, line, function)
FROM again AS a
INNER JOIN lines AS l ON l.run_id = a.run_id AND l.host_id = a.host_id AND l.place = 1
WHERE a.old_ps * 20 >= l.steps_ps
ORDER BY nulls_last!(a.old_ps DESC, a.run_id, a.host_id)
