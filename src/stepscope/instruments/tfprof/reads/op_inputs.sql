-- Which slices name the producers of what their op takes?
--
-- reads: slice
-- columns:
--   op_name
--   args | text | values of one of its slices, as a JSON object
SELECT s.op_name, MIN(s.args_json) AS args
FROM slice AS s
WHERE s.op_name IS NOT NULL AND (s.args_json LIKE '%"input0"%' OR s.args_json LIKE '%"inputs":["%')
GROUP BY s.op_name
ORDER BY s.op_name NULLS LAST
