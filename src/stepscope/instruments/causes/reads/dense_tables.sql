-- Which tables of a host does each step update as a whole, although it looks up few rows?
--
-- reads: _dense_gradient
-- parameters: run_id, host_id
-- columns:
--   table_rows, table_columns, used_rows
--   table_ps | ps | self times of ops on all rows
--   all_ps | ps | self times of all ops
SELECT columns!(d, table_rows, table_columns, used_rows, table_ps, all_ps)
FROM _dense_gradient AS d
WHERE d.run_id = $run_id AND d.host_id = $host_id AND d.all_ps > 0
ORDER BY nulls_last!(d.table_ps DESC, d.table_rows, d.table_columns)
