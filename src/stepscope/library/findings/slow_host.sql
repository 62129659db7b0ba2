-- One host is slower than the others
--
-- question: In a run of several hosts, are the steps of one clearly longer?
-- reads: step
-- severity: high from 1.5 times the fastest host's mean step, medium from 1.2 times
-- impact: Steps on {host_id} take {mean_ps} on average, {times} times as long as on the fastest of {hosts}
--   hosts. Hosts that work in step wait for the slowest.
-- action: Compare the two hosts in the view `op_sum`, which has a row for each host and op. Look for other
--   load on the machine, a slower disk, or more work in its share of the data.
-- weakened_by: lost, capped, truncated, no-steps
-- reasoning: Hosts that train together meet in each step at a collective or at the parameter servers, and
--   all wait for the last. The mean step of a slow host is therefore what all of them pay, apart from its
--   own waiting. Only hosts with at least three averaged steps are compared.
-- formula: times = mean step of the host / shortest mean step of the run's hosts; reported from 1.2, high
--   from 1.5; impact = (mean - shortest mean) x its number of steps.
-- columns:
--   impact_ps | ps | Slower by | mean step above that of the fastest host, times the steps
--   run_id | text | Run | name of the run
--   host_id | text | Host | the slower host
--   hosts | int | Hosts | hosts of the run that have steps
--   steps | int | Steps | steps of this host
--   mean_ps | ps | Mean | its mean step
--   times | float | Times | its mean step over that of the fastest host
WITH host_steps AS (
  SELECT s.run_id, s.host_id, COUNT(*) AS number, CAST(SUM(s.dur_ps) AS DOUBLE) / COUNT(*) AS mean_dur_ps
  FROM step AS s
  WHERE s.averaged
  GROUP BY s.run_id, s.host_id
),

runs AS (
  SELECT h.run_id, COUNT(*) AS hosts, MIN(h.mean_dur_ps) AS least_ps
  FROM host_steps AS h
  GROUP BY h.run_id
)

SELECT
  CASE WHEN h.mean_dur_ps >= 1.5 * r.least_ps THEN 'high' ELSE 'medium' END AS severity,
  whole!((h.mean_dur_ps - r.least_ps) * h.number) AS impact_ps,
  columns!(h, run_id, host_id),
  r.hosts,
  h.number AS steps,
  whole!(h.mean_dur_ps) AS mean_ps,
  h.mean_dur_ps / NULLIF(r.least_ps, 0.0) AS times
FROM host_steps AS h
INNER JOIN runs AS r ON r.run_id = h.run_id
WHERE r.hosts >= 2 AND h.mean_dur_ps >= 1.2 * r.least_ps AND h.number >= 3
ORDER BY nulls_last!(impact_ps DESC, h.run_id, h.host_id)
