-- Which ops do the graphs have, and with which types?
--
-- reads: node
-- columns:
--   name, op_type, args_json
SELECT n.name, n.op_type, n.args_json
FROM node AS n
ORDER BY nulls_last!(n.source_id, n.id)
