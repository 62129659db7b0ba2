-- Time of Python, by samples of stacks or by slices
--
-- question: What does the Python of each thread spend time on?
-- reads: stack_sample, stack, frame, _moment_step, rollup_op, source
-- notes: One row per sample, with the time that it stands for. Where a recorder traced Python calls instead
--   (TensorFlow's and JAX's Python tracers, PyTorch with_stack, VizTracer), one row per call of that name, added
--   up over a track: its function is the name as the recorder wrote it, which has file and line in it, and nothing
--   tells the program's code from a library's. A sample belongs to the step in which its middle lies, if clocks can
--   be compared. place is the innermost frame of the program's own code, which a library's frame was called from.
-- columns:
--   run_id, host_id, source_id
--   told_by | text | From | samples or slices
--   step_id | int | Step row | row of the view step; NULL outside of steps, and for slices
--   thread | text | Thread | name of the thread, where it has one
--   is_main | bool | Main | true for the thread that runs the steps; NULL for slices
--   samples | int | Samples | samples, or slices
--   time_ps | ps | Time | time that it stands for: of slices, without what lies on top of them
--   cpu_ps | ps | Processor time | processor time of the thread meanwhile, NULL where it is not known
--   queued_ps | ps | Waited for a core | how long the thread could have run meanwhile and had no core, NULL where it is not known
--   function | text | Function | innermost function
--   file | text | File | its file
--   line | int | Line | line that ran
--   module | text | Module | its module
--   code | text | Code | whose code it is: program, library, python, native or unknown
--   place_function | text | Called by | function of the program's innermost frame
--   place_file | text | File of the program | its file
--   place_line | int | Line of the program | line that ran
SELECT
  columns!(m, run_id, host_id, source_id),
  'samples' AS told_by,
  w.step_id,
  m.thread_name AS thread,
  m.is_main,
  1 AS samples,
  m.weight_ps AS time_ps,
  columns!(m, cpu_ps, queued_ps),
  columns!(f, function, file, line, module, code),
  g.function AS place_function,
  g.file AS place_file,
  g.line AS place_line
FROM stack_sample AS m
INNER JOIN stack AS k ON k.id = m.stack_id
INNER JOIN frame AS f ON f.id = k.frame_id
LEFT JOIN frame AS g ON g.id = k.place_id
LEFT JOIN _moment_step AS w ON w.what = 'sample' AND w.moment_id = m.id
UNION ALL
SELECT
  columns!(r, run_id, host_id, source_id),
  'slices' AS told_by,
  CAST(NULL AS BIGINT) AS step_id,
  CAST(NULL AS VARCHAR) AS thread,
  CAST(NULL AS BOOLEAN) AS is_main,
  r.slices AS samples,
  r.self_ps AS time_ps,
  CAST(NULL AS BIGINT) AS cpu_ps,
  CAST(NULL AS BIGINT) AS queued_ps,
  r.name AS function,
  CAST(NULL AS VARCHAR) AS file,
  CAST(NULL AS INTEGER) AS line,
  CAST(NULL AS VARCHAR) AS module,
  'unknown' AS code,
  r.name AS place_function,
  CAST(NULL AS VARCHAR) AS place_file,
  CAST(NULL AS INTEGER) AS place_line
FROM rollup_op AS r
INNER JOIN source AS o ON o.source_id = r.source_id
WHERE
  r.category = 'python_function'
  OR (o.producer = 'viztracer' AND r.name LIKE '%(%:%)')
  OR (o.producer IN ('tf_profiler', 'jax') AND r.name LIKE '$%')
