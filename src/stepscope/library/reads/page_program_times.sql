-- Times of the instructions of a program for a page
--
-- question: How long did each instruction of a program run, on devices and hosts?
-- reads: slice, track, op_slice, instant
-- notes: As instruction_slices, for one source and one program, so that a page need not read the slices of all.
-- parameters:
--   source_id | int | source of the slices
--   program | text | number of the program, as the slices name it
--   module_name | text | module, for slices that name no program
-- columns:
--   op_name | text | instruction that the slices name
--   sum_self_ps | ps | their self times, added up
WITH kinds AS (
  SELECT t.process, i.name, MAX(NULLIF(JSON_EXTRACT_STRING(i.args_json, '$.program_id'), '')) AS named_program
  FROM instant AS i
  INNER JOIN track AS t ON t.id = i.track_id
  WHERE i.source_id = $source_id AND i.category = 'event_metadata' AND i.args_json LIKE '%"hlo_category"%'
  GROUP BY t.process, i.name
),

named AS (
  SELECT
    s.id,
    s.op_name,
    CASE
      WHEN s.args_json LIKE '%"hlo_module"%' THEN NULLIF(JSON_EXTRACT_STRING(s.args_json, '$.hlo_module'), '')
    END AS hlo_module,
    CASE
      WHEN s.args_json LIKE '%"program_id"%' THEN NULLIF(JSON_EXTRACT_STRING(s.args_json, '$.program_id'), '')
      ELSE k.named_program
    END AS said_program
  FROM slice AS s
  INNER JOIN track AS t ON t.id = s.track_id
  LEFT JOIN kinds AS k ON k.process = t.process AND k.name = s.name
  WHERE s.source_id = $source_id AND s.op_name IS NOT NULL
    AND (s.args_json LIKE '%"hlo_op"%' OR k.name IS NOT NULL)
)

SELECT n.op_name, CAST(SUM(o.self_ps) AS BIGINT) AS sum_self_ps
FROM named AS n
INNER JOIN op_slice AS o ON o.slice_id = n.id
WHERE o.place IN ('device', 'host')
  AND (n.said_program = $program OR (n.said_program IS NULL AND n.hlo_module = $module_name))
GROUP BY n.op_name
ORDER BY n.op_name NULLS LAST
