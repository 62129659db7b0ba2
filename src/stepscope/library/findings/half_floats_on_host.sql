-- Ops compute with 16-bit floats on a processor
--
-- question: How much of the time of PyTorch's ops on processors goes to those that are given 16-bit floats?
-- reads: slice, source, op_sum, rollup_op
-- severity: low
-- impact: {share} of the time of ops goes to those that compute with 16-bit floats on a processor: {impact_ps} in
--   {ops} {ops:op|ops}, most of it in {op}.
-- action: Measure the same with 32 bits: without .half(), .bfloat16() and torch.autocast. If the processor lacks
--   instructions for these types (AMX or AVX-512 BF16 of x86), 32 bits are several times faster.
-- weakened_by: lost, capped, truncated, missing
-- reasoning: Few processors multiply 16-bit floats. Others convert each number and back, or leave the libraries that
--   are tuned for them. Such types save memory then, and no time.
-- formula: share = self times of ops whose first input has such numbers, where shapes were recorded / those of all ops
--   of PyTorch on hosts that launch nothing on an accelerator; reported from half of it.
-- columns:
--   impact_ps | ps | Self | self times of these ops, added up
--   run_id, host_id
--   share | ratio | Share | part of the time of all ops
--   ops | int | Ops | how many names they have
--   op | text | Op | the one that takes longest
WITH of_devices AS (
  SELECT o.run_id AS of_run, o.host_id AS of_host
  FROM op_sum AS o
  WHERE o.place = 'device'
  UNION
  SELECT r.run_id AS of_run, r.host_id AS of_host
  FROM rollup_op AS r
  WHERE kernel_launch!(r.name)
),

called AS (
  SELECT
    columns!(s, run_id, host_id),
    s.name AS called_op,
    SUM(s.self_ps) AS self_sum,
    SUM(
      CASE
        WHEN s.args_json LIKE '%"Input type":["c10::BFloat16"%' THEN s.self_ps
        WHEN s.args_json LIKE '%"Input type":["c10::Half"%' THEN s.self_ps
        ELSE 0
      END
    ) AS half_sum
  FROM slice AS s
  INNER JOIN source AS o ON o.source_id = s.source_id AND o.framework = 'pytorch'
  LEFT JOIN of_devices AS d ON d.of_run = s.run_id AND d.of_host = s.host_id
  WHERE s.category = 'cpu_op' AND s.self_ps > 0 AND d.of_run IS NULL
  GROUP BY s.run_id, s.host_id, s.name
),

counted AS (
  SELECT
    columns!(c, run_id, host_id, called_op, half_sum),
    SUM(c.half_sum) OVER (PARTITION BY c.run_id, c.host_id) AS half_ps,
    SUM(c.self_sum) OVER (PARTITION BY c.run_id, c.host_id) AS all_ps,
    SUM(CASE WHEN c.half_sum > 0 THEN 1 ELSE 0 END) OVER (PARTITION BY c.run_id, c.host_id) AS half_ops,
    ROW_NUMBER() OVER (
      PARTITION BY c.run_id, c.host_id ORDER BY nulls_last!(c.half_sum DESC, c.called_op)
    ) AS position
  FROM called AS c
)

SELECT
  'low' AS severity,
  CAST(c.half_ps AS BIGINT) AS impact_ps,
  columns!(c, run_id, host_id),
  share!(c.half_ps, c.all_ps) AS share,
  CAST(c.half_ops AS BIGINT) AS ops,
  c.called_op AS op
FROM counted AS c
WHERE c.position = 1 AND c.half_ps * 2 >= c.all_ps
ORDER BY nulls_last!(c.half_ps DESC, c.run_id, c.host_id)
