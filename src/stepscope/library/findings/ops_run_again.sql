-- Several runs of a session in a step compute the same ops
--
-- question: How much of a step do ops take that another run of the session in the same step has computed before?
-- reads: step, rollup_op, track_place
-- severity: medium from a quarter of the time of all ops, else low
-- impact: A step makes {session_runs} {session_runs:run|runs} of the session, and ops that one of them computed run again
--   in others: {share} of the time of all ops, {impact_ps}[, {op_share} of it in {op}].
-- action: Where these runs are fed the same, fetch all in one call of Session.run: a list of the train op, the loss and
--   the metrics. What several fetches need is computed once. A metric is then of the variables before the update.
-- notes: Of steps whose runs were all recorded into one file. Ops of loops in the graph are left out: they run often in one
--   run.
-- weakened_by: lost, capped, truncated
-- reasoning: Each run computes what its fetches need, and keeps nothing for the next one. To ask for the loss after the
--   update, and then for each metric, computes the model each time. Whether runs are fed the same, no recording tells.
-- formula: per file with at least two begins of a run (_SOURCE), ops that ran at least twice and at most so often; again =
--   self times x (runs of the op - 1) / runs of the op; share = their sum / self times of all ops that compute. Reported
--   from 0.1.
-- columns:
--   impact_ps | ps | Again | self times of all but the first run of these ops, added up
--   run_id, host_id
--   session_runs | int | Runs | the most runs of the session in a step
--   op | text | Op | the op with most of that time
--   op_share | ratio | Of that | its part of it
--   share | ratio | Share | part of the time of all ops
WITH files AS (
  SELECT columns!(s, run_id, host_id, source_id)
  FROM step AS s
  WHERE s.source_id IS NOT NULL
  GROUP BY columns!(s, run_id, host_id, source_id)
  HAVING COUNT(*) = 1 AND MIN(CASE WHEN s.recovered_from = 'file' THEN 1 ELSE 0 END) = 1
),

begins AS (
  SELECT r.source_id, SUM(r.slices) AS begun
  FROM rollup_op AS r
  WHERE r.op_name = '_SOURCE'
  GROUP BY r.source_id
),

ops AS (
  SELECT
    columns!(f, run_id, host_id, source_id),
    r.op_name,
    SUM(r.slices) AS number,
    SUM(COALESCE(r.op_self_ps, r.self_ps)) AS own_ps
  FROM files AS f
  INNER JOIN rollup_op AS r ON r.source_id = f.source_id
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE r.layer = 'compute' AND r.op_name <> '_SOURCE' AND p.place IN ('device', 'host')
  GROUP BY columns!(f, run_id, host_id, source_id), r.op_name
),

again AS (
  SELECT
    columns!(o, run_id, host_id, op_name, own_ps),
    b.begun,
    CASE
      WHEN o.number BETWEEN 2 AND b.begun AND o.op_name NOT LIKE '%while%'
        THEN CAST(o.own_ps AS DOUBLE) * (o.number - 1) / o.number
      ELSE 0
    END AS again_ps
  FROM ops AS o
  INNER JOIN begins AS b ON b.source_id = o.source_id
),

by_op AS (
  SELECT
    columns!(a, run_id, host_id, op_name),
    SUM(a.own_ps) AS op_ps,
    SUM(a.again_ps) AS op_again_ps,
    MAX(a.begun) AS most_begun
  FROM again AS a
  GROUP BY columns!(a, run_id, host_id, op_name)
),

ranked AS (
  SELECT
    columns!(o, run_id, host_id, op_name, op_ps, op_again_ps, most_begun),
    ROW_NUMBER() OVER (
      PARTITION BY o.run_id, o.host_id ORDER BY nulls_last!(o.op_again_ps DESC, o.op_name)
    ) AS place_in_list
  FROM by_op AS o
),

sums AS (
  SELECT
    columns!(r, run_id, host_id),
    SUM(r.op_ps) AS all_ps,
    SUM(r.op_again_ps) AS all_again_ps,
    MAX(r.op_again_ps) AS most_ps,
    MAX(r.most_begun) AS runs_begun,
    MAX(CASE WHEN r.place_in_list = 1 THEN r.op_name END) AS longest
  FROM ranked AS r
  GROUP BY columns!(r, run_id, host_id)
)

SELECT
  CASE WHEN s.all_again_ps * 4 >= s.all_ps THEN 'medium' ELSE 'low' END AS severity,
  whole!(s.all_again_ps) AS impact_ps,
  columns!(s, run_id, host_id),
  CAST(s.runs_begun AS BIGINT) AS session_runs,
  s.longest AS op,
  share!(s.most_ps, s.all_again_ps) AS op_share,
  share!(s.all_again_ps, s.all_ps) AS share
FROM sums AS s
WHERE s.runs_begun >= 2 AND s.all_again_ps * 10 >= s.all_ps AND s.all_again_ps > 0
ORDER BY nulls_last!(impact_ps DESC, s.run_id, s.host_id)
