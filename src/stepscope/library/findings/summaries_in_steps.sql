-- Summaries take time of the steps
--
-- question: How much of the time of ops goes into summaries for TensorBoard?
-- reads: _computing_op
-- severity: high from half of the time of all ops, medium from a quarter, low from a twentieth
-- impact: Ops that make summaries take {share} of the time of all ops: {impact_ps} in {slices} {slices:run|runs}[,
--   {largest_share} of it in {op}].
-- action: Fetch the merged summary in every hundredth step and not in each, and keep histograms of large variables and
--   images out of it; save_summary_steps of an Estimator's RunConfig says how often.
-- weakened_by: lost, capped, truncated, no-steps
-- reasoning: A histogram reads the whole tensor, an image is packed as PNG, and the step waits for both. Nothing that
--   the model learns depends on them.
-- formula: share = self times of ops whose type ends in Summary or SummaryV2 / those of all ops that
--   compute on the host. Reported from 0.05.
-- columns:
--   impact_ps | ps | Self | self times of these ops, added up
--   run_id, host_id
--   share | ratio | Share | part of the time of all ops
--   op | text | Op | name of the op
--   op_type | text | Op type | its type
--   op_ps | ps | Of the op | its self times, added up
--   largest_share | ratio | Of summaries | part of the time of summaries that this op takes, where there are others
--   slices | int | Runs | how often such ops ran
WITH computed AS (
  SELECT
    columns!(o, run_id, host_id),
    COALESCE(o.op_name, o.name) AS op_called,
    o.op_type AS called,
    CASE WHEN o.op_type LIKE '%Summary' OR o.op_type LIKE '%SummaryV2' THEN 1 ELSE 0 END AS sums_up,
    o.kind_ps,
    o.slices AS kind_slices
  FROM _computing_op AS o
  WHERE o.class = 'compute' AND o.place = 'host'
),

ops AS (
  SELECT
    columns!(c, run_id, host_id, op_called, called, sums_up),
    SUM(c.kind_ps) AS own_ps,
    SUM(c.kind_slices) AS number
  FROM computed AS c
  GROUP BY columns!(c, run_id, host_id, op_called, called, sums_up)
),

ranked AS (
  SELECT
    columns!(o, run_id, host_id, op_called, called, own_ps),
    ROW_NUMBER() OVER (
      PARTITION BY o.run_id, o.host_id ORDER BY nulls_last!(o.own_ps DESC, o.op_called, o.called)
    ) AS turn
  FROM ops AS o
  WHERE o.sums_up = 1
),

sums AS (
  SELECT
    columns!(o, run_id, host_id),
    SUM(o.own_ps) AS all_ps,
    sum_where!(o.sums_up = 1, o.own_ps) AS summary_ps,
    sum_where!(o.sums_up = 1, o.number) AS summaries
  FROM ops AS o
  GROUP BY columns!(o, run_id, host_id)
)

SELECT
  severity!(s.summary_ps, s.all_ps) AS severity,
  CAST(s.summary_ps AS BIGINT) AS impact_ps,
  columns!(s, run_id, host_id),
  share!(s.summary_ps, s.all_ps) AS share,
  o.op_called AS op,
  o.called AS op_type,
  CAST(o.own_ps AS BIGINT) AS op_ps,
  CASE WHEN o.own_ps < s.summary_ps THEN share!(o.own_ps, s.summary_ps) END AS largest_share,
  CAST(s.summaries AS BIGINT) AS slices
FROM sums AS s
INNER JOIN ranked AS o ON o.run_id = s.run_id AND o.host_id = s.host_id AND o.turn = 1
WHERE s.summary_ps * 20 >= s.all_ps AND o.own_ps > 0
ORDER BY nulls_last!(s.summary_ps DESC, s.run_id, s.host_id)
