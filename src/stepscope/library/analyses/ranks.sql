-- Ranks side by side
--
-- question: How is the work spread over the ranks of a run, which of them do the others wait for, and how far are
--   their clocks apart?
-- reads: rank_source, rank_part, arrival, collective, clock_offset
-- notes: Means over the steps that averages include. A rank waits in a collective until the last one arrives; the
--   rank that waits least is the one that the others wait for. Columns about collectives count those that several
--   ranks are seen in and that end on all ranks at once. The critical path goes back from the last collective, each
--   time along the rank that arrived last.
-- weakened_by: lost, capped, truncated, missing
-- chart: bar x=participant y=compute_ps,communication_ps,input_ps
-- columns:
--   run_id | text | Run | name of the run
--   participant | text | Rank | rank-3 where the number is known, else the host; with the device where several devices of a source take part
--   host_id | text | Host | name of the host
--   collectives | int | Collectives | collectives with other ranks
--   times_last | int | Last | of these, those at which it arrives last
--   caused_ps | ps | Causes | by how much they would be done earlier if it had arrived with the rank before it
--   wait_ps | ps | Waits | time it waits in them for later ranks; waits at the same time count once
--   path_ps | ps | On the path | its time on the critical path over ranks, between collectives
--   residual_ps | ps | Clock error | error bar of its times on the common clock; 0 for devices of one source, NULL when unknown
--   steps | int | Steps | steps that averages include
--   step_ps | ps | Mean step | their mean duration
--   compute_ps | ps | Compute | time of a step that counts to it
--   communication_ps | ps | Communication | time of a step that counts to it: no compute hides it
--   hidden_ps | ps | Hidden | communication under compute, in a step
--   input_ps | ps | Input | time of a step that counts to it
WITH who AS (
  SELECT
    columns!(r, run_id, participant),
    MIN(r.host_id) AS first_host,
    COUNT(*) OVER (PARTITION BY r.run_id) AS number,
    MIN(MIN(r.source_id)) OVER (PARTITION BY r.run_id) AS least_source,
    MAX(MAX(r.source_id)) OVER (PARTITION BY r.run_id) AS most_source
  FROM rank_source AS r
  GROUP BY r.run_id, r.participant
),

parts AS (
  SELECT
    columns!(p, run_id, participant),
    MIN(p.steps) AS step_count,
    MIN(p.step_ps) AS mean_ps,
    MAX(CASE WHEN p.label = 'compute' THEN p.part_ps ELSE 0 END) AS compute_mean,
    MAX(CASE WHEN p.label = 'communication' THEN p.part_ps ELSE 0 END) AS communication_mean,
    MAX(CASE WHEN p.label = 'communication' THEN p.hidden_ps ELSE 0 END) AS hidden_mean,
    MAX(CASE WHEN p.label = 'input' THEN p.part_ps ELSE 0 END) AS input_mean
  FROM rank_part AS p
  GROUP BY p.run_id, p.participant
),

waits AS (
  SELECT
    columns!(a, run_id, participant),
    COUNT(*) AS times,
    sum_where!(a.is_last, 1) AS lasts,
    SUM(a.once_ps) AS waited,
    SUM(a.caused_ps) AS caused
  FROM arrival AS a
  GROUP BY a.run_id, a.participant
),

paths AS (
  SELECT c.run_id, c.participant, SUM(c.path_ps) AS path_sum
  FROM collective AS c
  WHERE c.path_ps IS NOT NULL
  GROUP BY c.run_id, c.participant
),

clocks AS (
  SELECT
    columns!(r, run_id, participant),
    CASE WHEN COUNT(*) = COUNT(k.residual_ps) THEN MAX(k.residual_ps) END AS most_error
  FROM rank_source AS r
  INNER JOIN clock_offset AS k ON k.source_id = r.source_id
  GROUP BY r.run_id, r.participant
)

SELECT
  columns!(w, run_id, participant),
  w.first_host AS host_id,
  COALESCE(a.times, 0) AS collectives,
  CAST(COALESCE(a.lasts, 0) AS BIGINT) AS times_last,
  CAST(a.caused AS BIGINT) AS caused_ps,
  CAST(a.waited AS BIGINT) AS wait_ps,
  CAST(t.path_sum AS BIGINT) AS path_ps,
  -- Devices of one source have one clock.
  CASE WHEN w.least_source = w.most_source THEN 0 ELSE k.most_error END AS residual_ps,
  COALESCE(p.step_count, 0) AS steps,
  p.mean_ps AS step_ps,
  p.compute_mean AS compute_ps,
  p.communication_mean AS communication_ps,
  p.hidden_mean AS hidden_ps,
  p.input_mean AS input_ps
FROM who AS w
LEFT JOIN parts AS p ON p.run_id = w.run_id AND p.participant = w.participant
LEFT JOIN waits AS a ON a.run_id = w.run_id AND a.participant = w.participant
LEFT JOIN paths AS t ON t.run_id = w.run_id AND t.participant = w.participant
LEFT JOIN clocks AS k ON k.run_id = w.run_id AND k.participant = w.participant
WHERE w.number > 1
ORDER BY nulls_last!(w.run_id, caused_ps DESC, w.participant)
