-- The accelerator runs many tiny kernels and waits between them
--
-- question: Are an accelerator's kernels so short that launching them holds it up?
-- reads: device_sum
-- severity: high from 50 % idle, medium from 20 %; only when slices last less than 20 µs on average and a
--   tenth of the window is idle in gaps shorter than 100 µs
-- impact: {device} runs {kernels} kernels and copies of {mean_ps} on average and is idle for
--   {idle_share} of the window, {short_gap_ps} of it in {gaps} {gaps:gap|gaps} under 100 µs, as between launches.
-- action: Fuse small ops: compile the whole step, launch kernels as one graph, where the
--   device has graphs, fused optimizers, larger batches.
-- action_tensorflow: Fuse small ops: jit_compile=True (XLA), fused optimizers, larger batches.
-- action_jax: Fuse small ops: jax.jit around the whole step, fused optimizers, larger batches.
-- action_pytorch: Fuse small ops: torch.compile, kernels launched as one graph (on NVIDIA
--   devices, CUDA graphs), optimizers with fused=True, larger batches.
-- action_torch_compiled: Launch kernels as one graph (on NVIDIA devices, CUDA graphs), optimizers with fused=True,
--   larger batches.
-- weakened_by: lost, capped, truncated, missing
-- reasoning: Launching a kernel costs the host several microseconds. If kernels last hardly longer than
--   that, the device waits for launches, and a faster device would change nothing. Three signs must come
--   together: short slices, short gaps, and enough idle time in them.
-- formula: mean = work on the device / number of slices (at least 100); short gaps are those below 100 us.
--   Reported when mean < 20 us, time in short gaps >= 0.1 x window and idle time >= 0.2 x window; impact =
--   time in short gaps.
-- columns:
--   impact_ps | ps | Between kernels | idle time in gaps shorter than 100 µs
--   run_id, host_id, source_id
--   device | text | Device | name of the device
--   kernels | int | Slices | slices of work
--   mean_ps | ps | Mean | mean duration within the window
--   gaps | int | Gaps | gaps shorter than 100 µs
--   short_gap_ps | ps | In short gaps | idle time in them
--   idle_share | ratio | Idle share | all idle time as part of the window
SELECT
  CASE WHEN d.sum_idle_ps * 2 >= d.window_ps THEN 'high' ELSE 'medium' END AS severity,
  d.short_idle_ps AS impact_ps,
  columns!(d, run_id, host_id, source_id, device),
  d.work_slices AS kernels,
  mean!(d.sum_work_ps, d.work_slices) AS mean_ps,
  d.short_gaps AS gaps,
  d.short_idle_ps AS short_gap_ps,
  share!(d.sum_idle_ps, d.window_ps) AS idle_share
FROM device_sum AS d
WHERE
  d.place = 'device'
  AND d.work_slices >= 100
  AND d.sum_work_ps < d.work_slices * 20000000
  AND d.window_ps > 0
  AND d.short_idle_ps * 10 >= d.window_ps
  AND d.sum_idle_ps * 5 >= d.window_ps
ORDER BY nulls_last!(d.short_idle_ps DESC, d.source_id, d.device)
