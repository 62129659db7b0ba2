-- Only compile or warm-up steps were recorded
--
-- question: Do all steps of a source compile, trace or warm up?
-- reads: step
-- severity: high
-- impact: {steps} {steps:step|steps} {steps:was|were} recorded on {host_id}, {impact_ps} in all,
--   {steps:and it is a compile or warm-up step|and all of them are compile or warm-up steps}: {reason}. The
--   times of ops are not typical of other steps.
-- action: Record a later step, after everything is compiled: the tenth, say.
-- action_tensorflow: Record a later step, after everything is compiled: the tenth, say, or several with
--   ProfilerHook(save_steps=...) or tf.profiler.experimental.start after a few steps.
-- action_jax: Record a later step, after everything is compiled: call jax.profiler.start_trace after the first ten,
--   say.
-- action_pytorch: Record a later step, after everything is compiled: torch.profiler.schedule(wait=10, warmup=2,
--   active=5) passes over the first ones.
-- weakened_by: lost, capped, truncated
-- reasoning: The first steps of a program trace functions, compile kernels and fill buffers; they last many
--   times as long as later ones and spend the time on other ops. A timeline of one such step shows what
--   compiling costs and nothing about training. stepscope recognises these steps by what happens in them
--   (tracing and compiling slices, first of their kind) and leaves them out of averages; if nothing else
--   was recorded, every number describes them.
-- formula: Reported for each source of a host none of whose steps, in all sources of the run, count in
--   averages, unless three or more compile: then all do, see recompilation; impact = sum of the durations of the source's steps.
-- columns:
--   impact_ps | ps | Recorded | durations of these steps, added up
--   run_id, host_id, source_id
--   steps | int | Steps | steps recorded
--   reason | text | Reason | why the first of them is of its kind
WITH sources AS (
  SELECT
    columns!(s, run_id, host_id, source_id),
    COUNT(*) AS steps,
    SUM(s.dur_ps) AS sum_dur_ps,
    sum_where!(s.averaged, 1) AS kept,
    sum_where!(s.kind = 'compile', 1) AS compiling,
    MIN(s.reason) AS first_reason
  FROM step AS s
  WHERE s.recovered_from <> 'whole_capture'
  GROUP BY s.run_id, s.host_id, s.source_id
),

runs AS (
  SELECT r.run_id, r.host_id, SUM(r.kept) AS run_kept, SUM(r.compiling) AS run_compiles
  FROM sources AS r
  GROUP BY r.run_id, r.host_id
)

SELECT
  'high' AS severity,
  bounded!(s.sum_dur_ps) AS impact_ps,
  columns!(s, run_id, host_id, source_id, steps),
  s.first_reason AS reason
FROM sources AS s
INNER JOIN runs AS r ON r.run_id = s.run_id AND r.host_id = s.host_id
WHERE r.run_kept = 0 AND r.run_compiles < 3
ORDER BY nulls_last!(s.sum_dur_ps DESC, s.source_id)
