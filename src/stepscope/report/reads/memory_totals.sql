-- What did allocators give for each type of op, where single allocations were not recorded?
--
-- reads: op_run, tensor
-- columns:
--   op_type
--   runs | int | executions of which allocators tell a total
--   given_bytes | bytes | what allocators gave for them in all
--   outputs | int | outputs that were recorded
--   shaped | int | those with a shape
--   placed | int | those with an address
--   made_bytes | bytes | bytes of the outputs
WITH outputs AS (
  SELECT
    t.op_run_id,
    COUNT(*) AS number_made,
    COUNT(t.shape) AS with_shape,
    COUNT(t.address) AS with_address,
    SUM(COALESCE(t.requested_bytes, t.allocated_bytes, 0)) AS bytes_made
  FROM tensor AS t
  GROUP BY t.op_run_id
)

SELECT
  r.op_type,
  COUNT(r.requested_bytes) AS runs,
  sum!(COALESCE(r.requested_bytes, 0)) AS given_bytes,
  sum!(COALESCE(o.number_made, 0)) AS outputs,
  sum!(COALESCE(o.with_shape, 0)) AS shaped,
  sum!(COALESCE(o.with_address, 0)) AS placed,
  sum!(COALESCE(o.bytes_made, 0)) AS made_bytes
FROM op_run AS r
LEFT JOIN outputs AS o ON o.op_run_id = r.id
WHERE r.requested_bytes IS NOT NULL OR o.number_made IS NOT NULL
GROUP BY r.op_type
ORDER BY nulls_last!(given_bytes DESC, made_bytes DESC, r.op_type)
