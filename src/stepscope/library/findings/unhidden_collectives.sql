-- Communication that no compute hides
--
-- question: How much of the steps is communication during which nothing is computed?
-- reads: communication_step, step, rollup_op, slice
-- severity: high from 30 % of the steps, medium from 10 %
-- impact: {exposed_share} of the step time of {participant} is communication that no compute hides: {mean_exposed_ps}
--   of each step, {impact_ps} in all[; {mean_hidden_ps} more are hidden]. {waits}[ {tensor}, of {tensor_bytes}, takes
--   {tensor_share} of that time.]
-- action: {advice}
-- weakened_by: lost, capped, truncated, no-steps
-- reasoning: Communication under compute costs nothing; what is left over makes every step longer. Part of it is not
--   the network but waiting for the last rank, which a faster network does not shorten.
-- formula: exposed_share = communication in step_part / duration of the averaged steps; reported from 0.1, high from
--   0.3; receiving tensors counts as waiting where half of its time or more goes to tensors of less than 100 kB;
--   wait_share = waits / durations of the collectives that several ranks were seen in.
-- columns:
--   impact_ps | ps | Could be saved | exposed communication of the averaged steps
--   run_id | text | Run | name of the run
--   participant | text | Rank | rank, or host
--   host_id | text | Host | its host
--   steps | int | Steps | steps that averages include
--   exposed_share | ratio | Share of steps | exposed communication as part of the steps
--   mean_exposed_ps | ps | Exposed | exposed communication of a step, on average
--   mean_hidden_ps | ps | Hidden | communication of a step under compute, on average; NULL where there is none
--   wait_share | ratio | Waiting | waiting as part of its time in collectives; NULL where no other rank was seen in one
--   waits | text | Waiting for others | what part of it waits for later ranks, as a sentence
--   tensor | text | Tensor | of those that TensorFlow's processes take from each other, the one that takes longest
--   tensor_bytes | bytes | Its bytes | the most that were taken of it at once
--   tensor_share | ratio | Its share | of the time in which such tensors are taken, added up
--   advice | text | Advice | what to do
WITH all_steps AS (
  SELECT s.source_id, COUNT(*) AS number, SUM(s.dur_ps) AS whole_ps
  FROM step AS s
  WHERE s.averaged
  GROUP BY s.source_id
),

talking AS (
  SELECT
    columns!(c, run_id, participant, host_id, source_id),
    SUM(c.exposed_ps) AS shown,
    SUM(c.hidden_ps) AS under,
    SUM(c.wait_ps) AS waited,
    SUM(c.seen_ps) AS taken
  FROM communication_step AS c
  WHERE c.averaged
  GROUP BY columns!(c, run_id, participant, host_id, source_id)
),

-- TensorFlow's processes take tensors from each other: from parameter servers, and back. Steps may be of another
-- source, which has no ops.
received AS (
  SELECT
    r.run_id AS in_run,
    r.host_id AS in_host,
    arg!(s.args_json, tensor) AS tensor_name,
    TRY_CAST(arg!(s.args_json, bytes) AS BIGINT) AS tensor_bytes,
    s.dur_ps AS took_ps
  FROM rollup_op AS r
  INNER JOIN slice AS s ON s.rollup_id = r.id
  WHERE r.name = 'RecvTensor'
),

by_tensor AS (
  SELECT
    columns!(v, in_run, in_host, tensor_name),
    MAX(v.tensor_bytes) AS most_bytes,
    SUM(v.took_ps) AS tensor_ps,
    SUM(CASE WHEN v.tensor_bytes < 100000 THEN v.took_ps ELSE 0 END) AS small_ps
  FROM received AS v
  GROUP BY columns!(v, in_run, in_host, tensor_name)
),

ordered AS (
  SELECT
    columns!(b, in_run, in_host, tensor_name, most_bytes, tensor_ps, small_ps),
    CAST(ROW_NUMBER() OVER (
      PARTITION BY b.in_run, b.in_host
      ORDER BY nulls_last!(b.tensor_ps DESC, b.tensor_name)
    ) AS BIGINT) AS position
  FROM by_tensor AS b
),

