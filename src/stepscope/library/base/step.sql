-- Steps
--
-- question: When did each step run, what kind of step is it, and do averages include it?
-- reads: step_stored
-- notes: Each source is judged on its own when it is decoded. Where each step is a recording of its own, in one
--   file or in many, its first step is judged here, together with the others of the run, host and kind: it is
--   warm-up when it takes more than twice the median of at least three others. So a lake that grows is judged like
--   one made at once. A file of one run of a session times its ops, and no more of the step. Where steps of the
--   same run and host were timed as a whole, averages leave such files out: a mean over two clocks is neither.
-- columns:
--   id | int | Step row | number of the row
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
--   source_id | int | Source | source it was recovered from
--   step | int | Step | number of the step: the program's own where it is known, else counted from 0
--   name | text | Name | name of the marker
--   kind | text | Kind | train, eval, compile, warm_up, cut_off or unknown; prefill, decode or mixed
--   recovered_from | text | Recovered from | batch, marker, profiler_step, session_run, function_run,
--     function_call, get_next, device, file, recorder or whole_capture
--   ts_ps | ps | Start | start, from the capture's origin
--   dur_ps | ps | Duration | duration
--   averaged | bool | In averages | false when averages leave it out
--   reason | text | Reason | why it is of this kind
WITH counted AS (
  SELECT
    s.id,
    s.run_id,
    s.host_id,
    s.step,
    s.kind,
    s.recovered_from,
    s.dur_ps,
    s.averaged,
    COUNT(*) OVER (PARTITION BY s.source_id) AS of_source
  FROM step_stored AS s
),

alone AS (
  SELECT
    c.id,
    c.run_id,
    c.host_id,
    c.kind,
    c.dur_ps,
    ROW_NUMBER() OVER (
      PARTITION BY c.run_id, c.host_id, c.kind
      ORDER BY c.step NULLS LAST, c.dur_ps DESC NULLS LAST, c.id NULLS LAST
    ) AS place
  FROM counted AS c
  WHERE (c.of_source = 1 OR c.recovered_from = 'file') AND c.averaged AND c.step IS NOT NULL
    AND c.recovered_from <> 'whole_capture'
),

others AS (
  SELECT
    a.run_id,
    a.host_id,
    a.kind,
    a.dur_ps,
    ROW_NUMBER() OVER (
      PARTITION BY a.run_id, a.host_id, a.kind ORDER BY a.dur_ps NULLS LAST, a.id NULLS LAST
    ) AS length_rank,
    COUNT(*) OVER (PARTITION BY a.run_id, a.host_id, a.kind) AS number
  FROM alone AS a
  WHERE a.place > 1
),

typical AS (
  SELECT o.run_id, o.host_id, o.kind, MIN(o.dur_ps) AS median_ps
  FROM others AS o
  WHERE o.length_rank * 2 >= o.number AND o.number >= 3
  GROUP BY o.run_id, o.host_id, o.kind
),

first_steps AS (
  SELECT
    a.id,
    CAST(FLOOR(
      CAST(a.dur_ps AS DOUBLE) * 10 / CAST(CASE WHEN t.median_ps < 1 THEN 1 ELSE t.median_ps END AS DOUBLE) + 0.5
    ) AS BIGINT) AS tenths
  FROM alone AS a
  INNER JOIN typical AS t ON t.run_id = a.run_id AND t.host_id = a.host_id AND t.kind = a.kind
  WHERE a.place = 1 AND a.dur_ps > 2 * t.median_ps
),

written AS (
  SELECT
    f.id,
    f.tenths,
    CAST(FLOOR(CAST(f.tenths AS DOUBLE) / 10.0) AS BIGINT) AS whole
  FROM first_steps AS f
),

warm AS (
  SELECT
    w.id AS first_id,
    'the first step, ' || CAST(w.whole AS VARCHAR) || '.' || CAST(w.tenths - 10 * w.whole AS VARCHAR)
      || ' times as long as the median of the others' AS why
  FROM written AS w
),

clocks AS (
  SELECT
    c.run_id AS of_run,
    c.host_id AS of_host,
    MAX(CASE WHEN c.averaged AND c.recovered_from NOT IN ('file', 'whole_capture') THEN 1 ELSE 0 END) AS timed
  FROM counted AS c
  GROUP BY c.run_id, c.host_id
),

told AS (
  SELECT
    s.id,
    s.run_id,
    s.host_id,
    s.source_id,
    s.step,
    s.name,
    s.kind AS stored_kind,
    s.recovered_from,
    s.ts_ps,
    s.dur_ps,
    s.averaged AS stored_averaged,
    s.reason AS stored_reason,
    w.first_id,
    w.why,
    CASE WHEN s.averaged AND s.recovered_from = 'file' THEN k.timed ELSE 0 END AS other_clock
  FROM step_stored AS s
  INNER JOIN clocks AS k ON k.of_run = s.run_id AND k.of_host = s.host_id
  LEFT JOIN warm AS w ON w.first_id = s.id
)

SELECT
  t.id,
  t.run_id,
  t.host_id,
  t.source_id,
  t.step,
  t.name,
  CASE WHEN t.first_id IS NULL THEN t.stored_kind ELSE 'warm_up' END AS kind,
  t.recovered_from,
  t.ts_ps,
  t.dur_ps,
  t.stored_averaged AND t.first_id IS NULL AND t.other_clock = 0 AS averaged,
  CASE
    WHEN t.first_id IS NOT NULL THEN t.why
    WHEN t.other_clock = 1 THEN 'a file that times ops alone, while other steps of the run are timed as a whole'
    ELSE t.stored_reason
  END AS reason
FROM told AS t
