-- No steps were found
--
-- question: Which sources do not show where a step begins?
-- reads: step, source
-- severity: medium
-- impact: Nothing in {path} marks a step, so there are no step times, and shares refer to the whole
--   capture, {impact_ps}.
-- action: {advice}
-- weakened_by: lost, truncated
-- reasoning: Step times, shares of a step and warm-up need something that says where a step begins: a
--   marker of the profiler, a step annotation, calls of a train function, one Session.run per file. If all
--   of these are missing, the whole capture counts as one stretch, and shares refer to it.
-- formula: Reported for each source whose only step is the whole capture (`recovered_from =
--   'whole_capture'`), except for profiles, whose formats have no steps; impact = length of the capture.
-- columns:
--   impact_ps | ps | Capture | length of the capture
--   run_id, host_id
--   source_id | int | Source | number of the source
--   path | text | Source | path as given
--   advice | text | Advice | what to do, for what recorded it
SELECT
  'medium' AS severity,
  s.dur_ps AS impact_ps,
  columns!(s, run_id, host_id, source_id),
  o.path,
  CASE
    WHEN o.framework = 'pytorch'
      THEN 'Mark steps in the program: call prof.step() of torch.profiler at the end of each.'
    WHEN o.framework = 'jax'
      THEN 'Mark steps in the program: with jax.profiler.StepTraceAnnotation("train", step_num=i).'
    WHEN o.framework = 'tensorflow'
      THEN 'Mark steps in the program: with tf.profiler.experimental.Trace("train", step_num=i, _r=1), which '
        || 'TensorFlow has since 2.3. In older ones, `stepscope record` finds most.'
    ELSE 'Read shares as parts of the whole recording, or record with a profiler that marks steps.'
  END AS advice
FROM step AS s
INNER JOIN source AS o ON o.source_id = s.source_id
WHERE
  s.recovered_from = 'whole_capture'
  AND o.kind NOT IN ('profile', 'memory')
ORDER BY nulls_last!(s.dur_ps DESC, s.source_id)
