-- Steps run thousands of small ops
--
-- question: Do the processors of a host run so many small ops that calling them costs as much as their work?
-- reads: rollup_op, track_place, step, step_part
-- severity: medium where launching and computing take half of the steps, else low
-- impact: A step runs {ops} ops on {host_id}, of {mean_ps} each on average: launching and computing ops takes {share} of
--   the steps.
-- action: Make few large ops of the many small ones: one call for a batch instead of a loop over its rows, or compile the
--   whole step.
-- action_tensorflow: Make few large ops of the many small ones: one op for a batch instead of a loop over its rows, or
--   tf.function(jit_compile=True) around what runs in loops.
-- action_jax: Make few large ops of the many small ones: jax.vmap instead of a loop over rows, and jax.jit around the
--   whole step.
-- action_pytorch: Make few large ops of the many small ones: one call for a batch instead of a loop over its rows, or
--   torch.compile.
-- action_torch_compiled: Make few large ops of the many small ones: one call for a batch instead of a loop over its rows,
--   and what is not compiled yet into the compiled function.
-- notes: Of hosts without a device. Small ops of a device are told by what lies between its kernels.
-- weakened_by: lost, capped, truncated, no-steps
-- reasoning: An op costs its framework some microseconds before it computes anything. An op of 10 µs is mostly that, and
--   more cores make it no faster.
-- formula: ops = ops of a source that compute / its steps, at least 1000; mean = their self times / their number, less
--   than 20 us; impact = time labelled compute or dispatch in the steps that averages include; share = impact / their
--   durations. Reported from 0.3.
-- columns:
--   impact_ps | ps | Ops | time of the steps that computing and launching take
--   run_id
--   host_id | text | Host | host
--   share | ratio | Share of steps | that time as part of the steps
--   ops | int | Ops in a step | ops that compute
--   mean_ps | ps | Mean | mean self time of an op
WITH devices AS (
  SELECT p.run_id AS of_run, p.host_id AS of_host, COUNT(*) AS number
  FROM track_place AS p
  WHERE p.place = 'device'
  GROUP BY p.run_id, p.host_id
),

ops AS (
  SELECT r.source_id AS of_source, SUM(r.slices) AS run_ops, SUM(COALESCE(r.op_self_ps, r.self_ps)) AS own_ps
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE r.is_op AND r.layer = 'compute' AND r.class <> 'input' AND p.place = 'host'
  GROUP BY r.source_id
),

steps AS (
  SELECT columns!(s, run_id, host_id, source_id), COUNT(*) AS number
  FROM step AS s
  WHERE s.dur_ps > 0 AND s.recovered_from <> 'whole_capture'
  GROUP BY columns!(s, run_id, host_id, source_id)
),

hosts AS (
  SELECT
    columns!(s, run_id, host_id),
    SUM(o.run_ops) AS all_ops,
    SUM(o.own_ps) AS all_own_ps,
    SUM(s.number) AS all_steps
  FROM steps AS s
  INNER JOIN ops AS o ON o.of_source = s.source_id
  GROUP BY s.run_id, s.host_id
),

judged AS (
  SELECT columns!(s, id, run_id, host_id, dur_ps)
  FROM step AS s
  WHERE s.averaged AND s.dur_ps > 0 AND s.recovered_from <> 'whole_capture'
),

taken AS (
  SELECT j.run_id AS of_run, j.host_id AS of_host, SUM(p.dur_ps) AS taken_ps
  FROM step_part AS p
  INNER JOIN judged AS j ON j.id = p.step_id
  WHERE p.label IN ('compute', 'dispatch')
  GROUP BY j.run_id, j.host_id
),

whole AS (
  SELECT j.run_id AS of_run, j.host_id AS of_host, SUM(j.dur_ps) AS steps_ps
  FROM judged AS j
  GROUP BY j.run_id, j.host_id
)

SELECT
  CASE WHEN t.taken_ps * 2 >= w.steps_ps THEN 'medium' ELSE 'low' END AS severity,
  CAST(t.taken_ps AS BIGINT) AS impact_ps,
  columns!(h, run_id, host_id),
  share!(t.taken_ps, w.steps_ps) AS share,
  mean!(h.all_ops, h.all_steps) AS ops,
  mean!(h.all_own_ps, h.all_ops) AS mean_ps
FROM hosts AS h
INNER JOIN taken AS t ON t.of_run = h.run_id AND t.of_host = h.host_id
INNER JOIN whole AS w ON w.of_run = h.run_id AND w.of_host = h.host_id
LEFT JOIN devices AS d ON d.of_run = h.run_id AND d.of_host = h.host_id
WHERE
  d.number IS NULL
  AND h.all_ops >= h.all_steps * 1000
  AND h.all_own_ps < h.all_ops * 20000000
  AND t.taken_ps * 10 >= w.steps_ps * 3
ORDER BY nulls_last!(t.taken_ps DESC, h.run_id, h.host_id)
