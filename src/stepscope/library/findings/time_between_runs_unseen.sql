-- What lies between the runs was not recorded
--
-- question: How much time lies between recorded runs of a session, of which their recordings show nothing?
-- reads: run_gap, source
-- severity: medium where five times as much time lies between runs as in them, else low
-- impact: On average {mean_gap_ps} lie between a recorded run and the next, of which nothing was recorded: the
--   program's own Python, feeding, saving the recording, and what an input pipeline makes meanwhile.
-- action: {advice}
-- weakened_by: lost, truncated, no-steps
-- reasoning: A recording of Session.run begins and ends inside of the call. What the loop does between two calls makes
--   each of its steps longer, and no share of a run tells of it.
-- formula: means over runs that averages include, whose numbers follow the number of a run that was recorded as well;
--   reported where the time between is at least a quarter of the runs; impact = that time.
-- columns:
--   impact_ps | ps | Between | time between these runs, added up
--   run_id, host_id
--   mean_run_ps | ps | Run | mean duration of a run that another follows
--   mean_gap_ps | ps | Gap | mean time from the end of one to the begin of the next
--   gaps | int | Gaps | how many
--   advice | text | Advice | how to record that time
WITH sums AS (
  SELECT
    columns!(g, run_id, host_id),
    COUNT(*) AS number,
    SUM(g.gap_ps) AS gap_sum,
    SUM(g.dur_ps) AS run_sum
  FROM run_gap AS g
  WHERE g.averaged
  GROUP BY columns!(g, run_id, host_id)
),

recorded AS (
  SELECT o.run_id, o.host_id, COUNT(*) AS captures
  FROM source AS o
  WHERE o.kind = 'capture'
  GROUP BY o.run_id, o.host_id
)

SELECT
  CASE WHEN s.gap_sum >= 5 * s.run_sum THEN 'medium' ELSE 'low' END AS severity,
  CAST(s.gap_sum AS BIGINT) AS impact_ps,
  columns!(s, run_id, host_id),
  mean!(s.run_sum, s.number) AS mean_run_ps,
  mean!(s.gap_sum, s.number) AS mean_gap_ps,
  CAST(s.number AS BIGINT) AS gaps,
  CASE
    WHEN r.captures IS NULL
      THEN CONCAT(
        'Time the loop without tracing it: `stepscope record -- python …` does, and shows where that time goes and ',
        'how much longer tracing makes a run.'
      )
    ELSE CONCAT(
      'Let the program run for longer: steps are timed after those that are traced in full, and it ended before. ',
      'Or record it with `--no-run-metadata`, which traces none.'
    )
  END AS advice
FROM sums AS s
LEFT JOIN recorded AS r ON r.run_id = s.run_id AND r.host_id = s.host_id
WHERE runs_apart!(s.gap_sum, s.run_sum)
ORDER BY nulls_last!(impact_ps DESC, s.run_id, s.host_id)
