-- One op hides what is inside it
--
-- question: Does a fused op, a compiled cluster or a call take much of the time without showing its parts?
-- reads: rollup_op, track_place, slice, step, _instruction_slice
-- severity: medium from 50 % of the self time on its place, low from 20 %
-- impact: {op} ({op_type}) takes {impact_ps}, {share} of the time of {place} ops, and the recording does
--   not show what happens inside it.
-- action: An op is the smallest unit that this recording shows. Look inside with a finer one: an XPlane
--   capture (tf.profiler.experimental.start) shows the instructions of XLA clusters, and XLA_FLAGS with
--   --xla_dump_to writes what they were compiled to.
-- notes: Where a source has steps, only those that averages include count: in others, a cluster is compiled. Clusters,
--   functions and loops hide nothing in a source that has the instructions that they were compiled to.
-- weakened_by: lost, capped, truncated
-- reasoning: A timeline of ops shows nothing finer than an op. A compiled cluster, a function call, a loop
--   or a fused op is one bar whose inside was not recorded, so a list of slow ops ends at it. The remedy is
--   a finer recording, not a closer look at this one.
-- formula: share = self times of the op's runs in which ops take less than half of the time / self times of everything
--   on the same kind of place (device, host or launch), without waits; reported for clusters, calls, loops and fused
--   collectives from 0.2, medium from 0.5.
-- columns:
--   impact_ps | ps | Unseen | self time of the op
--   place | text | Place | device, host or launch
--   op | text | Op | name of the op
--   op_type | text | Op type | its type
--   share | ratio | Share | part of all self time on that kind of place, waits left out
--   runs | int | Runs | how often it ran
WITH types AS (
  SELECT r.op_type AS kind
  FROM rollup_op AS r
  WHERE r.is_op AND r.class NOT IN ('input', 'wait')
  GROUP BY r.op_type
),

closed_types AS (
  SELECT
    t.kind,
    CASE
      WHEN t.kind IN ('TRTEngineOp', 'HorovodAllreduce', 'NcclAllReduce', 'custom-call') THEN 'other'
      ELSE 'compiled'
    END AS closed
  FROM types AS t
  WHERE
    t.kind IN (
      'TRTEngineOp', 'HorovodAllreduce', 'NcclAllReduce', 'custom-call', '_XlaRun', 'XlaLaunch', '_XlaLaunch',
      'XlaLocalLaunch', 'PartitionedCall', 'StatefulPartitionedCall', 'While', 'StatelessWhile', 'If', 'StatelessIf',
      'TPUExecute', 'while', 'call', 'conditional'
    )
    OR t.kind LIKE 'cluster_%'
    OR t.kind LIKE '__inference_%'
),

closed_kinds AS (
  SELECT r.source_id, p.place
  FROM rollup_op AS r
  INNER JOIN closed_types AS t ON t.kind = r.op_type
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE r.is_op AND r.class NOT IN ('input', 'wait')
  GROUP BY r.source_id, p.place
),

sources AS (
  SELECT k.source_id AS of_source
  FROM closed_kinds AS k
  GROUP BY k.source_id
),

places AS (
  SELECT k.place AS of_place
  FROM closed_kinds AS k
  GROUP BY k.place
),

-- Of most recordings none: nothing hides anything there.
kinds AS (
  SELECT
    columns!(r, id, source_id),
    p.place,
    COALESCE(r.op_name, r.name) AS op,
    COALESCE(r.op_type, r.op_name, r.name) AS called,
    t.closed
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  INNER JOIN places AS q ON q.of_place = p.place
  LEFT JOIN closed_types AS t ON t.kind = r.op_type
  WHERE r.is_op AND r.class NOT IN ('input', 'wait')
),

shown AS (
  SELECT i.source_id AS shown_source
  FROM _instruction_slice AS i
  INNER JOIN sources AS o ON o.of_source = i.source_id
  GROUP BY i.source_id
),

steps AS (
  SELECT s.source_id AS of_source, s.step AS of_step, MAX(CASE WHEN s.averaged THEN 1 ELSE 0 END) AS kept
  FROM step AS s
  WHERE s.recovered_from <> 'whole_capture'
  GROUP BY s.source_id, s.step
),

stepped AS (
  SELECT s.of_source AS stepped_source
  FROM steps AS s
  GROUP BY s.of_source
),

counted AS (
  SELECT
    columns!(k, place, op, called),
    CASE WHEN k.closed = 'other' OR (k.closed = 'compiled' AND h.shown_source IS NULL) THEN 1 ELSE 0 END AS hides,
    s.dur_ps,
    COALESCE(s.op_self_ps, s.self_ps) AS own_ps
  FROM kinds AS k
  INNER JOIN slice AS s ON s.rollup_id = k.id
  LEFT JOIN shown AS h ON h.shown_source = k.source_id
  LEFT JOIN stepped AS d ON d.stepped_source = k.source_id
  LEFT JOIN steps AS a ON a.of_source = s.source_id AND a.of_step = s.step
  WHERE d.stepped_source IS NULL OR a.kept = 1
),

ops AS (
  SELECT
    columns!(c, place, op, called),
    sum_where!(c.hides = 1 AND c.own_ps * 2 >= c.dur_ps, c.own_ps) AS unseen_ps,
    sum_where!(c.hides = 1 AND c.own_ps * 2 >= c.dur_ps, 1) AS number,
    SUM(SUM(c.own_ps)) OVER (PARTITION BY c.place) AS place_ps
  FROM counted AS c
  GROUP BY c.place, c.op, c.called
)

SELECT
  CASE WHEN o.unseen_ps * 2 >= o.place_ps THEN 'medium' ELSE 'low' END AS severity,
  CAST(o.unseen_ps AS BIGINT) AS impact_ps,
  columns!(o, place, op),
  o.called AS op_type,
  share!(o.unseen_ps, o.place_ps) AS share,
  CAST(o.number AS BIGINT) AS runs
FROM ops AS o
WHERE o.unseen_ps * 5 >= o.place_ps AND o.unseen_ps > 0
ORDER BY nulls_last!(o.unseen_ps DESC, o.place, o.op, o.called)
