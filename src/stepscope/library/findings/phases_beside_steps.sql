-- Steps wait while an Estimator does other work
--
-- question: How much of the time does an Estimator spend on evaluation and the like, beside the steps?
-- reads: step
-- severity: high from half of the time on, medium from a fifth
-- impact: {phase}, with the sessions made for it and after it, takes {share} of the time on {host_id}, from the end of its
--   first round to the end of the last: {mean_ps} a round, {impact_ps} in all.
-- action: {advice}
-- weakened_by: lost, truncated
-- reasoning: An Estimator that evaluates while it trains builds another graph, restores the checkpoint and runs another
--   session, and no step of the training goes on meanwhile. How often it does so is a setting of the program.
-- formula: rounds between two steps, of which a recorder saw begin and end; from the end of the first to that of the
--   last, so that as much of the steps counts as lies before each round; impact = all rounds of a kind but the first;
--   reported from 0.1 of that time.
-- columns:
--   impact_ps | ps | Beside steps | time of these rounds
--   run_id, host_id
--   phase | text | Phase | what the Estimator does
--   rounds | int | Rounds | how often
--   mean_ps | ps | Mean | mean duration of a round
--   share | ratio | Share | part of the time from the end of the first round to the end of the last
--   advice | text | Advice | what to change
WITH phases AS (
  SELECT
    columns!(s, run_id, host_id, kind, dur_ps),
    s.ts_ps + s.dur_ps AS end_ps,
    ROW_NUMBER() OVER (
      PARTITION BY s.run_id, s.host_id, s.source_id, s.kind ORDER BY nulls_last!(s.ts_ps, s.id)
    ) AS place,
    s.source_id
  FROM step AS s
  WHERE s.recovered_from = 'estimator'
),

sources AS (
  SELECT
    columns!(p, run_id, host_id, source_id, kind),
    sum_where!(p.place > 1, p.dur_ps) AS rounds_ps,
    sum_where!(p.place > 1, 1) AS again,
    MAX(p.end_ps) - MIN(p.end_ps) AS passed_ps
  FROM phases AS p
  GROUP BY columns!(p, run_id, host_id, source_id, kind)
),

sums AS (
  SELECT
    columns!(o, run_id, host_id, kind),
    SUM(o.rounds_ps) AS all_rounds_ps,
    SUM(o.again) AS all_rounds,
    SUM(o.passed_ps) AS all_passed_ps
  FROM sources AS o
  GROUP BY columns!(o, run_id, host_id, kind)
)

SELECT
  CASE
    WHEN s.all_rounds_ps * 2 >= s.all_passed_ps THEN 'high'
    WHEN s.all_rounds_ps * 5 >= s.all_passed_ps THEN 'medium'
    ELSE 'low'
  END AS severity,
  CAST(s.all_rounds_ps AS BIGINT) AS impact_ps,
  columns!(s, run_id, host_id),
  CASE s.kind
    WHEN 'eval' THEN 'Evaluation'
    WHEN 'predict' THEN 'Prediction'
    WHEN 'export' THEN 'Exporting'
    ELSE 'Training'
  END AS phase,
  CAST(s.all_rounds AS BIGINT) AS rounds,
  mean!(s.all_rounds_ps, s.all_rounds) AS mean_ps,
  share!(s.all_rounds_ps, s.all_passed_ps) AS share,
  CASE s.kind
    WHEN 'eval' THEN CONCAT(
      'Evaluate less often, or fewer batches: `throttle_secs` and `steps` of the EvalSpec say so, and an Estimator ',
      'evaluates no more often than it saves checkpoints (`save_checkpoints_steps` or `_secs` of its RunConfig).'
    )
    ELSE CONCAT(
      'Do it less often, or for more batches in each call: every call builds its graph and restores the checkpoint ',
      'anew.'
    )
  END AS advice
FROM sums AS s
WHERE s.all_rounds_ps * 10 >= s.all_passed_ps AND s.all_rounds_ps > 0
ORDER BY nulls_last!(impact_ps DESC, s.run_id, s.host_id, s.kind)
