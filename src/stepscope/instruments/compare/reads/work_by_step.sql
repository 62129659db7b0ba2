-- How many ops, kernels and copies does each step of a run execute?
--
-- reads: op_slice, slice, step
-- notes: Bytes as in the analysis transfers: where the copies tell them. Steps without ops have no row.
-- parameters: run_id, host_ids
--   whole | int | 1: all steps; 0: only those that averages include
-- columns:
--   step_id | int | number of the step
--   op_count | int | ops on devices and processors, without waits
--   kernel_count | int | ops on devices but copies
--   copy_count | int | copies
--   told_bytes | bytes | their bytes; NULL where no copy tells any
SELECT
  s.id AS step_id,
  COUNT(CASE WHEN o.class NOT IN ('input', 'wait') THEN 1 END) AS op_count,
  COUNT(CASE WHEN o.place = 'device' AND o.class NOT IN ('copy', 'input', 'wait') THEN 1 END) AS kernel_count,
  COUNT(CASE WHEN o.class = 'copy' THEN 1 END) AS copy_count,
  whole!(SUM(
    CASE WHEN o.class = 'copy' AND c.args_json IS NOT NULL THEN COALESCE(
      TRY_CAST(arg!(c.args_json, bytes) AS DOUBLE),
      TRY_CAST(arg!(c.args_json, size) AS DOUBLE)
    ) END
  )) AS told_bytes
FROM op_slice AS o
INNER JOIN step AS s ON s.source_id = o.source_id AND s.step = o.step
INNER JOIN slice AS c ON c.id = o.slice_id
WHERE compared_op!(o, s)
GROUP BY s.id
ORDER BY step_id NULLS LAST
