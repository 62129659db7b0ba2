-- What are the slices on the threads of a source's memory events called?
--
-- reads: rollup_op, instant
-- parameters: source_id
-- columns:
--   rollup_id | int | row of rollup_op
--   name | text | name as found
SELECT r.id AS rollup_id, r.name
FROM rollup_op AS r
WHERE
  r.source_id = $source_id
  AND r.track_id IN (SELECT i.track_id FROM instant AS i WHERE i.source_id = $source_id AND i.name = '[memory]')
ORDER BY r.id NULLS LAST
