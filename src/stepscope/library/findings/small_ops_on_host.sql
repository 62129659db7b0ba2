-- Steps run thousands of small ops
--
-- question: Do the processors of a host run so many small ops that calling them costs as much as their work?
-- reads: rollup_op, track_place, step, step_part
-- severity: medium where they and launching take half of the steps, else low
-- impact: A step runs {ops} small ops on {host_id}, of {mean_ps} each on average: these and launching ops take {share} of
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
-- notes: Only of hosts without a device. The finding many_tiny_kernels is about those of a device.
-- weakened_by: lost, capped, truncated, no-steps
-- reasoning: An op costs its framework some microseconds before it computes anything. An op of 10 µs is mostly that, and
--   more cores make it no faster.
-- formula: small = ops of a name whose self times are less than 20 us on average; ops = small ones of a source / its steps,
--   at least 1000; mean = their self times / their number; impact = in the steps that averages include, time labelled
--   dispatch, and of the time labelled compute the part that small ops have of the self times of all; share = impact /
--   durations of these steps. Reported from 0.3.
-- columns:
--   impact_ps | ps | Small ops | time of the steps that they and launching take
--   run_id
--   host_id | text | Host | host
--   share | ratio | Share of steps | that time as part of the steps
--   ops | int | Ops in a step | small ops that compute
--   mean_ps | ps | Mean | mean self time of one
WITH devices AS (
  SELECT p.run_id AS of_run, p.host_id AS of_host, COUNT(*) AS number
  FROM track_place AS p
  WHERE p.place = 'device'
  GROUP BY p.run_id, p.host_id
),

kinds AS (
  SELECT r.source_id, SUM(r.slices) AS runs, SUM(COALESCE(r.op_self_ps, r.self_ps)) AS spent_ps
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE r.is_op AND r.layer = 'compute' AND r.class <> 'input' AND p.place = 'host'
  GROUP BY r.source_id, r.name
),

ops AS (
  SELECT
    k.source_id AS of_source,
    sum_where!(k.spent_ps < k.runs * 20000000, k.runs) AS small_ops,
    sum_where!(k.spent_ps < k.runs * 20000000, k.spent_ps) AS small_ps,
    SUM(k.spent_ps) AS ops_ps
  FROM kinds AS k
  GROUP BY k.source_id
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
    SUM(o.small_ops) AS all_small,
    SUM(o.small_ps) AS all_small_ps,
    SUM(o.ops_ps) AS all_ops_ps,
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

labels AS (
  SELECT
    j.run_id AS of_run,
    j.host_id AS of_host,
    sum_where!(p.label = 'compute', p.dur_ps) AS compute_ps,
    sum_where!(p.label = 'dispatch', p.dur_ps) AS dispatch_ps
  FROM step_part AS p
  INNER JOIN judged AS j ON j.id = p.step_id
  GROUP BY j.run_id, j.host_id
),

whole AS (
  SELECT j.run_id AS of_run, j.host_id AS of_host, SUM(j.dur_ps) AS steps_ps
  FROM judged AS j
  GROUP BY j.run_id, j.host_id
),

taken AS (
  SELECT
    columns!(h, run_id, host_id, all_small, all_small_ps, all_steps),
    w.steps_ps,
    whole!(
      l.dispatch_ps + CAST(l.compute_ps AS DOUBLE) * h.all_small_ps / NULLIF(h.all_ops_ps, 0)
    ) AS taken_ps
  FROM hosts AS h
  INNER JOIN labels AS l ON l.of_run = h.run_id AND l.of_host = h.host_id
  INNER JOIN whole AS w ON w.of_run = h.run_id AND w.of_host = h.host_id
  LEFT JOIN devices AS d ON d.of_run = h.run_id AND d.of_host = h.host_id
  WHERE d.number IS NULL AND h.all_small >= h.all_steps * 1000
)

SELECT
  CASE WHEN t.taken_ps * 2 >= t.steps_ps THEN 'medium' ELSE 'low' END AS severity,
  t.taken_ps AS impact_ps,
  columns!(t, run_id, host_id),
  share!(t.taken_ps, t.steps_ps) AS share,
  mean!(t.all_small, t.all_steps) AS ops,
  mean!(t.all_small_ps, t.all_small) AS mean_ps
FROM taken AS t
WHERE t.taken_ps * 10 >= t.steps_ps * 3
ORDER BY nulls_last!(t.taken_ps DESC, t.run_id, t.host_id)
