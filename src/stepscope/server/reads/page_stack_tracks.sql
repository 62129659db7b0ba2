-- Of which threads were stacks sampled?
--
-- reads: stack_sample, stack, source, _stack_thread
-- columns:
--   run_id, host_id, source_id, thread, is_main
--   depths | int | frames of its deepest stack
--   samples | int | stack samples of it
WITH counted AS (
  SELECT
    columns!(m, source_id, is_main),
    COALESCE(m.thread_name, '') AS thread_label,
    COALESCE(m.track_id, -1) AS track_key,
    k.depth + 1 AS frames
  FROM stack_sample AS m
  INNER JOIN stack AS k ON k.id = m.stack_id
),

loads AS (
  SELECT c.source_id, c.is_main, c.thread_label, c.track_key, MAX(c.frames) AS depths, COUNT(*) AS samples
  FROM counted AS c
  GROUP BY columns!(c, source_id, is_main, thread_label, track_key)
)

SELECT s.run_id, s.host_id, t.source_id, t.thread, t.is_main, l.depths, l.samples
FROM _stack_thread AS t
INNER JOIN source AS s ON s.source_id = t.source_id
INNER JOIN loads AS l
  ON
    l.source_id = t.source_id
    AND l.is_main = t.is_main
    AND l.thread_label = t.thread
    AND l.track_key = t.own_track
ORDER BY t.place NULLS LAST
