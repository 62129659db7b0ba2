-- Ranks of sources
--
-- question: Which process of its job is each source of, and when did its clock begin?
-- reads: source, capture
-- columns:
--   source_id
--   path | text | its path
--   process_rank | int | number of the process, where known
--   begin_ns | unix_ns | Unix time of ts_ps = 0; NULL when unknown
SELECT
  columns!(s, source_id, path),
  MIN(c.rank) AS process_rank,
  MIN(CASE WHEN c.clock = 'unix' THEN c.origin_unix_ns END) AS begin_ns
FROM source AS s
INNER JOIN capture AS c ON c.source_id = s.source_id
GROUP BY s.source_id, s.path
ORDER BY s.source_id NULLS LAST
