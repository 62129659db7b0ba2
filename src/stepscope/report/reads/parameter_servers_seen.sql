-- Is anything placed on a parameter server?
--
-- reads: device, node
-- notes: Where nothing is, tfprof_node need not be made, which reads every slice.
-- columns:
--   seen | int | 1 for each kind of row that names one
SELECT 1 AS seen
FROM device AS d
WHERE d.name LIKE '/job:ps/%'
UNION
SELECT 1 AS seen
FROM node AS n
WHERE n.device LIKE '/job:ps/%'
ORDER BY seen NULLS LAST
