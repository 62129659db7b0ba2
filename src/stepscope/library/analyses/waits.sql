-- Waits
--
-- question: What do threads and streams wait for, and how much of the steps is that?
-- reads: rollup_op, step_wait, step_window, step
-- notes: input: the next batch; receive: a tensor from another device or host; device: the host blocks
--   until a device is done; stream: a stream waits for another one; peers: other processes of the job.
--   total_ps adds up slices, so threads that wait at once count each; in_steps_ps is the union of the
--   waits on threads, within the steps that averages include, and share its part of these steps.
-- weakened_by: lost, capped, truncated, missing
-- chart: bar x=name y=total_ps
-- columns:
--   wait | text | Waits for | input, receive, device, stream or peers
--   name | text | Slice | name of the slices
--   slices | int | Count | how many
--   total_ps | ps | Total | their durations, added up
--   mean_ps | ps | Mean | mean duration
--   max_ps | ps | Longest | longest duration
--   in_steps_ps | ps | In steps | union of all waits of this kind within steps
--   share | ratio | Share of steps | that union as part of the steps
WITH named AS (
  SELECT
    columns!(w, wait, name),
    SUM(w.slices) AS number,
    SUM(w.total_ps) AS sum_dur_ps,
    MAX(w.max_ps) AS max_dur_ps
  FROM rollup_op AS w
  WHERE w.wait IS NOT NULL
  GROUP BY w.wait, w.name
),

kinds AS (
  SELECT p.wait, SUM(p.waited_ps) AS union_ps
  FROM step_wait AS p
  INNER JOIN step AS s ON s.id = p.step_id
  WHERE s.averaged
  GROUP BY p.wait
),

spans AS (
  SELECT SUM(v.steps_ps) AS all_ps
  FROM step_window AS v
)

SELECT
  columns!(n, wait, name),
  CAST(n.number AS BIGINT) AS slices,
  bounded!(n.sum_dur_ps) AS total_ps,
  mean!(n.sum_dur_ps, n.number) AS mean_ps,
  n.max_dur_ps AS max_ps,
  CAST(COALESCE(k.union_ps, 0) AS BIGINT) AS in_steps_ps,
  share!(COALESCE(k.union_ps, 0), a.all_ps) AS share
FROM named AS n
CROSS JOIN spans AS a
LEFT JOIN kinds AS k ON k.wait = n.wait
ORDER BY nulls_last!(n.sum_dur_ps DESC, n.wait, n.name)
