-- Ops of nodes
--
-- question: Which ops do the graphs have, and with which types?
-- reads: node
-- columns:
--   name | text | name of the node
--   op_type | text | op type
--   args_json | text | small attributes, as a JSON object
SELECT n.name, n.op_type, n.args_json
FROM node AS n
ORDER BY nulls_last!(n.source_id, n.id)
