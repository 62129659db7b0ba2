-- The trip count of some loops is unknown
--
-- question: Which programs have loops whose trip count is unknown?
-- reads: _dumped_program, hlo_module
-- severity: info
-- impact: {program}: {open_loops} {open_loops:loop|loops} without a known trip count: the cost counts each once, so
--   a run costs more.
-- action: Measure them: stepscope xla ops counts the trips of a recorded run.
-- reasoning: The condition depends on data, so the files say nothing about it. The cost counts such a loop once.
-- formula: loops without known_trip_count that do not count from one constant to another.
-- columns:
--   run_id, program, module, program_id
--   open_loops | int | Loops | without a known trip count
--   loops | int | Of | loops of the program
SELECT
  'info' AS severity,
  columns!(p, run_id, program, module, program_id),
  whole!(
    least!(m.run_open_loops, 1000000000000000)
  ) AS open_loops,
  m.loops
FROM _dumped_program AS p
INNER JOIN hlo_module AS m ON m.id = p.module_id
WHERE p.is_final AND m.run_open_loops > 0
ORDER BY nulls_last!(m.run_open_loops DESC, p.module_id)
