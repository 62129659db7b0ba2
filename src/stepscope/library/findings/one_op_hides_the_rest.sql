-- One op hides what is inside it
--
-- question: Does a fused op, a compiled cluster or a call take much of the time without showing its parts?
-- reads: op_sum
-- severity: medium from 50 % of the self time on its place, low from 20 %
-- impact: {op} ({op_type}) takes {impact_ps}, {share} of the time of {place} ops, and the recording does
--   not show what happens inside it.
-- action: An op is the smallest unit that this recording shows. Look inside with a finer one: an XPlane
--   capture (tf.profiler.experimental.start) shows the instructions of XLA clusters, and XLA_FLAGS with
--   --xla_dump_to writes what they were compiled to.
-- weakened_by: lost, capped, truncated
-- reasoning: A timeline of ops shows nothing finer than an op. A compiled cluster, a function call, a loop
--   or a fused op is one bar whose inside was not recorded, so a list of slow ops ends at it. The remedy is
--   a finer recording, not a closer look at this one.
-- formula: share = self time of the op / self time of everything on the same kind of place (device, host or
--   launch), without waits; reported for clusters, calls, loops and fused collectives from 0.2, medium from
--   0.5.
-- columns:
--   severity | text | Severity | medium or low
--   impact_ps | ps | Unseen | self time of the op
--   place | text | Place | device, host or launch
--   op | text | Op | name of the op
--   op_type | text | Op type | its type
--   share | ratio | Share | part of all self time on that kind of place, waits left out
--   runs | int | Runs | how often it ran
WITH ops AS (
  SELECT o.place, o.op, o.op_type, SUM(o.sum_self_ps) AS op_ps, SUM(o.slices) AS number
  FROM op_sum AS o
  WHERE o.class NOT IN ('input', 'wait')
  GROUP BY o.place, o.op, o.op_type
),

places AS (
  SELECT p.place, SUM(p.op_ps) AS place_ps
  FROM ops AS p
  GROUP BY p.place
)

SELECT
  CASE WHEN o.op_ps * 2 >= p.place_ps THEN 'medium' ELSE 'low' END AS severity,
  CAST(o.op_ps AS BIGINT) AS impact_ps,
  o.place,
  o.op,
  o.op_type,
  CAST(o.op_ps AS DOUBLE) / NULLIF(p.place_ps, 0) AS share,
  CAST(o.number AS BIGINT) AS runs
FROM ops AS o
INNER JOIN places AS p ON p.place = o.place
WHERE
  o.op_ps * 5 >= p.place_ps
  AND o.op_ps > 0
  AND (
    o.op_type IN (
      '_XlaRun', 'XlaLaunch', '_XlaLaunch', 'XlaLocalLaunch', 'PartitionedCall',
      'StatefulPartitionedCall', 'While', 'StatelessWhile', 'If', 'StatelessIf', 'TPUExecute', 'TRTEngineOp',
      'HorovodAllreduce', 'NcclAllReduce', 'custom-call', 'while', 'call', 'conditional'
    )
    OR o.op_type LIKE 'cluster_%'
    OR o.op_type LIKE '__inference_%'
  )
ORDER BY o.op_ps DESC NULLS LAST, o.place NULLS LAST, o.op NULLS LAST, o.op_type NULLS LAST
