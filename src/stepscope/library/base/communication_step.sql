-- Communication of each step, exposed and hidden
--
-- question: How much communication does each step of each rank have, and does compute hide it?
-- reads: rank_source, step, step_part, arrival
-- notes: Steps without communication are left out. A source of several devices counts as one rank.
-- columns:
--   run_id
--   participant | text | Rank | rank, or host
--   host_id
--   source_id | int | Source | source of the step
--   step_id | int | Step row | row of the view step
--   step | int | Step | number of the step
--   ts_ps | ps | Start | its start, from the capture's origin
--   averaged | bool | In averages | false when averages leave it out
--   dur_ps | ps | Duration | its duration
--   exposed_ps | ps | Exposed | time that counts to communication
--   hidden_ps | ps | Hidden | communication while the time counts to something else
--   wait_ps | ps | Waits | waiting for later ranks in its collectives, added up over them
--   seen_ps | ps | Seen on others | durations of those collectives
WITH whose AS (
  SELECT
    r.source_id,
    MIN(r.participant) AS first_name,
    COUNT(*) AS number
  FROM rank_source AS r
  GROUP BY r.source_id
),

talks AS (
  SELECT
    p.step_id AS of_step,
    SUM(p.dur_ps) AS shown,
    SUM(p.hidden_ps) AS under
  FROM step_part AS p
  WHERE p.label = 'communication'
  GROUP BY p.step_id
),

waits AS (
  SELECT
    columns!(a, source_id, step),
    SUM(a.wait_ps) AS waited,
    SUM(a.wait_ps + a.transfer_ps) AS taken
  FROM arrival AS a
  GROUP BY a.source_id, a.step
)

SELECT
  s.run_id,
  CASE WHEN w.number = 1 THEN w.first_name ELSE s.host_id END AS participant,
  columns!(s, host_id, source_id),
  s.id AS step_id,
  columns!(s, step, ts_ps, averaged, dur_ps),
  CAST(t.shown AS BIGINT) AS exposed_ps,
  CAST(t.under AS BIGINT) AS hidden_ps,
  CAST(COALESCE(g.waited, 0) AS BIGINT) AS wait_ps,
  CAST(COALESCE(g.taken, 0) AS BIGINT) AS seen_ps
FROM step AS s
INNER JOIN talks AS t ON t.of_step = s.id
LEFT JOIN whose AS w ON w.source_id = s.source_id
LEFT JOIN waits AS g ON g.source_id = s.source_id AND g.step = s.step
WHERE t.shown + t.under > 0
