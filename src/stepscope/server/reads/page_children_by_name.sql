-- What are the slices called that lie directly on a slice, and how long do those of each name take?
--
-- reads: slice
-- parameters: slice_id
--   most | int | names to list
-- columns:
--   name
--   number | int | children of that name
--   all_ps | ps | their durations, added up
--   longest_id | int | the longest of them
WITH children AS (
  SELECT
    columns!(s, id, name, dur_ps),
    ROW_NUMBER() OVER (PARTITION BY s.name ORDER BY nulls_last!(s.dur_ps DESC, s.id)) AS place
  FROM slice AS s
  WHERE s.parent_id = $slice_id
)

SELECT
  c.name,
  COUNT(*) AS number,
  sum!(c.dur_ps) AS all_ps,
  MAX(CASE WHEN c.place = 1 THEN c.id END) AS longest_id
FROM children AS c
GROUP BY c.name
ORDER BY nulls_last!(all_ps DESC, c.name)
LIMIT $most
