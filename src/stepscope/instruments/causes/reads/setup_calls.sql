-- Which calls of a runtime allocate or free memory on a host, or unload code, how many and how long?
--
-- reads: rollup_op, _evidence_label
-- parameters: run_id, host_id
-- columns:
--   name
--   calls | int | how many, over the whole recording
--   took_ps | ps | their durations, added up over threads
SELECT r.name, sum!(r.slices) AS calls, sum!(r.total_ps) AS took_ps
FROM rollup_op AS r
LEFT JOIN _evidence_label AS l ON l.rollup_id = r.id AND l.layer = 'setups'
WHERE
  r.run_id = $run_id AND r.host_id = $host_id
  AND (
    l.rollup_id IS NOT NULL
    OR (
      runtime_call!(r.category)
      AND (r.name LIKE 'cu%Unload%' OR r.name LIKE 'hip%Unload%')
    )
  )
GROUP BY r.name
ORDER BY nulls_last!(took_ps DESC, r.name)
