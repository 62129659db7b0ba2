-- An accelerator is idle for much of the time
--
-- question: Which accelerators have nothing to do for a good part of the window?
-- reads: device_sum, step, step_window
-- severity: high from 50 % idle, medium from 20 %; medium at most where no steps were found, or they cover less than
--   half of the window
-- impact: {device} is idle for {idle_share} of the window, whatever the host does meanwhile: {impact_ps} in all; the
--   longest gap is {longest_ps}.
-- action: `idle_gaps` shows what ends each gap and what the host waits for meanwhile. One long gap per step
--   points to the input or to a blocking call; very many short ones point to launches that come too late.
-- weakened_by: lost, capped, truncated, missing
-- reasoning: An accelerator costs money by the hour and is idle when nobody gives it work: the input is
--   late, the host blocks on a result, or launches come one by one. Its idle time is the gap left by the
--   union of everything it runs, on all its streams; adding streams up would hide gaps under work that
--   overlaps elsewhere. A device that takes no part in the work is another matter: `device_unused`. If
--   the devices show one step each, the time between the steps of two devices is left out: neither lacked work.
-- formula: idle = window - union of the device's work within the window (the view `step_window`);
--   idle_share = idle / window; reported from 0.2, high from 0.5, of devices that execute for at least a hundredth as
--   long as the busiest one of their host; not where there are no more steps than such devices, found by what
--   the devices show, that cover less than half of the window.
-- columns:
--   impact_ps | ps | Idle | idle time within the window
--   run_id, host_id, source_id
--   device | text | Device | name of the device
--   idle_share | ratio | Idle share | idle time as part of the window
--   longest_ps | ps | Longest gap | longest stretch without work
--   gaps | int | Gaps | stretches without work
WITH busiest AS (
  SELECT d.run_id AS of_run, d.host_id AS of_host, MAX(d.sum_executions_ps) AS most_ps
  FROM device_sum AS d
  WHERE d.place = 'device'
  GROUP BY d.run_id, d.host_id
),

working AS (
  SELECT d.source_id AS of_source, COUNT(*) AS devices
  FROM device_sum AS d
  INNER JOIN busiest AS b ON b.of_run = d.run_id AND b.of_host = d.host_id
  WHERE d.place = 'device' AND d.sum_executions_ps * 100 >= b.most_ps
  GROUP BY d.source_id
),

own_steps AS (
  SELECT s.source_id AS of_source, MIN(CASE WHEN s.recovered_from = 'device' THEN 1 ELSE 0 END) AS shown
  FROM step AS s
  GROUP BY s.source_id
)

SELECT
  CASE
    WHEN d.sum_idle_ps * 2 >= d.window_ps AND w.steps_ps * 2 >= w.window_ps THEN 'high'
    ELSE 'medium'
  END AS severity,
  d.sum_idle_ps AS impact_ps,
  columns!(d, run_id, host_id, source_id, device),
  share!(d.sum_idle_ps, d.window_ps) AS idle_share,
  d.most_idle_ps AS longest_ps,
  d.idle_gaps AS gaps
FROM device_sum AS d
INNER JOIN step_window AS w ON w.source_id = d.source_id
INNER JOIN busiest AS b ON b.of_run = d.run_id AND b.of_host = d.host_id
INNER JOIN working AS k ON k.of_source = d.source_id
INNER JOIN own_steps AS o ON o.of_source = d.source_id
WHERE d.place = 'device' AND d.window_ps > 0 AND d.sum_idle_ps * 5 >= d.window_ps
  AND d.sum_executions_ps * 100 >= b.most_ps
  AND NOT (o.shown = 1 AND w.steps <= k.devices AND w.steps_ps * 2 < w.window_ps)
ORDER BY nulls_last!(d.sum_idle_ps DESC, d.source_id, d.device)
