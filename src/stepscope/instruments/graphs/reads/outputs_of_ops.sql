-- How large are the outputs of each op?
--
-- reads: tensor
-- parameters: run_id
-- columns:
--   op_name
--   output_bytes | bytes | its outputs, each where it was largest
WITH outputs AS (
  SELECT t.op_name, t.slot, MAX(t.requested_bytes) AS largest
  FROM tensor AS t
  WHERE t.run_id = $run_id AND t.requested_bytes IS NOT NULL
  GROUP BY t.op_name, t.slot
)

SELECT p.op_name, sum!(p.largest) AS output_bytes
FROM outputs AS p
GROUP BY p.op_name
ORDER BY p.op_name NULLS LAST
