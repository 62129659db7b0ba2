-- The others wait for one rank
--
-- question: Do the other ranks wait for one rank more often than chance explains?
-- reads: arrival, collective, rank_part, clock_offset
-- severity: high when it causes a tenth of the time, medium from 3 %, else low
-- impact: {participant} arrives last at {times_last} of {collectives} {collectives:collective|collectives} of up to
--   {ranks} ranks, and causes {caused_share} of the waiting for a last rank. If it arrived with the rank before it,
--   they would be done {impact_ps} earlier, {share} of the time. {reason}
-- action: {advice}
-- weakened_by: lost, capped, truncated
-- notes: Judged by durations, so clocks play no part: all ranks leave such a collective together, and the shortest
--   part is that of the rank that came last. `late_ps` says the same by aligned clocks, where they tell it.
-- reasoning: A collective cannot end before its last rank arrives. What that rank does before costs every other rank
--   the same time, which shows there as a long collective: the network seems slow where a rank is.
-- formula: a collective costs the second shortest part minus the shortest, and that counts to the rank with the
--   shortest, once where several are under way; impact = what counts to the rank; reported from eight collectives,
--   when it exceeds by three standard deviations what would count to it if each rank of a collective were equally
--   likely the last, when three collectives or more matter in it ((sum of costs)^2 / sum of their squares), and when
--   the rank waits at least 0.5 % of the time between two collectives less than the others do; share = impact / time
--   from its first to its last collective.
-- columns:
--   impact_ps | ps | Causes | by how much collectives would be done earlier
--   run_id | text | Run | name of the run
--   participant | text | Rank | rank that the others wait for
--   host_id | text | Host | its host
--   ranks | int | Ranks | most ranks seen in its collectives
--   collectives | int | Collectives | its collectives that were seen on several ranks
--   times_last | int | Last | of these, those at which it arrives last
--   caused_share | ratio | Of all waiting | its part of what all last ranks cost in these collectives
--   share | ratio | Share | impact as part of the time
--   own_wait_ps | ps | Waits itself | its mean wait in a collective
--   others_wait_ps | ps | Others wait | mean wait of the others in the same collectives
--   late_ps | ps | Late by clock | how long after the first rank it arrives on average, by aligned clocks; NULL where the error of clocks may explain it
--   label | text | Spends more on | part of its steps that is longest beyond that of the other ranks; NULL when unknown
--   more_ps | ps | More in a step | by how much
--   reason | text | Reason | the same as a sentence
--   advice | text | Advice | what to do about it
WITH of_match AS (
  SELECT a.match_id, SUM(a.wait_ps) AS match_wait, SUM(a.caused_ps) AS match_caused
  FROM arrival AS a
  GROUP BY a.match_id
),

spans AS (
  SELECT c.run_id, c.participant, MIN(c.host_id) AS first_host, MAX(c.ts_ps + c.dur_ps) - MIN(c.ts_ps) AS span_ps
  FROM collective AS c
  GROUP BY c.run_id, c.participant
),

sums AS (
  SELECT
    columns!(a, run_id, participant),
    COUNT(*) AS number,
    MAX(a.seen) AS most_seen,
    sum_where!(a.is_last, 1) AS lasts,
    SUM(m.match_caused) AS all_caused,
    SUM(CAST(m.match_caused AS DOUBLE) / a.seen) AS chance,
    SUM(CAST(m.match_caused AS DOUBLE) * m.match_caused * (a.seen - 1) / (a.seen * a.seen)) AS variance,
    SUM(CAST(a.caused_ps AS DOUBLE) * a.caused_ps) AS squares,
    SUM(a.caused_ps) AS caused,
    SUM(a.wait_ps) AS own_wait,
    SUM(mean!(m.match_wait - a.wait_ps, (a.seen - 1))) AS others_wait
  FROM arrival AS a
  INNER JOIN of_match AS m ON m.match_id = a.match_id
  WHERE a.seen > 1
  GROUP BY a.run_id, a.participant
),

judged AS (
  SELECT
    columns!(s, run_id, participant),
    columns!(p, first_host, span_ps),
    columns!(s, number, most_seen, lasts, all_caused, caused, own_wait, others_wait)
  FROM sums AS s
  INNER JOIN spans AS p ON p.run_id = s.run_id AND p.participant = s.participant
  WHERE
    s.number >= 8
    AND s.caused - s.chance > 3.0 * SQRT(s.variance)
    AND CAST(s.caused AS DOUBLE) * s.caused >= 3.0 * s.squares
    AND s.others_wait - s.own_wait >= 0.005 * p.span_ps
    AND s.caused > 0
    AND p.span_ps > 0
),

