-- Copies take much of an accelerator's time
--
-- question: How much of the work of an accelerator is copying?
-- reads: op_sum, step_window
-- severity: high from 50 % of its work, medium from 25 %, low from 10 %
-- impact: {device} spends {copy_share} of its work on copies: {impact_ps} in {copies} {copies:copy|copies}.
-- action: Keep data on the device between ops, overlap copies with compute[, copy from and to pinned memory what is
--   copied from and to pageable memory now ({pageable_ps})][, prefetch what unified memory moves once it is touched
--   ({unified_ps})], send smaller types. `transfers` lists the copies with their bytes.
-- action_tensorflow: Keep data on the device between ops, overlap copies with compute (prefetch_to_device), send
--   smaller types. `transfers` lists the copies with their bytes.
-- weakened_by: lost, capped, truncated
-- reasoning: A copy between host and device, or between devices, moves bytes and computes nothing. If
--   copies are a large part of what an accelerator does, the data are in the wrong place: inputs arrive
--   late, results are fetched in each step, or neighbouring ops run on different devices.
-- formula: copy_share = self time of slices of the class `copy` / self time of all work on the device,
--   without waits; impact = that self time of copies. Reported from copy_share >= 0.1 where copies take at least a
--   hundredth of the window (the view `step_window`).
-- columns:
--   impact_ps | ps | Copying | self times of the copies, added up
--   run_id, host_id
--   device | text | Device | name of the device
--   copies | int | Copies | how many
--   copy_share | ratio | Share | copies as part of the device's work
--   pageable_ps | ps | Pageable | the part of them from or to memory that the system may page; NULL without any
--   unified_ps | ps | Unified | the part of them by which unified memory moves pages; NULL without any
WITH devices AS (
  SELECT
    columns!(o, run_id, host_id, device),
    SUM(o.sum_self_ps) AS all_ps,
    sum_where!(o.class = 'copy', o.sum_self_ps) AS copy_ps,
    sum_where!(o.class = 'copy' AND o.op LIKE '%Pageable%', o.sum_self_ps) AS of_pageable_ps,
    sum_where!(o.class = 'copy' AND o.op LIKE '%(unified memory)', o.sum_self_ps) AS of_unified_ps,
    sum_where!(o.class = 'copy', o.slices) AS number
  FROM op_sum AS o
  WHERE o.place = 'device' AND o.class NOT IN ('input', 'wait')
  GROUP BY o.run_id, o.host_id, o.device
),

windows AS (
  SELECT w.run_id AS of_run, w.host_id AS of_host, SUM(w.window_ps) AS all_window_ps
  FROM step_window AS w
  GROUP BY w.run_id, w.host_id
)

SELECT
  severity!(d.copy_ps, d.all_ps) AS severity,
  CAST(d.copy_ps AS BIGINT) AS impact_ps,
  columns!(d, run_id, host_id, device),
  CAST(d.number AS BIGINT) AS copies,
  share!(d.copy_ps, d.all_ps) AS copy_share,
  CAST(NULLIF(d.of_pageable_ps, 0) AS BIGINT) AS pageable_ps,
  CAST(NULLIF(d.of_unified_ps, 0) AS BIGINT) AS unified_ps
FROM devices AS d
INNER JOIN windows AS w ON w.of_run = d.run_id AND w.of_host = d.host_id
WHERE d.copy_ps * 10 >= d.all_ps AND d.copy_ps > 0 AND d.copy_ps * 100 >= w.all_window_ps
ORDER BY nulls_last!(d.copy_ps DESC, d.run_id, d.host_id, d.device)
