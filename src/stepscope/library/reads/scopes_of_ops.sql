-- How long do the ops in each scope compute, on the devices and on the processors of each host?
--
-- reads: _computing_op
-- notes: A scope is the name of an op up to its last slash, so without the characters at its end that are no slash. Ops
--   without a slash are left out.
-- columns:
--   run_id, host_id, place
--   scope | text | the scope, with its last slash
--   own_ps | ps | own time of its ops
WITH scoped AS (
  SELECT
    columns!(r, run_id, host_id, place),
    RTRIM(r.op_name, REPLACE(r.op_name, '/', '')) AS scope,
    r.kind_ps AS took_ps
  FROM _computing_op AS r
  WHERE r.op_name LIKE '%/%'
)

SELECT
  columns!(s, run_id, host_id, place, scope),
  sum!(s.took_ps) AS own_ps
FROM scoped AS s
GROUP BY columns!(s, run_id, host_id, place, scope)
ORDER BY nulls_last!(s.run_id, s.host_id, s.place, s.scope)
