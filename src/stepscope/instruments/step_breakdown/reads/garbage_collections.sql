-- When did Python collect garbage on the threads that run the steps of some sources, in the time of each source?
--
-- reads: counter, capture
-- notes: As a recorder saw it, from a tenth of a millisecond on. Of captures whose clock can be compared with the
--   source's.
-- parameters: end_ps
--   sources | ints | sources whose time is meant
--   begin_ps | ps | begin of a stretch
-- columns:
--   source_id | int | source whose time is meant
--   begin_ps | ps | begin of the collection
--   end_ps | ps | its end
WITH collections AS (
  SELECT
    o.source_id AS of_source,
    g.ts_ps + CASE WHEN g.source_id = o.source_id THEN 0 ELSE (c.origin_unix_ns - o.origin_unix_ns) * 1000 END
      AS from_ps,
    whole!(g.value * 1000.0) AS took_ps
  FROM counter AS g
  INNER JOIN capture AS c ON c.source_id = g.source_id
  INNER JOIN capture AS o ON o.source_id IN $sources AND o.run_id = g.run_id AND o.host_id = g.host_id
  WHERE g.name = 'garbage collection' AND g.value > 0.0 AND g.value < 1.0e15
)

SELECT l.of_source AS source_id, l.from_ps AS begin_ps, l.from_ps + l.took_ps AS end_ps
FROM collections AS l
WHERE l.from_ps < $end_ps AND l.from_ps + l.took_ps > $begin_ps
ORDER BY nulls_last!(source_id, begin_ps, end_ps)
