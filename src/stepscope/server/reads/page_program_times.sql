-- How long did each instruction of a program run, on devices and hosts?
--
-- reads: _instruction_slice, op_slice
-- notes: As instruction_slices, for one source and one program, so that a page need not read the slices of all.
-- parameters:
--   source_id | int | source of the slices
--   program | text | number of the program, as the slices name it
--   module_name | text | module, for slices that name no program
-- columns:
--   op_name
--   sum_self_ps | ps | their self times, added up
SELECT n.op_name, sum!(o.self_ps) AS sum_self_ps
FROM _instruction_slice AS n
INNER JOIN op_slice AS o ON o.slice_id = n.slice_id
WHERE n.source_id = $source_id
  AND o.place IN ('device', 'host')
  AND (n.program_id = $program OR (n.program_id IS NULL AND n.hlo_module = $module_name))
GROUP BY n.op_name
ORDER BY n.op_name NULLS LAST
