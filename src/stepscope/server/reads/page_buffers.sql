-- Which blocks did allocators hand out, when, and for how long?
--
-- reads: buffer, source, source_note, _source_shift
-- notes: The largest blocks of each allocator, with how many it has in all.
-- parameters:
--   most | int | blocks of each allocator
-- columns:
--   source_id
--   path | text | where the source was read
--   run_id, host_id, allocator, device
--   shift_ps | ps | what leads from the times of the source to the page's
--   op_name, op_type, kind, dtype, shape, bytes
--   begin_ps | ps | when it was allocated, on the page's axis; NULL: before the recording
--   until_ps | ps | when it was freed; NULL: not within the recording
--   used_ps | ps | when its last reader was done
--   at_peak, lane, file, line
--   blocks | int | blocks of its allocator
--   rank | int | its place among them by size, from 1
--   has_times | int | 0 where the recording has the order of changes and no times, 1 otherwise
WITH untimed AS (
  SELECT n.source_id AS of_source
  FROM source_note AS n
  WHERE n.slug = 'memory-without-times'
  GROUP BY n.source_id
),

ranked AS (
  SELECT
    columns!(b, id, source_id),
    s.path,
    columns!(b, run_id, host_id, allocator, device),
    COALESCE(f.shift_ps, 0) AS moved_ps,
    columns!(b, op_name, op_type, kind, dtype, shape, bytes, born_ps, freed_ps, last_use_ps, at_peak, lane, file, line),
    COUNT(*) OVER (PARTITION BY b.source_id, b.allocator, b.device) AS blocks,
    ROW_NUMBER() OVER (
      PARTITION BY b.source_id, b.allocator, b.device ORDER BY nulls_last!(b.bytes DESC, b.id)
    ) AS place,
    CASE WHEN u.of_source IS NULL THEN 1 ELSE 0 END AS is_timed
  FROM buffer AS b
  INNER JOIN source AS s ON s.source_id = b.source_id
  LEFT JOIN _source_shift AS f ON f.source_id = b.source_id
  LEFT JOIN untimed AS u ON u.of_source = b.source_id
)

SELECT
  columns!(r, source_id, path, run_id, host_id, allocator, device),
  r.moved_ps AS shift_ps,
  columns!(r, op_name, op_type, kind, dtype, shape, bytes),
  r.born_ps + r.moved_ps AS begin_ps,
  r.freed_ps + r.moved_ps AS until_ps,
  r.last_use_ps + r.moved_ps AS used_ps,
  columns!(r, at_peak, lane, file, line, blocks),
  r.place AS rank,
  r.is_timed AS has_times
FROM ranked AS r
WHERE r.place <= $most
ORDER BY nulls_last!(r.source_id, r.allocator, r.device, r.place)
