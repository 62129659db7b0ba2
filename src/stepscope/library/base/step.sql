-- Steps
--
-- question: When did each step run, what kind of step is it, and do averages include it?
-- reads: step_stored, capture
-- notes: Each source is judged on its own when it is decoded. Where each step is a recording of its own, in one file or
--   in many, its first step is judged here, together with the others of the run, host and kind: it is warm-up when it
--   takes more than twice the median of at least three others. So a lake that grows is judged like one made at once. Of
--   steps with the same number the one that began first counts, where their files say when. A run of a session is of
--   the kind train where its host has runs that do not train as well. Up to four kinds of runs, of at least three runs
--   each, are told apart by what they update or run. A file that holds one run of a session times the ops of that run
--   and nothing else of the step. Where steps of the same run and host were timed as a whole, averages leave such files
--   out: a mean over two clocks is neither. They leave out what an Estimator does between two steps, too: its rows are
--   recovered from `estimator`.
-- columns:
--   id | int | Step row | number of the row
--   run_id, host_id
--   source_id | int | Source | source it was recovered from
--   step | int | Step | number of the step: the program's own where it is known, else counted from 0
--   name | text | Name | name of the marker
--   kind | text | Kind | train, eval, compile, warm_up, cut_off or unknown; prefill, decode or mixed; predict or export;
--     train A or kind A, and so on, where a program makes several kinds of runs
--   recovered_from | text | Recovered from | batch, marker, profiler_step, optimizer_step,
--     session_run, function_run, function_call, get_next, device, file, recorder, estimator or whole_capture
--   ts_ps | ps | Start | start, from the capture's origin
--   dur_ps | ps | Duration | duration
--   averaged | bool | In averages | false when averages leave it out
--   reason | text | Reason | why it is of this kind
WITH based AS (
  SELECT
    columns!(s, id, run_id, host_id, source_id, step, name, work),
    CASE
      WHEN s.recovered_from <> 'file' OR s.kind <> 'train' THEN s.kind
      WHEN MIN(CASE WHEN s.recovered_from = 'file' AND s.kind <> 'train' THEN 0 ELSE 1 END) OVER (
        PARTITION BY s.run_id, s.host_id
      ) = 1 THEN 'unknown'
      ELSE 'train'
    END AS base_kind,
    columns!(s, recovered_from, ts_ps, dur_ps),
    s.averaged AS stored_averaged,
    s.reason AS base_reason,
    COUNT(*) OVER (PARTITION BY s.source_id) AS of_source,
    s.averaged AND s.recovered_from = 'file' AS of_file,
    MAX(CASE WHEN s.averaged AND s.recovered_from NOT IN ('file', 'whole_capture') THEN 1 ELSE 0 END) OVER (
      PARTITION BY s.run_id, s.host_id
    ) AS timed
  FROM step_stored AS s
),

works AS (
  SELECT
    columns!(b, run_id, host_id, base_kind, work),
    ROW_NUMBER() OVER (
      PARTITION BY b.run_id, b.host_id, b.base_kind ORDER BY nulls_last!(MIN(b.step), MIN(b.id))
    ) AS place,
    COUNT(*) OVER (PARTITION BY b.run_id, b.host_id, b.base_kind) AS kinds,
    MIN(COUNT(*)) OVER (PARTITION BY b.run_id, b.host_id, b.base_kind) AS fewest
  FROM based AS b
  WHERE b.of_file AND b.work IS NOT NULL
  GROUP BY columns!(b, run_id, host_id, base_kind, work)
),

several AS (
  SELECT
    columns!(w, run_id, host_id, base_kind, work),
    CASE WHEN w.base_kind = 'train' THEN 'train ' ELSE 'kind ' END
    || CASE w.place WHEN 1 THEN 'A' WHEN 2 THEN 'B' WHEN 3 THEN 'C' ELSE 'D' END AS own_kind
  FROM works AS w
  WHERE w.kinds BETWEEN 2 AND 4 AND w.fewest >= 3
),

counted AS (
  SELECT
    columns!(b, id, run_id, host_id, source_id, step, name),
    COALESCE(w.own_kind, b.base_kind) AS stored_kind,
    columns!(b, recovered_from, ts_ps, dur_ps, stored_averaged),
    COALESCE(w.work, b.base_reason) AS stored_reason,
    columns!(b, of_source, of_file, timed)
  FROM based AS b
  LEFT JOIN several AS w
    ON w.run_id = b.run_id AND w.host_id = b.host_id AND w.base_kind = b.base_kind AND w.work = b.work
),

alone AS (
  SELECT
    columns!(c, id, run_id, host_id, stored_kind, dur_ps),
    ROW_NUMBER() OVER (
      PARTITION BY c.run_id, c.host_id, c.stored_kind
      ORDER BY nulls_last!(c.step, CAST(o.origin_unix_ns AS DOUBLE) * 1000.0 + c.ts_ps, c.dur_ps DESC, c.id)
    ) AS place,
    o.origin_unix_ns IS NOT NULL
    OR COUNT(*) OVER (PARTITION BY c.run_id, c.host_id, c.stored_kind, c.step) = 1 AS is_ordered
  FROM counted AS c
  LEFT JOIN capture AS o ON o.source_id = c.source_id
  WHERE (c.of_source = 1 OR c.recovered_from = 'file') AND c.stored_averaged AND c.step IS NOT NULL
    AND c.recovered_from <> 'whole_capture'
),

others AS (
  SELECT
    columns!(a, run_id, host_id, stored_kind, dur_ps),
    ROW_NUMBER() OVER (
      PARTITION BY a.run_id, a.host_id, a.stored_kind ORDER BY nulls_last!(a.dur_ps, a.id)
    ) AS length_rank,
    COUNT(*) OVER (PARTITION BY a.run_id, a.host_id, a.stored_kind) AS number
  FROM alone AS a
  WHERE a.place > 1
),

typical AS (
  SELECT o.run_id, o.host_id, o.stored_kind, median!(o.dur_ps, o.length_rank, o.number) AS median_ps
  FROM others AS o
  WHERE o.number >= 3
  GROUP BY o.run_id, o.host_id, o.stored_kind
),

warm AS (
  SELECT
    a.id AS first_id,
    whole!(
      CAST(a.dur_ps AS DOUBLE) * 10 / CAST(greatest!(1, t.median_ps) AS DOUBLE) + 0.5
    ) AS tenths
  FROM alone AS a
  INNER JOIN typical AS t ON t.run_id = a.run_id AND t.host_id = a.host_id AND t.stored_kind = a.stored_kind
  WHERE a.place = 1 AND a.is_ordered AND a.dur_ps > 2 * t.median_ps
)

SELECT
  columns!(c, id, run_id, host_id, source_id, step, name),
  CASE WHEN w.first_id IS NULL THEN c.stored_kind ELSE 'warm_up' END AS kind,
  columns!(c, recovered_from, ts_ps, dur_ps),
  c.stored_averaged AND w.first_id IS NULL AND NOT (c.of_file AND c.timed = 1) AS averaged,
  CASE
    WHEN w.first_id IS NOT NULL THEN
      'the first step, ' || CAST(mean!(w.tenths, 10.0) AS VARCHAR)
      || '.' || CAST(w.tenths - 10 * mean!(w.tenths, 10.0) AS VARCHAR)
      || ' times as long as the median of the others'
    WHEN c.of_file AND c.timed = 1
      THEN 'a file that times ops alone, while other steps of the run are timed as a whole'
    ELSE c.stored_reason
  END AS reason
FROM counted AS c
LEFT JOIN warm AS w ON w.first_id = c.id
