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
    o.place,
    o.op,
    o.dur_ps,
    CASE WHEN s.args_json IS NULL THEN NULL ELSE COALESCE(
      TRY_CAST(arg!(s.args_json, bytes) AS DOUBLE),
      TRY_CAST(arg!(s.args_json, size) AS DOUBLE)
    ) END AS told_bytes
  FROM op_slice AS o
  INNER JOIN slice AS s ON s.id = o.slice_id
  WHERE o.class = 'copy'
),

named AS (
  SELECT
    c.place,
    c.op,
    COUNT(*) AS number,
    SUM(c.dur_ps) AS sum_dur_ps,
    MAX(c.dur_ps) AS max_dur_ps,
    SUM(c.told_bytes) AS sum_bytes,
    SUM(CASE WHEN c.told_bytes IS NULL THEN 0 ELSE c.dur_ps END) AS told_ps
  FROM copies AS c
  GROUP BY c.place, c.op
)

SELECT
  n.place,
  n.op,
  n.number AS slices,
  CAST(n.sum_dur_ps AS BIGINT) AS total_ps,
  mean!(n.sum_dur_ps, n.number) AS mean_ps,
  n.max_dur_ps AS max_ps,
  whole!(n.sum_bytes) AS copied_bytes,
  n.sum_bytes * 1000000000000.0 / NULLIF(CAST(n.told_ps AS DOUBLE), 0.0) AS bytes_per_s
FROM named AS n
ORDER BY nulls_last!(n.sum_dur_ps DESC, n.place, n.op)