by_clock AS (
  SELECT
    columns!(c, run_id, participant),
    CAST(SUM(c.late_ps) AS DOUBLE) / COUNT(*) AS late_mean,
    MAX(k.residual_ps) AS error_ps
  FROM collective AS c
  INNER JOIN clock_offset AS k ON k.source_id = c.source_id
  WHERE c.wait_ps IS NOT NULL AND c.late_ps IS NOT NULL
  GROUP BY c.run_id, c.participant
),

errors AS (
  SELECT k.run_id, MAX(k.residual_ps) AS most_error
  FROM clock_offset AS k
  GROUP BY k.run_id
),

more AS (
  SELECT
    columns!(p, run_id, participant, label),
    p.part_ps - p.others_ps AS beyond_ps,
    ROW_NUMBER() OVER (
      PARTITION BY p.run_id, p.participant ORDER BY nulls_last!(p.part_ps - p.others_ps DESC, p.label)
    ) AS place
  FROM rank_part AS p
  WHERE p.others_ps IS NOT NULL AND p.part_ps > p.others_ps AND p.label <> 'communication'
)

SELECT
  CASE
    WHEN r.caused >= 0.1 * r.span_ps THEN 'high'
    WHEN r.caused >= 0.03 * r.span_ps THEN 'medium'
    ELSE 'low'
  END AS severity,
  CAST(r.caused AS BIGINT) AS impact_ps,
  columns!(r, run_id, participant),
  r.first_host AS host_id,
  r.most_seen AS ranks,
  r.number AS collectives,
  CAST(r.lasts AS BIGINT) AS times_last,
  share!(r.caused, r.all_caused) AS caused_share,
  share!(r.caused, r.span_ps) AS share,
  mean!(r.own_wait, r.number) AS own_wait_ps,
  mean!(r.others_wait, r.number) AS others_wait_ps,
  CASE WHEN b.late_mean > 2.0 * e.most_error THEN whole!(b.late_mean) END AS late_ps,
  m.label,
  m.beyond_ps AS more_ps,
  CASE
    WHEN m.label IS NULL THEN 'Its steps do not show what takes it longer than the others.'
    WHEN m.label = 'input' THEN 'Its steps wait longer for input than those of the other ranks.'
    WHEN m.label = 'compute' THEN 'Its steps compute longer than those of the other ranks.'
    WHEN m.label = 'compile' THEN 'Its steps trace or compile longer than those of the other ranks.'
    WHEN m.label = 'copy' THEN 'Its steps copy longer than those of the other ranks.'
    WHEN m.label = 'python' THEN 'Its steps spend more time in Python than those of the other ranks.'
    WHEN m.label = 'dispatch' THEN 'Its steps launch longer than those of the other ranks.'
    WHEN m.label = 'wait' THEN 'Its steps sleep or wait for files longer than those of the other ranks.'
    WHEN m.label = 'idle' THEN 'Its accelerator is idle longer than those of the other ranks.'
    ELSE 'What its steps do longer than those of the other ranks was not recorded.'
  END AS reason,
  CASE
    WHEN m.label = 'input' THEN
      'Look at the input of this rank: its share of the files, its disk, other load on its host. '
      || '`stepscope pipeline` shows the stage that limits.'
    WHEN m.label = 'compute' THEN
      'Compare its ops with those of another rank in the view `op_sum`: more of them means more work '
      || 'in its share of data or model, the same ones longer mean a slower or throttled device.'
    WHEN m.label = 'compile' THEN
      'Find what compiles on this rank only: shapes of its share of the data that the others do not have.'
    WHEN m.label IN ('python', 'dispatch', 'wait') THEN
      'Look at what only this rank does between steps: logging, checkpoints, evaluation, garbage '
      || 'collection, other load on its host.'
    ELSE
      'Compare its steps with those of another rank in the analysis `ranks`, and record stacks on its '
      || 'host to see what it does before it arrives.'
  END AS advice
FROM judged AS r
LEFT JOIN by_clock AS b ON b.run_id = r.run_id AND b.participant = r.participant
LEFT JOIN errors AS e ON e.run_id = r.run_id
LEFT JOIN more AS m ON m.run_id = r.run_id AND m.participant = r.participant AND m.place = 1
ORDER BY nulls_last!(impact_ps DESC, r.run_id, r.participant)
