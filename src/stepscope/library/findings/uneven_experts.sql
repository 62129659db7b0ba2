-- One rank gets more than its share of an exchange
--
-- question: Do all-to-all exchanges of parts of different sizes give some ranks far more than others?
-- reads: collective
-- severity: high from twice the mean, medium from 1.5 times, low from 1.25 times
-- impact: {participant} gets {times_mean} times the mean of {ranks} ranks in {collectives}
--   {collectives:exchange|exchanges}: {elements} {elements:element|elements} each instead of {mean_elements}. What
--   comes after takes as long as on the rank that gets most.
-- action: Balance the experts: a higher weight of the balancing loss, a lower capacity factor, another placement of
--   the experts that get most. Without experts, deal out shards or embedding tables by what they receive.
-- weakened_by: lost, capped, truncated
-- reasoning: Tokens of a mixture of experts, or rows of sharded embeddings, are exchanged by an all-to-all whose parts
--   have the sizes that the data asks for. The rank that gets most computes longest, and all others wait for it at
--   the exchange back.
-- formula: elements = mean of elements_out of a rank over the exchanges of a group; times_mean = the most of a group's
--   ranks / mean of all its ranks; reported from 1.25, from four exchanges of each; impact = mean duration of the
--   exchange on this rank x (1 - 1 / times_mean) x exchanges: what an even exchange would spare, at least.
-- columns:
--   impact_ps | ps | Could be saved | part of the exchanges that an even one would not need
--   run_id | text | Run | name of the run
--   participant | text | Rank | rank that gets most
--   host_id | text | Host | its host
--   group_name | text | Group | process group; NULL where the recording tells none
--   ranks | int | Ranks | ranks of the group that were seen
--   collectives | int | Exchanges | exchanges of this rank
--   elements | int | Elements | elements that it gets in one, on average
--   mean_elements | int | Mean | the same over all ranks of the group
--   times_mean | float | Times the mean | the first over the second
WITH ranks_of AS (
  SELECT
    columns!(c, run_id, group_name, participant),
    MIN(c.host_id) AS first_host,
    COUNT(*) AS number,
    CAST(SUM(c.elements_out) AS DOUBLE) AS total_out,
    CAST(SUM(c.dur_ps) AS DOUBLE) AS total_dur
  FROM collective AS c
  WHERE c.kind = 'all_to_all_v' AND c.elements_out IS NOT NULL
  GROUP BY c.run_id, c.group_name, c.participant
),

means AS (
  SELECT
    columns!(r, run_id, group_name, participant, first_host, number, total_dur),
    mean!(r.total_out, r.number) AS mean_out
  FROM ranks_of AS r
),

beside AS (
  SELECT
    columns!(m, run_id, group_name, participant, first_host, number, total_dur, mean_out),
    COUNT(*) OVER (PARTITION BY m.run_id, m.group_name) AS ranks_seen,
    MIN(m.number) OVER (PARTITION BY m.run_id, m.group_name) AS least_number,
    SUM(m.mean_out) OVER (PARTITION BY m.run_id, m.group_name) AS sum_out,
    ROW_NUMBER() OVER (
      PARTITION BY m.run_id, m.group_name ORDER BY nulls_last!(m.mean_out DESC, m.participant)
    ) AS place
  FROM means AS m
)

SELECT
  CASE
    WHEN CAST(b.mean_out AS DOUBLE) * b.ranks_seen >= 2.0 * b.sum_out THEN 'high'
    WHEN CAST(b.mean_out AS DOUBLE) * b.ranks_seen >= 1.5 * b.sum_out THEN 'medium'
    ELSE 'low'
  END AS severity,
  whole!(
    CAST(b.total_dur AS DOUBLE) - CAST(b.total_dur AS DOUBLE) * b.sum_out / (CAST(b.mean_out AS DOUBLE) * b.ranks_seen)
  ) AS impact_ps,
  columns!(b, run_id, participant),
  b.first_host AS host_id,
  b.group_name,
  b.ranks_seen AS ranks,
  b.number AS collectives,
  b.mean_out AS elements,
  mean!(b.sum_out, b.ranks_seen) AS mean_elements,
  CAST(b.mean_out AS DOUBLE) * b.ranks_seen / NULLIF(b.sum_out, 0) AS times_mean
FROM beside AS b
WHERE
  b.place = 1
  AND b.ranks_seen > 1
  AND b.least_number >= 4
  AND b.mean_out > 0
  AND CAST(b.mean_out AS DOUBLE) * b.ranks_seen >= 1.25 * b.sum_out
ORDER BY nulls_last!(impact_ps DESC, b.run_id, b.group_name, b.participant)
