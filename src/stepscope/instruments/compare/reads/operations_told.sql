-- May anything of a run tell how many floating point operations its ops do?
--
-- reads: instant, op_run, op_line, source_note
-- notes: The metadata of events do in XPlanes, op logs beside RunMetadata and beside captures. Where nothing
--   does, the views of tfprof, which look at every slice, need not be made.
-- parameters: run_id
-- columns:
--   told | int | 1 where something may, else no row
WITH found AS (
  SELECT 1 AS told
  FROM instant AS i
  WHERE i.run_id = $run_id AND i.category = 'event_metadata' AND i.args_json LIKE '%"flops"%'
  UNION ALL
  SELECT 1 AS told
  FROM op_run AS r
  WHERE r.run_id = $run_id
  UNION ALL
  SELECT 1 AS told
  FROM op_line AS o
  WHERE o.run_id = $run_id
  UNION ALL
  SELECT 1 AS told
  FROM source_note AS n
  WHERE n.run_id = $run_id AND n.slug = 'op-log-unread'
)

SELECT f.told
FROM found AS f
GROUP BY f.told
ORDER BY f.told NULLS LAST
