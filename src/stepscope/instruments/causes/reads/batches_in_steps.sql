-- How often does a host draw a batch within its steps?
--
-- reads: slice, rollup_op
-- notes: Of several things that are called for one batch, the one that is called most often.
-- parameters: run_id, host_id
-- columns:
--   batches | int | batches; one row
WITH calls AS (
  SELECT r.name, COUNT(*) AS called
  FROM slice AS s
  INNER JOIN rollup_op AS r ON r.id = s.rollup_id
  WHERE r.wait = 'input' AND s.step IS NOT NULL AND s.run_id = $run_id AND s.host_id = $host_id
  GROUP BY r.name
)

SELECT CAST(COALESCE(MAX(c.called), 0) AS BIGINT) AS batches
FROM calls AS c
