-- Which op of a host computes longest there while its steps use an accelerator?
--
-- reads: _host_op
-- parameters: run_id, host_id
-- columns:
--   op
--   took_ps | ps | self times in the steps, added up
SELECT o.op, sum!(o.own_ps) AS took_ps
FROM _host_op AS o
WHERE o.run_id = $run_id AND o.host_id = $host_id
GROUP BY o.op
ORDER BY nulls_last!(took_ps DESC, o.op)
LIMIT 1
