-- Which lines of the program store, load, summarise, log, or wait for a device?
--
-- reads: stack_sample, stack, stack_frame, frame, _frame_purpose, step, _moment_step
-- notes: A sample has the purpose of the outermost of its frames that has one. What a loader calls makes a batch,
--   whatever it reads.
-- columns:
--   run_id, host_id, step_id
--   purpose | text | checkpoint, summary, log, model (which is loaded or made) or device
--   time_ps | ps | time that the sample stands for
--   place_function | text | function of the program's innermost frame
--   place_file | text | its file
--   place_line | int | line that ran
WITH found AS (
  SELECT
    a.stack_id,
    p.purpose,
    ROW_NUMBER() OVER (PARTITION BY a.stack_id ORDER BY a.inner_frames DESC NULLS LAST) AS place
  FROM stack_frame AS a
  INNER JOIN _frame_purpose AS p ON p.frame_id = a.frame_id
)

SELECT
  columns!(m, run_id, host_id),
  w.step_id,
  o.purpose,
  m.weight_ps AS time_ps,
  g.function AS place_function,
  g.file AS place_file,
  g.line AS place_line
FROM stack_sample AS m
INNER JOIN found AS o ON o.stack_id = m.stack_id AND o.place = 1
INNER JOIN stack AS k ON k.id = m.stack_id
INNER JOIN _moment_step AS w ON w.what = 'sample' AND w.moment_id = m.id
INNER JOIN step AS s ON s.id = w.step_id
INNER JOIN frame AS g ON g.id = k.place_id
WHERE m.is_main AND s.averaged AND o.purpose <> 'batch'
