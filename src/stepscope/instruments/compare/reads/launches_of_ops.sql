-- Which op of the program launches each op of a device?
--
-- reads: op_slice, slice
-- notes: By the number that links a launch with what it launched. The op around a launch is named, and the one
--   around that.
-- parameters: run_id, host_ids
-- columns:
--   op
--   launched_by | text | op that launches it
--   around | text | what that op is in; NULL for nothing
--   times | int | how often
WITH launches AS (
  SELECT
    o.op,
    CASE WHEN c.category = 'cpu_op' THEN c.name ELSE p.name END AS caller,
    CASE WHEN c.category = 'cpu_op' THEN p.name ELSE g.name END AS outer_name
  FROM op_slice AS o
  INNER JOIN slice AS k ON k.id = o.slice_id
  INNER JOIN slice AS c ON c.source_id = k.source_id AND c.correlation_id = k.correlation_id AND c.id <> k.id
  LEFT JOIN slice AS p ON p.id = c.parent_id
  LEFT JOIN slice AS g ON g.id = p.parent_id
  WHERE
    o.run_id = $run_id
    AND o.host_id IN $host_ids
    AND o.place = 'device'
    AND k.correlation_id IS NOT NULL
    AND (c.category = 'cpu_op' OR p.category = 'cpu_op')
)

SELECT
  l.op,
  l.caller AS launched_by,
  l.outer_name AS around,
  COUNT(*) AS times
FROM launches AS l
WHERE l.caller IS NOT NULL
GROUP BY l.op, l.caller, l.outer_name
ORDER BY nulls_last!(l.op, times DESC, launched_by, around)
