-- Which slices lie around the memory events of a source?
--
-- reads: slice, instant
-- parameters:
--   source_id | int | source to look at
--   most | int | memory events to look around, the first ones in time
-- columns:
--   track_id, ts_ps
--   end_ps | ps | end
--   depth | int | slices around it
--   name | text | name as found
WITH
  memory AS (
    SELECT i.track_id, i.ts_ps
    FROM instant AS i
    WHERE i.source_id = $source_id AND i.name = '[memory]'
    ORDER BY nulls_last!(i.ts_ps, i.id)
    LIMIT $most
  ),
  moment AS (
    SELECT m.track_id, m.ts_ps, NULL AS end_ps, NULL AS depth, NULL AS name, NULL AS id, m.ts_ps AS memory_ps
    FROM memory AS m
    UNION ALL
    SELECT s.track_id, s.ts_ps, s.ts_ps + s.dur_ps, s.depth, s.name, s.id, NULL
    FROM slice AS s
    WHERE
      s.source_id = $source_id
      AND s.track_id IN (SELECT m.track_id FROM memory AS m)
      AND s.ts_ps <= (SELECT MAX(m.ts_ps) FROM memory AS m)
  ),
  -- The first memory event at or after the start of each: walked from the end.
  ahead AS (
    SELECT
      m.track_id, m.ts_ps, m.end_ps, m.depth, m.name, m.id,
      min(m.memory_ps) OVER (
        PARTITION BY m.track_id
        ORDER BY nulls_last!(m.ts_ps DESC, m.memory_ps)
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
      ) AS next_ps
    FROM moment AS m
  )
SELECT a.track_id, a.ts_ps, a.end_ps, a.depth, a.name
FROM ahead AS a
WHERE a.next_ps <= a.end_ps
ORDER BY nulls_last!(a.track_id, a.ts_ps, a.depth, a.id)
