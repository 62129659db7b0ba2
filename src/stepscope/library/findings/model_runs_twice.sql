-- A model runs twice on the same inputs
--
-- question: Which scopes of a function compute again what another one computes from the same inputs and variables?
-- reads: node, edge, rollup_op, track_place, op_line
-- severity: medium from a quarter of the time of ops, low from a twentieth
-- impact: Ops in {again} compute from the same inputs and variables what those in {first} do: {share} of the time of
--   ops, {impact_ps} in all[, made in {file}:{line}].
-- action: Use the outputs of the first run. Where a metric needs them without dropout, or after the update, compute it
--   every hundredth step.
-- notes: Of functions of TensorFlow 2: a session may feed other values when it runs the other scope. A scope is what
--   stands before the first slash of a name. One that draws random numbers gives other outputs, and is left out.
-- weakened_by: lost, capped, truncated, missing
-- reasoning: A model that is called twice in a step, as for a metric beside the loss, computes its outputs twice. Two
--   calls on the same batch differ at most in dropout, in how layers normalize, and in whether the update comes first.
-- formula: impact = self times of ops of a scope of which another one has an op of the same name and type; all that the
--   scope takes from others, variables among it, the other one takes as well; of two such scopes the one that
--   takes less. share = impact / self times of all ops that compute, at the same place. Reported from 0.05, medium
--   from 0.25.
-- columns:
--   impact_ps | ps | Again | self times of these ops, added up
--   run_id, host_id
--   place | text | Place | device or host
--   share | ratio | Share | part of the time of all ops that compute there
--   again | text | Again | scope that computes again
--   first | text | First | scope that computes the same
--   ops | int | Ops | how many ops it runs again
--   file | text | File | of the line that made the one that takes longest
--   line | int | Line | in that file
WITH relative AS (
  SELECT
    columns!(n, run_id, source_id, graph, op_type),
    n.name AS node_name,
    LTRIM(n.name, REPLACE(n.name, '/', '')) AS within_scope,
    CONCAT('StatefulPartitionedCall/', n.name) AS executed
  FROM node AS n
  WHERE n.name LIKE '%/%' AND n.graph LIKE 'function/%'
),

scoped AS (
  SELECT
    columns!(r, run_id, source_id, graph, op_type, node_name, within_scope, executed),
    REPLACE(r.node_name, r.within_scope, '') AS scope,
    CASE WHEN r.op_type LIKE 'Random%' OR r.op_type LIKE 'StatelessRandom%' THEN 1 ELSE 0 END AS is_random,
    CASE WHEN r.op_type IN ('ReadVariableOp', 'ResourceGather') THEN 1 ELSE 0 END AS reads_variable
  FROM relative AS r
),

steady AS (
  SELECT columns!(s, source_id, graph, scope)
  FROM scoped AS s
  GROUP BY columns!(s, source_id, graph, scope)
  HAVING MAX(s.is_random) = 0
),

taken AS (
  SELECT
    columns!(s, run_id, source_id, graph, scope),
    e.producer AS outside,
    MAX(s.reads_variable) AS is_variable
  FROM edge AS e
  INNER JOIN scoped AS s ON s.source_id = e.source_id AND s.graph = e.graph AND s.node_name = e.consumer
  LEFT JOIN scoped AS p ON p.source_id = e.source_id AND p.graph = e.graph AND p.node_name = e.producer
  WHERE e.producer_slot >= 0 AND (p.scope IS NULL OR p.scope <> s.scope)
  GROUP BY columns!(s, run_id, source_id, graph, scope), e.producer
),

counted AS (
  SELECT columns!(t, source_id, graph, scope), COUNT(*) AS all_taken
  FROM taken AS t
  GROUP BY columns!(t, source_id, graph, scope)
),

