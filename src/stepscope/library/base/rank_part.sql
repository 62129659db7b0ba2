-- Parts of the steps of each rank, on average
--
-- question: What does a step of each rank go to, and by how much is that more than on the other ranks?
-- reads: rank_source, step, step_part
-- notes: Over the steps that averages include. The others are all other ranks of the run, each with its own mean.
-- columns:
--   run_id | text | Run | name of the run
--   participant | text | Rank | which rank
--   label | text | Label | input, compile, compute, communication, copy, dispatch, setup, python, wait, idle or unknown
--   steps | int | Steps | steps of the rank
--   ranks | int | Ranks | ranks of the run that have steps
--   step_ps | ps | Mean step | mean duration of a step
--   part_ps | ps | Mean | time of a step that counts to the label, on average
--   hidden_ps | ps | Mean hidden | the same hidden under another label
--   others_ps | ps | Others' mean | the same on the other ranks; NULL where there are none
WITH steps_of AS (
  SELECT
    columns!(r, run_id, participant),
    COUNT(*) AS number,
    CAST(SUM(s.dur_ps) AS DOUBLE) / COUNT(*) AS mean_dur_ps,
    COUNT(*) OVER (PARTITION BY r.run_id) AS ranks
  FROM rank_source AS r
  INNER JOIN step AS s ON s.source_id = r.source_id
  WHERE s.averaged
  GROUP BY r.run_id, r.participant
),

labels AS (
  SELECT p.label
  FROM step_part AS p
  GROUP BY p.label
),

sums AS (
  SELECT
    columns!(r, run_id, participant),
    p.label,
    SUM(p.dur_ps) AS part_sum,
    SUM(p.hidden_ps) AS hidden_sum
  FROM rank_source AS r
  INNER JOIN step AS s ON s.source_id = r.source_id
  INNER JOIN step_part AS p ON p.step_id = s.id
  WHERE s.averaged
  GROUP BY r.run_id, r.participant, p.label
),

means AS (
  SELECT
    columns!(c, run_id, participant),
    l.label,
    columns!(c, number, ranks),
    whole!(c.mean_dur_ps) AS step_ps,
    mean!(COALESCE(s.part_sum, 0), c.number) AS part_ps,
    mean!(COALESCE(s.hidden_sum, 0), c.number) AS under_ps
  FROM steps_of AS c
  CROSS JOIN labels AS l
  LEFT JOIN sums AS s ON s.run_id = c.run_id AND s.participant = c.participant AND s.label = l.label
)

SELECT
  columns!(m, run_id, participant, label),
  m.number AS steps,
  columns!(m, ranks, step_ps, part_ps),
  m.under_ps AS hidden_ps,
  mean!(
    SUM(m.part_ps) OVER (PARTITION BY m.run_id, m.label) - m.part_ps, NULLIF(m.ranks - 1, 0)
  ) AS others_ps
FROM means AS m
