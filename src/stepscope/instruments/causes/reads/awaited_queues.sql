-- For which queues of the graph do the steps of a host wait?
--
-- reads: rollup_op
-- notes: TensorFlow 1 has queues whose runners fill them. That with the longest wait comes first.
-- parameters: run_id, host_id
-- columns:
--   op_name | text | the op that takes from the queue
--   wait_ps | ps | how long it ran in all
SELECT r.op_name, sum!(r.op_self_ps) AS wait_ps
FROM rollup_op AS r
WHERE
  r.run_id = $run_id AND r.host_id = $host_id AND r.layer = 'input waits' AND r.is_op
  AND r.op_type LIKE 'QueueDequeue%' AND r.op_name IS NOT NULL
GROUP BY r.op_name
HAVING SUM(r.op_self_ps) > 0
ORDER BY nulls_last!(SUM(r.op_self_ps) DESC, r.op_name)
LIMIT 1
