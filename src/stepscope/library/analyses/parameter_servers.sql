-- Parameters on parameter servers
--
-- question: How are variables and the time of their ops spread over the parameter servers?
-- reads: tfprof_node
-- notes: A variable belongs to the server that its node is placed on. Nodes that ran on several devices are left out.
-- weakened_by: lost, capped, truncated, missing
-- chart: bar x=server y=parameters
-- columns:
--   run_id | text | Run | run of the sources
--   server | text | Server | device of the parameter server
--   variables | int | Variables | nodes with parameters; NULL where no graph tells their shapes
--   parameters | int | Parameters | elements of these
--   share | ratio | Share | part of all parameters on parameter servers of the run
--   times_mean | float | Of the mean | parameters over the mean of the run's servers
--   busy_ps | ps | Ops | time of all ops on it, added up
WITH placed AS (
  SELECT
    columns!(n, run_id, devices, self_params),
    n.self_cpu_ps + n.self_accelerator_ps AS op_ps
  FROM tfprof_node AS n
  WHERE n.view = 'scope' AND n.is_node AND n.devices LIKE '/job:ps/%' AND n.devices NOT LIKE '%|%'
),

servers AS (
  SELECT
    p.run_id,
    p.devices AS server,
    sum_where!(p.self_params > 0, 1) AS number,
    SUM(p.self_params) AS params_sum,
    SUM(p.op_ps) AS ops_sum,
    SUM(SUM(p.self_params)) OVER (PARTITION BY p.run_id) AS all_params,
    COUNT(*) OVER (PARTITION BY p.run_id) AS servers_seen
  FROM placed AS p
  GROUP BY p.run_id, p.devices
)

SELECT
  columns!(w, run_id, server),
  CASE WHEN w.all_params > 0 THEN CAST(w.number AS BIGINT) END AS variables,
  CASE WHEN w.all_params > 0 THEN CAST(w.params_sum AS BIGINT) END AS parameters,
  share!(w.params_sum, w.all_params) AS share,
  CAST(w.params_sum AS DOUBLE) * w.servers_seen / NULLIF(w.all_params, 0) AS times_mean,
  CAST(w.ops_sum AS BIGINT) AS busy_ps
FROM servers AS w
ORDER BY nulls_last!(w.run_id, parameters DESC, w.server)
