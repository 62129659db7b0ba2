-- How long did threads of a host wait in calls of CUDA or HIP until its device was done, in each step?
--
-- reads: step_wait, rollup_op
-- notes: No row where nothing but other calls waits for a device, as where processors stand for one.
-- parameters: run_id, host_id
-- columns:
--   step_id
--   awaited_ps | ps | the union of these waits
WITH calling AS (
  SELECT r.run_id AS of_run, r.host_id AS of_host
  FROM rollup_op AS r
  WHERE
    r.wait = 'device'
    AND runtime_call!(r.category)
  GROUP BY r.run_id, r.host_id
)

SELECT
  w.step_id,
  sum!(w.waited_ps) AS awaited_ps
FROM step_wait AS w
INNER JOIN calling AS c ON c.of_run = w.run_id AND c.of_host = w.host_id
WHERE w.wait = 'device' AND w.run_id = $run_id AND w.host_id = $host_id
GROUP BY w.step_id
ORDER BY nulls_last!(w.step_id)
