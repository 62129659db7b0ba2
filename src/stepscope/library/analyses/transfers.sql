-- Copies
--
-- question: What is copied between host and devices or within them, how much and how fast?
-- reads: op_slice, slice
-- notes: Bytes as recorded (args bytes or size); NULL where there are none.
-- weakened_by: lost, capped, truncated
-- chart: bar x=op y=total_ps
-- columns:
--   place | text | Place | device, host or launch, as in track_place
--   op | text | Copy | name of the copy
--   slices | int | Count | how many
--   total_ps | ps | Total | durations, added up
--   mean_ps | ps | Mean | mean duration
--   max_ps | ps | Longest | longest duration
--   copied_bytes | bytes | Bytes | bytes copied, where recorded
--   bytes_per_s | float | Bytes per s | bytes over the time of the copies that tell them
WITH copies AS (
  SELECT
    columns!(o, place, op, dur_ps),
    CASE WHEN s.args_json IS NULL THEN NULL ELSE COALESCE(
      TRY_CAST(arg!(s.args_json, bytes) AS DOUBLE),
      TRY_CAST(arg!(s.args_json, size) AS DOUBLE)
    ) END AS told_bytes
  FROM op_slice AS o
  INNER JOIN slice AS s ON s.id = o.slice_id
  WHERE o.class = 'copy'
)

SELECT
  columns!(c, place, op),
  COUNT(*) AS slices,
  sum!(c.dur_ps) AS total_ps,
  mean!(SUM(c.dur_ps), COUNT(*)) AS mean_ps,
  MAX(c.dur_ps) AS max_ps,
  whole!(SUM(c.told_bytes)) AS copied_bytes,
  SUM(c.told_bytes) * 1000000000000.0
  / NULLIF(CAST(SUM(CASE WHEN c.told_bytes IS NULL THEN 0 ELSE c.dur_ps END) AS DOUBLE), 0.0) AS bytes_per_s
FROM copies AS c
GROUP BY c.place, c.op
ORDER BY nulls_last!(total_ps DESC, c.place, c.op)
