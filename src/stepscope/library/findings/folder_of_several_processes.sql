-- Several processes dumped into one folder
--
-- question: Into which folders did several processes dump?
-- reads: hlo_case, _dumped_program
-- severity: low
-- impact: {program}: {programs} programs have its number, among them {named}.
-- action: Give each process a folder of its own: --xla_dump_to=DIR/$RANK.
-- reasoning: Each process numbers its modules from 0, so that files of one name and number replace each other.
-- formula: modules of different names that have one number in one folder.
-- columns:
--   run_id, program, module, program_id
--   programs | int | Programs | of one number
--   named | text | Among them | two of their names
SELECT
  'low' AS severity,
  c.run_id,
  columns!(p, program, module, program_id),
  whole!(c.value) AS programs,
  c.what AS named
FROM hlo_case AS c
INNER JOIN _dumped_program AS p ON p.module_id = c.module_id
WHERE c.kind = 'mixed'
ORDER BY nulls_last!(c.value DESC, c.id)
