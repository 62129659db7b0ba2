-- How long was each function on the stack of each thread, without a pause?
--
-- reads: stack_sample, stack, frame, _source_shift, _stack_thread
-- columns:
--   track | int | minus the number of the thread, as _stack_thread has it
--   depth | int | how many frames are around it
--   id | int | minus the number of the stack that ends with the function, minus 1
--   ts_ps | ps | start on the axis that all sources share
--   dur_ps | ps | time that its samples represent, one after the other
--   name | text | the function; with file and line where it is the program's own
WITH RECURSIVE walked AS (
  SELECT k.id AS stack_id, k.id AS at_id, k.parent_id AS next_id, k.frame_id, k.depth
  FROM stack AS k
  UNION ALL
  SELECT w.stack_id, k.id, k.parent_id, k.frame_id, k.depth
  FROM walked AS w
  INNER JOIN stack AS k ON k.id = w.next_id AND k.id < w.at_id
),

looked AS (
  SELECT
    m.id AS sample_id,
    m.ts_ps + h.shift_ps AS starts_ps,
    m.ts_ps + h.shift_ps + m.weight_ps AS stops_ps,
    m.stack_id,
    t.place AS lane
  FROM stack_sample AS m
  INNER JOIN _source_shift AS h ON h.source_id = m.source_id
  INNER JOIN _stack_thread AS t
    ON
      t.source_id = m.source_id
      AND t.is_main = m.is_main
      AND t.thread = COALESCE(m.thread_name, '')
      AND t.own_track = COALESCE(m.track_id, -1)
),

following AS (
  SELECT
    columns!(l, lane, sample_id, starts_ps, stops_ps, stack_id),
    ROW_NUMBER() OVER (PARTITION BY l.lane ORDER BY nulls_last!(l.starts_ps, l.sample_id)) AS number,
    LAG(l.stops_ps) OVER (PARTITION BY l.lane ORDER BY nulls_last!(l.starts_ps, l.sample_id)) AS before_ps
  FROM looked AS l
),

-- Samples that follow each other have following moments, and a pause leaves one out.
spaced AS (
  SELECT
    columns!(f, lane, starts_ps, stops_ps, stack_id),
    CAST(f.number AS BIGINT) + SUM(CASE WHEN f.before_ps < f.starts_ps THEN 1 ELSE 0 END) OVER (
      PARTITION BY f.lane
      ORDER BY nulls_last!(f.starts_ps, f.sample_id)
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS moment
  FROM following AS f
),

framed AS (
  SELECT
    s.lane,
    columns!(w, at_id, frame_id, depth),
    columns!(s, starts_ps, stops_ps),
    s.moment - CAST(
      ROW_NUMBER() OVER (PARTITION BY s.lane, w.at_id ORDER BY s.moment NULLS LAST) AS BIGINT
    ) AS stretch
  FROM spaced AS s
  INNER JOIN walked AS w ON w.stack_id = s.stack_id
),

bars AS (
  SELECT
    columns!(f, lane, at_id, frame_id, depth),
    MIN(f.starts_ps) AS first_ps,
    MAX(f.stops_ps) AS last_ps
  FROM framed AS f
  GROUP BY columns!(f, lane, at_id, frame_id, depth, stretch)
),

named AS (
  SELECT
    0 - b.lane AS minus_thread,
    b.depth,
    -1 - b.at_id AS minus_stack,
    b.first_ps,
    b.last_ps - b.first_ps AS long_ps,
    CASE
      WHEN r.code = 'program' AND r.file IS NOT NULL AND r.line IS NOT NULL
        THEN CONCAT(r.function, ' (', r.file, ':', CAST(r.line AS VARCHAR), ')')
      ELSE r.function
    END AS label
  FROM bars AS b
  INNER JOIN frame AS r ON r.id = b.frame_id
)

SELECT n.minus_thread AS track, n.depth, n.minus_stack AS id, n.first_ps AS ts_ps, n.long_ps AS dur_ps, n.label AS name
FROM named AS n
