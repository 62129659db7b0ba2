-- From when to when does a call that copies wait until the device begins to copy?
--
-- reads: rollup_op, slice, track_place
-- notes: A call that hands data over returns when its copy is over. The device begins it when all that comes before on
--   its stream is done, recorded or not. Waits of less than 200 µs are part of copying, and so is what brings as many
--   bytes as are copied to where the device takes them, at 1 GB/s.
-- columns:
--   run_id, host_id, source_id, track_id
--   call | text | the call of the runtime
--   begin_ps | ps | begin of the call
--   end_ps | ps | begin of the copy
WITH calls AS (
  SELECT r.id AS call_id
  FROM rollup_op AS r
  WHERE
    runtime_call!(r.category)
    AND r.name LIKE '%emcpy%'
    AND r.total_ps >= 200000000
),

long_calls AS (
  SELECT
    columns!(s, run_id, host_id, source_id, track_id, name, correlation_id),
    s.ts_ps AS from_ps,
    s.ts_ps + s.dur_ps AS until_ps
  FROM slice AS s
  INNER JOIN calls AS c ON c.call_id = s.rollup_id
  WHERE s.dur_ps >= 200000000 AND s.correlation_id IS NOT NULL
),

copies AS (
  SELECT
    columns!(s, source_id, correlation_id),
    s.ts_ps AS copies_from_ps,
    TRY_CAST(arg!(s.args_json, bytes) AS DOUBLE) AS copied_bytes
  FROM slice AS s
  INNER JOIN rollup_op AS r ON r.id = s.rollup_id
  INNER JOIN track_place AS p ON p.track_id = s.track_id
  WHERE p.place = 'device' AND r.class = 'copy' AND s.correlation_id IS NOT NULL
)

SELECT
  columns!(l, run_id, host_id, source_id, track_id),
  l.name AS call,
  l.from_ps AS begin_ps,
  c.copies_from_ps AS end_ps
FROM long_calls AS l
INNER JOIN copies AS c ON c.source_id = l.source_id AND c.correlation_id = l.correlation_id
WHERE
  c.copies_from_ps < l.until_ps
  AND c.copies_from_ps - l.from_ps >= 200000000
  AND c.copies_from_ps - l.from_ps >= c.copied_bytes * 1000.0
