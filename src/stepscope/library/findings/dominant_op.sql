-- One type of op takes much of the compute
--
-- question: Which type of op takes most of the time in which steps compute?
-- reads: _label_line, _computing_op, source, _drawn_source
-- severity: medium from half of the time of all ops, low from 40 % and for products of matrices and convolutions, which
--   models are made of; only where steps compute for at least half of their time
-- impact: {op_type} takes {share} of the time of all ops, copies apart: {impact_ps} in {slices} {slices:run|runs}[,
--   {largest_share} of it in {op}].
-- action: See whether each step needs all of its {op_type} ops, at their size. Usual ways out: fewer or smaller ones[,
--   {fewer_bits} where the hardware has it].
-- action_tensorflow: See whether each step needs all of its {op_type} ops, at their size. Usual ways out: fewer or
--   smaller ones[, {fewer_bits} where the hardware has it][, XLA for chains of ops of {mean_ps}
--   (jit_compile=True; in TensorFlow 1 global_jit_level=tf.OptimizerOptions.ON_1)].
-- action_pytorch: See whether each step needs all of its {op_type} ops, at their size. Usual ways out: fewer or smaller
--   ones[, torch.autocast where the hardware has {fewer_bits}][, torch.compile for chains of ops of {mean_ps}].
-- action_torch_compiled: See whether each step needs all of its {op_type} ops, at their size. Usual ways out: fewer or
--   smaller ones[, torch.autocast where the hardware has {fewer_bits}].
-- notes: On accelerators where there are any, else on the host. Ops of the input pipeline are left out, and calls of
--   functions, whose ops are there by themselves. Recorders that draw what programs tell them know no ops. Summaries
--   are a finding of their own, and so are clusters that XLA compiled.
-- weakened_by: lost, capped, truncated, missing, no-steps
-- reasoning: A step that only computes gets faster by computing less, or by computing faster. That pays most for the op
--   that takes most of the time.
-- formula: share = self times of the ops of the type / those of all ops that compute, at the same place. Reported from
--   0.4 where time labelled compute is at least half of the steps that averages include.
-- columns:
--   impact_ps | ps | Self | self times of the ops of the type, added up
--   run_id, host_id
--   op_type | text | Op type | type of the ops
--   share | ratio | Share | part of the time of all ops
--   op | text | Op | name of the op
--   op_ps | ps | Of the op | its self times, added up
--   largest_share | ratio | Of the type | part of the type's time that this op takes, where there are others
--   runs | int | Runs | how often it ran
--   slices | int | Of all | how often ops of the type ran
--   fewer_bits | text | Fewer bits | a shorter type that devices multiply faster, for products of matrices on them
--   mean_ps | ps | Mean | of one that a compiler could fuse: no product of matrices, nothing of strings, shorter than 1 ms
WITH recorded AS (
  SELECT s.run_id AS recorded_run, s.host_id AS recorded_host
  FROM source AS s
  LEFT JOIN _drawn_source AS d ON d.source_id = s.source_id
  WHERE d.source_id IS NULL
  GROUP BY s.run_id, s.host_id
),

computing AS (
  SELECT l.run_id AS in_run, l.host_id AS in_host
  FROM _label_line AS l
  INNER JOIN recorded AS r ON r.recorded_run = l.run_id AND r.recorded_host = l.host_id
  WHERE l.label = 'compute' AND l.label_ps * 2 >= l.steps_ps
  GROUP BY l.run_id, l.host_id
),

computed AS (
  SELECT
    o.run_id,
    o.host_id,
    CASE WHEN o.place = 'device' THEN 1 ELSE 0 END AS on_device,
    COALESCE(o.op_type, o.op_name, o.name) AS called,
    COALESCE(o.op_name, o.name) AS op_called,
    o.kind_ps,
    o.slices AS kind_slices
  FROM _computing_op AS o
  INNER JOIN computing AS c ON c.in_run = o.run_id AND c.in_host = o.host_id
  WHERE o.class = 'compute'
),

ops AS (
  SELECT
    columns!(c, run_id, host_id, on_device, called, op_called),
    SUM(c.kind_ps) AS own_ps,
    SUM(c.kind_slices) AS number,
    MAX(CASE WHEN SUM(c.kind_ps) > 0 THEN c.on_device END) OVER (PARTITION BY c.run_id, c.host_id) AS any_device,
    SUM(SUM(c.kind_ps)) OVER (PARTITION BY c.run_id, c.host_id, c.on_device) AS all_ps,
    SUM(SUM(c.kind_ps)) OVER (PARTITION BY c.run_id, c.host_id, c.on_device, c.called) AS type_ps,
    SUM(SUM(c.kind_slices)) OVER (PARTITION BY c.run_id, c.host_id, c.on_device, c.called) AS type_runs
  FROM computed AS c
  GROUP BY columns!(c, run_id, host_id, on_device, called, op_called)
)

SELECT
  CASE
    WHEN t.type_ps * 2 >= t.all_ps AND NOT product!(t.called) THEN 'medium'
    ELSE 'low'
  END AS severity,
  CAST(t.type_ps AS BIGINT) AS impact_ps,
  t.run_id,
  t.host_id,
  t.called AS op_type,
  share!(t.type_ps, t.all_ps) AS share,
  t.op_called AS op,
  CAST(t.own_ps AS BIGINT) AS op_ps,
  CASE WHEN t.own_ps < t.type_ps THEN share!(t.own_ps, t.type_ps) END AS largest_share,
  CAST(t.number AS BIGINT) AS runs,
  CAST(t.type_runs AS BIGINT) AS slices,
  CASE WHEN t.on_device = 1 AND product!(t.called) THEN 'bfloat16' END AS fewer_bits,
  CASE
    WHEN
      NOT product!(t.called) AND t.type_ps < t.type_runs * 1000000000 AND t.called NOT LIKE '%String%'
      AND t.called NOT LIKE '%Regex%' AND t.called NOT LIKE 'Decode%' AND t.called NOT LIKE 'Print%'
      THEN mean!(t.type_ps, t.type_runs)
  END AS mean_ps
FROM ops AS t
WHERE t.on_device = t.any_device AND t.type_ps * 5 >= t.all_ps * 2 AND t.own_ps > 0 AND t.called NOT LIKE '%Summary%'
  AND t.called NOT IN ('_XlaRun', 'XlaLaunch', '_XlaLaunch')
ORDER BY nulls_last!(t.type_ps DESC, t.run_id, t.host_id, t.called, t.own_ps DESC, t.op_called)
