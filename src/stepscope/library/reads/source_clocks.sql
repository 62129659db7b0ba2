-- Which process of its job is each source of, and when did its clock begin?
--
-- reads: source, capture
-- columns:
--   source_id, path
--   any_clock | text | unix or relative; NULL without a capture
--   begin_unix_ns | unix_ns | Unix time of ts_ps = 0, where the clock is unix
--   process_rank | int | number of the process, where known
SELECT
  columns!(s, source_id, path),
  MIN(c.clock) AS any_clock,
  MIN(CASE WHEN c.clock = 'unix' THEN c.origin_unix_ns END) AS begin_unix_ns,
  MIN(c.rank) AS process_rank
FROM source AS s
LEFT JOIN capture AS c ON c.source_id = s.source_id
GROUP BY s.source_id, s.path
ORDER BY s.source_id NULLS LAST
