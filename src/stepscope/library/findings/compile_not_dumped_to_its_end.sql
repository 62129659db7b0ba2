-- Compiles were not dumped to their end
--
-- question: Which compiles were not dumped to their end?
-- reads: _dumped_program, hlo_module, hlo_pass
-- severity: info
-- impact: {program}: the last dump that is there is [pass {pass_number}, ]{last}.
-- action: Look at the end of the program's log: it was ended, or the compile failed.
-- reasoning: Nothing can be said about what would have run.
-- formula: modules without a dump after optimization in folders where others have one.
-- columns:
--   run_id, program, module, program_id
--   pass_number | int | Pass | number of the last pass that is there
--   last | text | Last | that pass, or the stage
WITH ended AS (
  SELECT p.source_id
  FROM _dumped_program AS p
  WHERE p.is_final
  GROUP BY p.source_id
)

SELECT
  'info' AS severity,
  columns!(p, run_id, program, module, program_id),
  s.pass_number,
  COALESCE(s.pass_name, s.stage) AS last
FROM _dumped_program AS p
INNER JOIN ended AS e ON e.source_id = p.source_id
INNER JOIN hlo_module AS m ON m.id = p.module_id
INNER JOIN hlo_pass AS s ON s.module_id = m.id AND s.file = m.file
WHERE NOT p.is_final AND (m.stage IS NULL OR m.stage <> 'snapshot')
ORDER BY nulls_last!(s.pass_number DESC, p.module_id)
