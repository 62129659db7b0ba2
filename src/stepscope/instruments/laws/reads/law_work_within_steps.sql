-- How long are a mean step and the middle one of each source whose host marks several?
--
-- reads: step
-- notes: Of steps that the host shows and averages include, and of those that an end of the recording cuts off: what a
--   host only queues may look like one.
-- columns:
--   source_id
--   mean_ps | ps | mean duration
--   median_ps | ps | median
WITH ranked AS (
  SELECT
    columns!(s, source_id, dur_ps),
    ROW_NUMBER() OVER (PARTITION BY s.source_id ORDER BY nulls_last!(s.dur_ps, s.id)) AS place_in_list,
    COUNT(*) OVER (PARTITION BY s.source_id) AS total
  FROM step AS s
  WHERE (s.averaged OR s.kind = 'cut_off') AND s.recovered_from NOT IN ('whole_capture', 'device', 'file')
)

SELECT
  r.source_id,
  mean!(SUM(r.dur_ps), COUNT(*)) AS mean_ps,
  median!(r.dur_ps, r.place_in_list, r.total) AS median_ps
FROM ranked AS r
WHERE r.total > 2
GROUP BY r.source_id
ORDER BY r.source_id NULLS LAST