taking AS (
  SELECT
    columns!(o, in_run, in_host),
    1 AS from_others,
    CASE WHEN 2 * SUM(o.small_ps) >= SUM(o.tensor_ps) THEN 1 ELSE 0 END AS mostly_small,
    MAX(CASE WHEN o.position = 1 THEN o.tensor_name END) AS first_tensor,
    share!(MAX(CASE WHEN o.position = 1 THEN o.tensor_ps END), SUM(o.tensor_ps)) AS first_share,
    MAX(CASE WHEN o.position = 1 THEN o.most_bytes END) AS first_bytes
  FROM ordered AS o
  GROUP BY columns!(o, in_run, in_host)
),

sums AS (
  SELECT
    columns!(t, run_id, participant),
    MAX(COALESCE(g.from_others, 0)) AS any_from_others,
    MAX(COALESCE(g.mostly_small, 0)) AS any_small,
    MAX(g.first_tensor) AS tensor_name,
    MAX(g.first_share) AS share_of_tensor,
    MAX(g.first_bytes) AS bytes_of_tensor,
    MIN(t.host_id) AS first_host,
    SUM(a.number) AS step_count,
    SUM(a.whole_ps) AS whole_sum,
    SUM(t.shown) AS shown_sum,
    SUM(t.under) AS under_sum,
    SUM(t.waited) AS waited_sum,
    SUM(t.taken) AS taken_sum
  FROM talking AS t
  INNER JOIN all_steps AS a ON a.source_id = t.source_id
  LEFT JOIN taking AS g ON g.in_run = t.run_id AND g.in_host = t.host_id
  GROUP BY t.run_id, t.participant
)

SELECT
  CASE WHEN s.shown_sum >= 0.3 * s.whole_sum THEN 'high' ELSE 'medium' END AS severity,
  CAST(s.shown_sum AS BIGINT) AS impact_ps,
  columns!(s, run_id, participant),
  s.first_host AS host_id,
  CAST(s.step_count AS BIGINT) AS steps,
  share!(s.shown_sum, s.whole_sum) AS exposed_share,
  mean!(s.shown_sum, s.step_count) AS mean_exposed_ps,
  NULLIF(mean!(s.under_sum, s.step_count), 0) AS mean_hidden_ps,
  share!(s.waited_sum, s.taken_sum) AS wait_share,
  CASE
    WHEN s.any_small = 1 THEN
      'RecvTensor takes tensors from other processes: most of its time goes to those of less than 100 kB, which wait '
      || 'until they are computed and sent.'
    WHEN s.any_from_others = 1
      THEN 'RecvTensor takes tensors from other processes, and waits where they are not computed yet.'
    WHEN s.taken_sum = 0 THEN 'No other rank was seen in its collectives, so waiting for others is not told apart.'
    WHEN s.waited_sum >= 0.5 * s.taken_sum THEN 'Most of its time in collectives is waiting for later ranks.'
    ELSE 'Less than half of its time in collectives is waiting for later ranks.'
  END AS waits,
  s.tensor_name AS tensor,
  s.bytes_of_tensor AS tensor_bytes,
  s.share_of_tensor AS tensor_share,
  CASE
    WHEN s.waited_sum >= 0.5 * s.taken_sum AND s.taken_sum > 0 THEN
      'Most of it waits for other ranks: find the one that arrives last (analysis `ranks`) before you '
      || 'look at the network.'
    WHEN s.any_small = 1 THEN
      'See what the processes that send these tensors do meanwhile, and whether they have cores enough. Make constants '
      || 'where they are used, and send few tensors instead of many.'
    WHEN s.any_from_others = 1 THEN
      'Let fewer bytes travel: spread variables evenly over the parameter servers (analysis `parameter_servers`), '
      || 'gather rows of large tables where the table is, send lower precision.'
    ELSE
      'Begin each collective as soon as its tensors are ready, while the backward pass goes on '
      || '(gradient buckets, XLA''s latency-hiding scheduler), send less (lower precision, sharding), or '
      || 'do more work between collectives.'
  END AS advice
FROM sums AS s
WHERE s.whole_sum > 0 AND s.shown_sum >= 0.1 * s.whole_sum
ORDER BY nulls_last!(impact_ps DESC, s.run_id, s.participant)
