-- Input is late on one rank only
--
-- question: Does a rank wait for its input clearly longer than the other ranks of its run?
-- reads: rank_part, rank_source
-- severity: high when the difference is 20 % of its step, medium from 10 %, low from 5 %
-- impact: {participant} waits {input_ps} of each step for input, {others:the other rank|the others} {others_ps}
--   on average. Ranks that train together all wait for it: {mean_more_ps} of each step, {impact_ps} in all.
-- action: Look at what differs for this rank: the size of its files, the disk or network it reads from, other load on
--   its host, its number of readers. Spread files by bytes, not by number. `stepscope pipeline` shows the stage that
--   limits.
-- weakened_by: lost, capped, truncated, no-steps
-- reasoning: Input that is slow on all ranks needs a faster pipeline. Input that is slow on one rank delays all of
--   them equally, because they meet in each step; the fix is on that host.
-- formula: difference = mean of the label input in its steps - mean of the other ranks' means; reported when it is 5 %
--   of its mean step and its input at least 1.5 times that of the others, from three steps; impact = difference x steps.
-- columns:
--   impact_ps | ps | Could be saved | difference to the other ranks, over its steps
--   run_id | text | Run | name of the run
--   participant | text | Rank | rank whose input is late
--   host_id | text | Host | its host
--   others | int | Other ranks | ranks that it is compared with
--   steps | int | Steps | its steps that averages include
--   step_ps | ps | Mean step | their mean duration
--   input_ps | ps | Input | waiting for input in a step, on average
--   others_ps | ps | Others | the same on the other ranks
--   mean_more_ps | ps | More | the difference
WITH hosts AS (
  SELECT r.run_id, r.participant, MIN(r.host_id) AS first_host
  FROM rank_source AS r
  GROUP BY r.run_id, r.participant
)

SELECT
  CASE
    WHEN p.part_ps - p.others_ps >= 0.2 * p.step_ps THEN 'high'
    WHEN p.part_ps - p.others_ps >= 0.1 * p.step_ps THEN 'medium'
    ELSE 'low'
  END AS severity,
  CAST((p.part_ps - p.others_ps) * p.steps AS BIGINT) AS impact_ps,
  columns!(p, run_id, participant),
  h.first_host AS host_id,
  p.ranks - 1 AS others,
  columns!(p, steps, step_ps),
  p.part_ps AS input_ps,
  p.others_ps,
  p.part_ps - p.others_ps AS mean_more_ps
FROM rank_part AS p
INNER JOIN hosts AS h ON h.run_id = p.run_id AND h.participant = p.participant
WHERE
  p.label = 'input'
  AND p.others_ps IS NOT NULL
  AND p.steps >= 3
  AND p.part_ps - p.others_ps >= 0.05 * p.step_ps
  AND p.part_ps >= 1.5 * p.others_ps
  AND p.part_ps > p.others_ps
ORDER BY nulls_last!(impact_ps DESC, p.run_id, p.participant)
