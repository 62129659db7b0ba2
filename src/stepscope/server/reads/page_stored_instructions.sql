-- Which instructions does a program have, what do they use, and which computations do they call?
--
-- reads: hlo_instruction, hlo_computation
-- notes: Of a dump there are several stages; the last one is what runs.
-- parameters:
--   module_id | int | row of hlo_module
-- columns:
--   computation, is_entry, name, opcode, op_name, is_root
--   shape_bytes | float | size of what it makes
--   operands_json, calls_json
WITH stages AS (
  SELECT i.module_id, MAX(COALESCE(i.pass_id, -1)) AS last_pass
  FROM hlo_instruction AS i
  WHERE i.module_id = $module_id
  GROUP BY i.module_id
)

SELECT
  i.computation,
  c.is_entry,
  columns!(i, name, opcode, op_name, is_root, shape_bytes, operands_json, calls_json)
FROM hlo_instruction AS i
INNER JOIN stages AS s ON s.module_id = i.module_id AND s.last_pass = COALESCE(i.pass_id, -1)
LEFT JOIN hlo_computation AS c
  ON c.module_id = i.module_id AND COALESCE(c.pass_id, -1) = s.last_pass AND c.name = i.computation
WHERE i.module_id = $module_id
ORDER BY i.id NULLS LAST
