-- Copying and converting holds up the steps
--
-- question: On which lines of the program is data copied or converted while no op runs?
-- reads: _label_line
-- severity: high from half of the steps, medium from a quarter, low from a tenth
-- impact: Copying and converting data takes {share} of the steps, most of it in {file}:{line} `{function}`.
-- action: Convert once, before the loop, and keep the result where it is used: arrays as float32 and not as lists, on
--   the device instead of fed in each step; fetch only what the program reads.
-- weakened_by: lost, capped, truncated, no-steps, stacks-capped
-- reasoning: Lists become arrays element by element, arrays become tensors byte by byte, and results come back the
--   same way. Nothing else is launched meanwhile.
-- formula: impact = time labelled copy in step_part, over the steps that averages include; share = impact / their
--   durations; line_share = the part of it while the thread that runs the steps is in that line. Reported from 0.1
--   where samples show a line.
-- columns:
--   impact_ps | ps | Copying | time of the steps
--   run_id
--   host_id | text | Host | host
--   share | ratio | Share of steps | that time as part of the steps
--   file | text | File | file of the program
--   line | int | Line | line that ran
--   function | text | Function | function that contains the line
--   line_share | ratio | Share of copying | part of the copying during which that line runs
SELECT
  severity!(l.label_ps, l.steps_ps) AS severity,
  l.label_ps AS impact_ps,
  columns!(l, run_id, host_id),
  share!(l.label_ps, l.steps_ps) AS share,
  columns!(l, file, line, function),
  share!(l.line_ps, l.label_ps) AS line_share
FROM _label_line AS l
WHERE l.label = 'copy' AND l.line_ps > 0 AND l.label_ps * 10 >= l.steps_ps
ORDER BY nulls_last!(l.label_ps DESC, l.run_id, l.host_id, l.line_ps DESC, l.file, l.line, l.function)
