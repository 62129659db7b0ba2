-- The accelerator runs many tiny kernels and waits between them
--
-- question: Is an accelerator held up by launching, because its kernels are very short?
-- reads: device_load, step_window
-- severity: high from 50 % idle, medium from 20 %
-- impact: {device} runs {kernels} slices of {mean_ps} on average and is idle for {idle_share} of the window
--   in {gaps} gaps, {short_gap_ps} of it in gaps under 100 µs: launching costs more than the work.
-- action: Fuse small ops: jit_compile=True (XLA), CUDA graphs, fused optimizers, larger batches.
-- weakened_by: lost, capped, truncated, missing
-- columns:
--   severity | text | Severity | high or medium
--   impact_ps | ps | Between kernels | idle time in gaps shorter than 100 µs
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
--   source_id | int | Source | source it was read from
--   device | text | Device | name of the device
--   kernels | int | Slices | slices of work
--   mean_ps | ps | Mean | mean duration within the window
--   gaps | int | Gaps | gaps shorter than 100 µs
--   short_gap_ps | ps | In short gaps | idle time in them
--   idle_share | ratio | Idle share | all idle time as part of the window
WITH devices AS (
  SELECT
    d.run_id,
    d.host_id,
    d.source_id,
    d.device,
    COUNT(*) AS number,
    SUM(d.to_ps - d.from_ps) AS sum_ps,
    SUM(d.busy_ps) AS sum_busy_ps,
    SUM(CASE WHEN d.gap_ps > 0 AND d.gap_ps < 100000000 THEN 1 ELSE 0 END) AS short_gaps,
    SUM(CASE WHEN d.gap_ps > 0 AND d.gap_ps < 100000000 THEN d.gap_ps ELSE 0 END) AS short_ps
  FROM device_load AS d
  WHERE d.place = 'device'
  GROUP BY d.run_id, d.host_id, d.source_id, d.device
)

SELECT
  CASE WHEN d.sum_busy_ps * 2 <= w.until_ps - w.begin_ps THEN 'high' ELSE 'medium' END AS severity,
  CAST(d.short_ps AS BIGINT) AS impact_ps,
  d.run_id,
  d.host_id,
  d.source_id,
  d.device,
  d.number AS kernels,
  CAST(FLOOR(CAST(d.sum_ps AS DOUBLE) / d.number) AS BIGINT) AS mean_ps,
  CAST(d.short_gaps AS BIGINT) AS gaps,
  CAST(d.short_ps AS BIGINT) AS short_gap_ps,
  CAST(w.until_ps - w.begin_ps - d.sum_busy_ps AS DOUBLE) / NULLIF(w.until_ps - w.begin_ps, 0) AS idle_share
FROM devices AS d
INNER JOIN step_window AS w ON w.source_id = d.source_id
WHERE
  d.number >= 100
  AND d.sum_ps < d.number * 20000000
  AND d.short_ps * 10 >= w.until_ps - w.begin_ps
  AND d.sum_busy_ps * 5 <= (w.until_ps - w.begin_ps) * 4
ORDER BY d.short_ps DESC NULLS LAST, d.source_id NULLS LAST, d.device NULLS LAST