pairs AS (
  SELECT
    columns!(a, run_id, source_id, graph),
    a.scope AS again_scope,
    f.scope AS first_scope
  FROM taken AS a
  INNER JOIN taken AS f
    ON f.source_id = a.source_id AND f.graph = a.graph AND f.outside = a.outside AND f.scope <> a.scope
  INNER JOIN counted AS c ON c.source_id = a.source_id AND c.graph = a.graph AND c.scope = a.scope
  INNER JOIN steady AS y ON y.source_id = a.source_id AND y.graph = a.graph AND y.scope = a.scope
  GROUP BY columns!(a, run_id, source_id, graph), a.scope, f.scope, c.all_taken
  HAVING COUNT(*) = c.all_taken AND SUM(a.is_variable) > 0 AND SUM(a.is_variable) < COUNT(*)
),

same AS (
  SELECT
    columns!(q, run_id, again_scope, first_scope),
    a.executed AS again_op,
    MIN(f.executed) AS first_op
  FROM pairs AS q
  INNER JOIN scoped AS a ON a.source_id = q.source_id AND a.graph = q.graph AND a.scope = q.again_scope
  INNER JOIN scoped AS f
    ON
      f.source_id = q.source_id AND f.graph = q.graph AND f.scope = q.first_scope
      AND f.within_scope = a.within_scope AND f.op_type = a.op_type
  GROUP BY columns!(q, run_id, again_scope, first_scope), a.executed
),

times AS (
  SELECT
    columns!(r, run_id, host_id, op_name),
    p.place,
    SUM(COALESCE(r.op_self_ps, r.self_ps)) AS op_ps
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE r.is_op AND r.layer = 'compute'
  GROUP BY columns!(r, run_id, host_id, op_name), p.place
),

places AS (
  SELECT columns!(t, run_id, host_id, place), SUM(t.op_ps) AS all_ps
  FROM times AS t
  GROUP BY columns!(t, run_id, host_id, place)
),

lines AS (
  SELECT l.run_id, l.op_name, MIN(l.file) AS op_file, MIN(l.line) AS on_line
  FROM op_line AS l
  GROUP BY l.run_id, l.op_name
),

ran AS (
  SELECT
    columns!(t, run_id, host_id, place),
    columns!(s, again_scope, first_scope),
    t.op_ps AS again_ps,
    u.op_ps AS first_ps,
    columns!(l, op_file, on_line),
    ROW_NUMBER() OVER (
      PARTITION BY columns!(t, run_id, host_id, place), columns!(s, again_scope, first_scope)
      ORDER BY nulls_last!(t.op_ps DESC, t.op_name)
    ) AS position
  FROM same AS s
  INNER JOIN times AS t ON t.run_id = s.run_id AND t.op_name = s.again_op
  INNER JOIN times AS u
    ON u.run_id = t.run_id AND u.host_id = t.host_id AND u.place = t.place AND u.op_name = s.first_op
  LEFT JOIN lines AS l ON l.run_id = t.run_id AND l.op_name = t.op_name
),

found AS (
  SELECT
    columns!(r, run_id, host_id, place, again_scope, first_scope),
    COUNT(*) AS op_count,
    sum!(r.again_ps) AS second_ps,
    SUM(r.first_ps) AS other_ps,
    MIN(CASE WHEN r.position = 1 THEN r.op_file END) AS file,
    MIN(CASE WHEN r.position = 1 THEN r.on_line END) AS line
  FROM ran AS r
  GROUP BY columns!(r, run_id, host_id, place, again_scope, first_scope)
)

SELECT
  CASE WHEN f.second_ps * 4 >= p.all_ps THEN 'medium' ELSE 'low' END AS severity,
  f.second_ps AS impact_ps,
  columns!(f, run_id, host_id, place),
  share!(f.second_ps, p.all_ps) AS share,
  f.again_scope AS again,
  f.first_scope AS first,
  f.op_count AS ops,
  columns!(f, file, line)
FROM found AS f
INNER JOIN places AS p ON p.run_id = f.run_id AND p.host_id = f.host_id AND p.place = f.place
WHERE
  f.second_ps * 20 >= p.all_ps
  AND (f.second_ps < f.other_ps OR (f.second_ps = f.other_ps AND f.again_scope > f.first_scope))
ORDER BY nulls_last!(f.second_ps DESC, f.run_id, f.host_id, f.place, f.again_scope, f.first_scope)
