-- Clusters get arguments of many shapes
--
-- question: Is a session that has XLA run clusters of ops fed another shape in most of its recorded runs?
-- reads: tensor, op_sum
-- severity: medium from half of the time of ops on hosts, low from a fifth
-- impact: {op} ({op_type}) takes {share} of the time of ops on hosts, {impact_ps}. What is fed as {argument} has {shapes}
--   shapes in {runs} recorded runs, {first_shape} and {last_shape} among them: XLA compiles a cluster for each shape that
--   it meets.
-- action: Pad what is fed to one shape, or to a few: bucket it by length. Where that cannot be, leave these ops to
--   TensorFlow.
-- weakened_by: lost, capped, truncated
-- reasoning: A compiled program is for fixed shapes. The first run with a shape waits for the compiler, within the op that
--   runs the cluster: RunMetadata of TensorFlow 1 shows one long op and no compilation.
-- formula: share = self times of the op that runs clusters and takes most / those of all ops on hosts; reported from 0.2,
--   where more than half of three or more recorded runs have a shape of their own of what is fed.
-- columns:
--   impact_ps | ps | Self | self times of the op
--   run_id, host_id
--   op | text | Op | the one that runs clusters and takes most
--   op_type | text | Op type | its type
--   share | ratio | Share | part of the time of all ops on hosts
--   argument | text | Argument | what is fed
--   shapes | int | Shapes | shapes that it has
--   runs | int | Runs | recorded runs that it is fed to
--   first_shape | text | First shape | one of these shapes
--   last_shape | text | Last shape | another
WITH made AS (
  SELECT columns!(t, run_id, host_id, op_name, shape), REPLACE(t.op_name, '_arg_', '') AS what
  FROM tensor AS t
  WHERE t.op_name LIKE '_arg_%' AND t.shape IS NOT NULL
),

fed AS (
  SELECT
    columns!(m, run_id, host_id, what),
    COUNT(*) AS number,
    COUNT(DISTINCT m.shape) AS kinds,
    MIN(m.shape) AS least,
    MAX(m.shape) AS greatest
  FROM made AS m
  WHERE m.op_name = CONCAT('_arg_', m.what)
  GROUP BY columns!(m, run_id, host_id, what)
),

fed_by_kinds AS (
  SELECT
    columns!(f, run_id, host_id, what, number, kinds, least, greatest),
    CAST(ROW_NUMBER() OVER (
      PARTITION BY f.run_id, f.host_id
      ORDER BY nulls_last!(f.kinds DESC, f.what)
    ) AS BIGINT) AS position
  FROM fed AS f
  WHERE f.number >= 3 AND f.kinds * 2 > f.number
),

ops AS (
  SELECT
    columns!(o, run_id, host_id, op, op_type),
    CASE WHEN o.op_type IN ('XlaLaunch', '_XlaLaunch', 'XlaLocalLaunch') THEN 1 ELSE 0 END AS is_cluster,
    SUM(o.sum_self_ps) AS own_ps
  FROM op_sum AS o
  WHERE o.class = 'compute' AND o.place = 'host'
  GROUP BY columns!(o, run_id, host_id, op, op_type)
),

clusters AS (
  SELECT
    columns!(o, run_id, host_id, op, op_type, is_cluster, own_ps),
    SUM(o.own_ps) OVER (PARTITION BY o.run_id, o.host_id) AS all_ps,
    CAST(ROW_NUMBER() OVER (
      PARTITION BY o.run_id, o.host_id
      ORDER BY nulls_last!(o.is_cluster DESC, o.own_ps DESC, o.op)
    ) AS BIGINT) AS position
  FROM ops AS o
)

SELECT
  CASE WHEN c.own_ps * 2 >= c.all_ps THEN 'medium' ELSE 'low' END AS severity,
  CAST(c.own_ps AS BIGINT) AS impact_ps,
  columns!(c, run_id, host_id, op, op_type),
  share!(c.own_ps, c.all_ps) AS share,
  f.what AS argument,
  CAST(f.kinds AS BIGINT) AS shapes,
  CAST(f.number AS BIGINT) AS runs,
  f.least AS first_shape,
  f.greatest AS last_shape
FROM clusters AS c
INNER JOIN fed_by_kinds AS f ON f.run_id = c.run_id AND f.host_id = c.host_id AND f.position = 1
WHERE c.position = 1 AND c.is_cluster = 1 AND c.own_ps * 5 >= c.all_ps
ORDER BY nulls_last!(impact_ps DESC, c.run_id, c.host_id)
