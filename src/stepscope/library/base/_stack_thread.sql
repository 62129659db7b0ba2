-- Of which threads were stacks sampled, and in which order are they shown?
--
-- reads: stack_sample
-- columns:
--   source_id, is_main
--   thread | text | its name; '' for none
--   own_track | int | its track; -1 for none
--   place | int | from 1 on: sources in their order, the main thread of each first
WITH looked AS (
  SELECT
    columns!(m, source_id, is_main),
    COALESCE(m.thread_name, '') AS thread,
    COALESCE(m.track_id, -1) AS own_track
  FROM stack_sample AS m
),

threads AS (
  SELECT l.source_id, l.is_main, l.thread, l.own_track
  FROM looked AS l
  GROUP BY columns!(l, source_id, is_main, thread, own_track)
)

SELECT
  columns!(t, source_id, is_main, thread, own_track),
  CAST(
    ROW_NUMBER() OVER (
      ORDER BY nulls_last!(t.source_id, t.is_main DESC, t.thread, t.own_track)
    ) AS BIGINT
  ) AS place
FROM threads AS t
