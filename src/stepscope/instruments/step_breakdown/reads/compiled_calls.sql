-- When did calls of the hosts of some sources trace or compile something, in the time of each source?
--
-- reads: compilation, capture
-- notes: Of captures whose clock can be compared with the source's.
-- parameters: end_ps
--   sources | ints | sources whose time is meant
--   begin_ps | ps | begin of a stretch
-- columns:
--   source_id | int | source whose time is meant
--   begin_ps | ps | begin of the call
--   end_ps | ps | end of the call
--   again | int | 1 where the function had been compiled before
WITH calls AS (
  SELECT
    o.source_id AS of_source,
    m.ts_ps + CASE WHEN m.source_id = o.source_id THEN 0 ELSE (c.origin_unix_ns - o.origin_unix_ns) * 1000 END
      AS from_ps,
    m.dur_ps,
    CASE WHEN m.change = 'first' THEN 0 ELSE 1 END AS compiles_again
  FROM compilation AS m
  INNER JOIN capture AS c ON c.source_id = m.source_id
  INNER JOIN capture AS o ON o.source_id IN $sources AND o.run_id = m.run_id AND o.host_id = m.host_id
)

SELECT l.of_source AS source_id, l.from_ps AS begin_ps, l.from_ps + l.dur_ps AS end_ps, l.compiles_again AS again
FROM calls AS l
WHERE l.dur_ps > 0 AND l.from_ps < $end_ps AND l.from_ps + l.dur_ps > $begin_ps
ORDER BY nulls_last!(source_id, begin_ps, end_ps, again)
