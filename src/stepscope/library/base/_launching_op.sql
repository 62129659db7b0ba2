-- Which op of the program made a call that launched work on a device?
--
-- reads: slice
-- notes: PyTorch records its ops around the calls of the runtime. A graph of kernels is launched as a whole, and its
--   kernels are of many ops: those have none here.
-- columns:
--   of_source | int | number of the source
--   of_correlation | int | number that links the call with what it launched
--   launched_by | text | name of the innermost op around the call
--   launched_from | int | number of the slice of that op
SELECT
  c.source_id AS of_source,
  c.correlation_id AS of_correlation,
  MIN(CASE WHEN p.category = 'cpu_op' THEN p.name ELSE g.name END) AS launched_by,
  MIN(CASE WHEN p.category = 'cpu_op' THEN p.id ELSE g.id END) AS launched_from
FROM slice AS c
INNER JOIN slice AS p ON p.id = c.parent_id
LEFT JOIN slice AS g ON g.id = p.parent_id
WHERE
  c.correlation_id IS NOT NULL
  AND runtime_call!(c.category)
  AND c.name NOT LIKE '%Graph%'
  AND (p.category = 'cpu_op' OR g.category = 'cpu_op')
GROUP BY c.source_id, c.correlation_id
