-- How long did devices compute for each op of PyTorch, by the kernels that it launched?
--
-- reads: op_cost, source, track_place
-- columns:
--   op | text | op; the kernel where none is known
--   took_ps | ps | what the kernels took
WITH devices AS (
  SELECT p.source_id, p.device
  FROM track_place AS p
  WHERE p.place = 'device'
  GROUP BY p.source_id, p.device
)

SELECT c.op_name AS op, sum!(c.self_ps) AS took_ps
FROM op_cost AS c
INNER JOIN devices AS d ON d.source_id = c.source_id AND d.device = c.device
INNER JOIN source AS s ON s.source_id = c.source_id
WHERE s.framework = 'pytorch'
GROUP BY c.op_name
ORDER BY nulls_last!(took_ps DESC, c.op_name)
