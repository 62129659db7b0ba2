-- Steps compile again and again
--
-- question: Do several steps of one host compile or trace?
-- reads: step, compilation, rollup_op, slice
-- severity: high from three compile steps, medium for two; none when only the first steps compile and the
--   recording began with them, and none where the recorder saw which functions compile
-- impact: {steps} of {all_steps} {all_steps:step|steps} on {host_id} {steps:compiles|compile}, {impact_ps}
--   in all, the last one in step {last_step}[; XLA compiled {cluster} {times} {times:time|times}].
-- action: Something changes from step to step: the shape of the last batch, Python values passed as arguments,
--   functions created inside the loop.
-- action_tensorflow: Something changes from step to step: the shape of the last batch (drop_remainder=True), Python
--   values passed as arguments (pass tensors), functions created inside the loop. TensorFlow warns about functions
--   that retrace.
-- action_jax: Something changes from step to step: the shape of the last batch (drop it, or pad it), values of
--   static arguments (pass arrays), functions created inside the loop. jax.log_compiles() names what compiles.
-- action_pytorch: Something changes from step to step: the shape of the last batch (drop_last=True), Python values
--   passed as arguments (pass tensors), functions created inside the loop. TORCH_LOGS=recompiles tells what; where
--   sizes differ by nature, dynamic=True compiles once for all of them.
-- weakened_by: lost, capped, truncated
-- reasoning: A function is compiled for each new shape, dtype or Python argument that it is called with.
--   Compiling at the start is expected; compiling again after an ordinary step means that something changes
--   from step to step, and each time costs as much as many steps.
-- formula: Reported when at least two steps of a host are compile steps and the last of them comes after an
--   ordinary step, or when all of at least three steps are compile steps; high from three; impact = durations of
--   these steps added up. XLA compiled a cluster where its _XlaCompile takes more than 5 ms.
-- columns:
--   impact_ps | ps | Compile steps | durations of the steps that compile
--   run_id, host_id
--   steps | int | Compiling | steps that compile
--   all_steps | int | Steps | steps recorded
--   last_step | int | Last | number of the last one
--   cluster | text | Cluster | of those that TensorFlow compiles by itself, the one that XLA compiled most often
--   times | int | Times | how often; NULL where no cluster compiled twice
WITH hosts AS (
  SELECT
    columns!(s, run_id, host_id),
    sum_where!(s.kind = 'compile', 1) AS compiling,
    COUNT(*) AS all_steps,
    sum_where!(s.kind = 'compile', s.dur_ps) AS sum_ps,
    MAX(CASE WHEN s.kind = 'compile' THEN s.step END) AS last_step,
    MIN(CASE WHEN s.kind <> 'compile' THEN s.step END) AS first_other
  FROM step AS s
  WHERE s.recovered_from <> 'whole_capture'
  GROUP BY s.run_id, s.host_id
),

known AS (
  SELECT c.run_id AS of_run, c.host_id AS of_host
  FROM compilation AS c
  WHERE c.change <> 'first'
  GROUP BY c.run_id, c.host_id
),

-- The op that asks for a program runs in each step.
compiled AS (
  SELECT
    columns!(r, run_id, host_id),
    REPLACE(r.op_name, '/xla_compile', '') AS of_cluster,
    COUNT(*) AS often,
    SUM(s.dur_ps) AS took_ps
  FROM rollup_op AS r
  INNER JOIN slice AS s ON s.rollup_id = r.id
  WHERE r.is_op AND s.dur_ps > look_up_ps!(r.op_type, r.op_name)
  GROUP BY r.run_id, r.host_id, r.op_name
  HAVING COUNT(*) >= 2
),

most AS (
  SELECT
    columns!(c, run_id, host_id, of_cluster, often),
    CAST(ROW_NUMBER() OVER (
      PARTITION BY c.run_id, c.host_id
      ORDER BY nulls_last!(c.often DESC, c.took_ps DESC, c.of_cluster)
    ) AS BIGINT) AS position
  FROM compiled AS c
)

SELECT
  CASE WHEN h.compiling >= 3 THEN 'high' ELSE 'medium' END AS severity,
  CAST(h.sum_ps AS BIGINT) AS impact_ps,
  columns!(h, run_id, host_id),
  CAST(h.compiling AS BIGINT) AS steps,
  columns!(h, all_steps, last_step),
  m.of_cluster AS cluster,
  m.often AS times
FROM hosts AS h
LEFT JOIN most AS m ON m.run_id = h.run_id AND m.host_id = h.host_id AND m.position = 1
LEFT JOIN known AS k ON k.of_run = h.run_id AND k.of_host = h.host_id
WHERE
  k.of_run IS NULL
  AND ((h.compiling >= 2 AND h.last_step > h.first_other) OR (h.compiling >= 3 AND h.compiling = h.all_steps))
ORDER BY nulls_last!(h.sum_ps DESC, h.run_id, h.host_id)
