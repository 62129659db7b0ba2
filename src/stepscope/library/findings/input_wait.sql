-- Steps wait for input
--
-- question: How much of the steps do hosts spend waiting for the next batch?
-- reads: device_sum, frame, iterator, rollup_op, source, step, step_part, step_wait
-- severity: high from 30 % of the steps, medium from 10 %; low where a device is recorded and is idle less
--   than that, because the wait then hides behind the device's work
-- impact: {wait_share} of the step time on {host_id} is waiting for input: {mean_wait_ps} of each step on
--   average, {impact_ps} in all.
-- action: {advice}
-- weakened_by: lost, capped, truncated, no-steps
-- notes: What counts to `input` in step_part: time in which ops run meanwhile is left out. Without step_part,
--   the union of the waits over all threads. With several replicas, time counts when any of them waits.
-- reasoning: A step that waits for its next batch does nothing else, so this time is the most that a faster
--   input pipeline could save. It is measured, not guessed from the duration of the last iterator call: all
--   intervals in which a thread of the step waits for input are united, cut at the edges of each step, and
--   counted where nothing else executes. Means cover all averaged steps, because bursts of waiting count and a
--   median hides them. If a device was recorded and is busy nevertheless, the wait hides behind its work and the
--   finding is low.
-- formula: impact = sum over averaged steps of the time labelled input in step_part; wait_share =
--   impact / sum of step durations; reported from 0.1, high from 0.3; low where the least busy device is
--   idle for less than 0.1 of the window. stage = the stage without which a step would become shortest, where
--   one limits (`stepscope pipeline` explains how it is found).
-- columns:
--   impact_ps | ps | Could be saved | waiting for input within the steps that averages include
--   run_id
--   host_id | text | Host | host that waits
--   steps | int | Steps | steps that averages include
--   wait_share | ratio | Share of steps | waiting as part of the steps
--   mean_wait_ps | ps | Mean wait | waiting in a step, on average
--   stage | text | Stage | stage that limits, as TensorFlow ran it; NULL without tf.data events
--   user_stage | text | Written as | the same as the user wrote it
--   service_ps | ps | It needs | time that stage needs for a step
--   idle_share | ratio | Device idle | idle part of its least busy device; NULL where none is recorded
--   advice | text | Advice | what to do, for the library that feeds the steps
WITH labelled AS (
  SELECT
    p.step_id,
    sum_where!(p.label = 'input', p.dur_ps) AS input_sum
  FROM step_part AS p
  GROUP BY p.step_id
),

waited AS (
  SELECT
    columns!(s, run_id, host_id),
    COUNT(*) AS steps,
    SUM(s.dur_ps) AS all_ps,
    SUM(COALESCE(l.input_sum, w.waited_ps, 0)) AS wait_ps,
    SUM(COALESCE(w.waited_ps, 0)) AS slices_wait_ps,
    MAX(CASE WHEN o.framework = 'pytorch' THEN 1 ELSE 0 END) AS by_torch,
    MIN(CASE WHEN o.of_session THEN 1 ELSE 0 END) AS by_session
  FROM step AS s
  INNER JOIN source AS o ON o.source_id = s.source_id
  LEFT JOIN labelled AS l ON l.step_id = s.id
  LEFT JOIN step_wait AS w ON w.step_id = s.id AND w.wait = 'input'
  WHERE s.averaged
  GROUP BY s.run_id, s.host_id
),

idle AS (
  SELECT d.run_id, d.host_id, MAX(share!(d.sum_idle_ps, d.window_ps)) AS most_idle
  FROM device_sum AS d
  WHERE d.place = 'device'
  GROUP BY d.run_id, d.host_id
),

slowest AS (
  SELECT
    columns!(i, run_id, host_id),
    i.id AS iterator_id,
    ROW_NUMBER() OVER (
      PARTITION BY i.run_id, i.host_id ORDER BY nulls_last!(i.wait_share DESC, i.id)
    ) AS place
  FROM iterator AS i
  WHERE i.limits = 1
),

judged AS (
  SELECT i.run_id, i.host_id, MIN(i.verdict) AS told_verdict
  FROM iterator AS i
  WHERE i.verdict <> 'unknown'
  GROUP BY i.run_id, i.host_id
),

queued AS (
  SELECT r.run_id, r.host_id, COUNT(*) AS queues
  FROM rollup_op AS r
  WHERE r.op_type LIKE 'QueueDequeue%'
  GROUP BY r.run_id, r.host_id
),

iterated AS (
  SELECT f.run_id, f.host_id, COUNT(*) AS frames
  FROM frame AS f
  WHERE f.code = 'library' AND f.file LIKE '%tensorflow%iterator_ops.py'
  GROUP BY f.run_id, f.host_id
),

shares AS (
  SELECT
    columns!(w, run_id, host_id, steps, wait_ps),
    share!(w.wait_ps, w.all_ps) AS wait_share,
    columns!(w, slices_wait_ps, by_torch, by_session),
    i.most_idle
  FROM waited AS w
  LEFT JOIN idle AS i ON i.run_id = w.run_id AND i.host_id = w.host_id
)

SELECT
  CASE
    WHEN s.most_idle < 0.1 THEN 'low'
    WHEN s.wait_share >= 0.3 THEN 'high'
    ELSE 'medium'
  END AS severity,
  CAST(s.wait_ps AS BIGINT) AS impact_ps,
  columns!(s, run_id, host_id, steps, wait_share),
  mean!(s.wait_ps, s.steps) AS mean_wait_ps,
  n.branch_name AS stage,
  columns!(n, user_stage, service_ps),
  s.most_idle AS idle_share,
  CASE
    WHEN n.id IS NOT NULL
      THEN CONCAT(
        'Make ', n.spoken, ' faster',
        CASE WHEN n.file IS NULL THEN '' ELSE CONCAT(', in ', n.file, ' line ', CAST(n.line AS VARCHAR)) END,
        ': it limits the input. `stepscope pipeline` shows all stages and what each change would gain.'
      )
    WHEN s.by_torch = 1
      THEN CONCAT(
        'Make the DataLoader faster than the step: more workers (num_workers, persistent_workers=True), a larger ',
        'prefetch_factor, ', CASE WHEN s.most_idle IS NULL THEN '' ELSE 'pin_memory=True, ' END,
        'and less work in the data set for each item.'
      )
    WHEN p.told_verdict IS NOT NULL
      THEN CONCAT(
        'No stage was recorded for as long as the steps wait. `stepscope pipeline` shows what is known of each, and ',
        'what the program waits for.'
      )
    WHEN q.queues > 0
      THEN CONCAT(
        'The program takes its batches from a queue of the graph. Fill it faster: more threads (num_threads of ',
        'tf.train.batch), which take turns in a py_func, or whole batches instead of single lines (read_up_to, decode ',
        'after batching). Or read with tf.data, whose stages a recording shows.'
      )
    WHEN s.by_session = 1
      THEN CONCAT(
        'Make the input pipeline faster than the step: parallelise the slow stage ',
        '(num_parallel_calls=tf.data.AUTOTUNE), prefetch at its end, cache what does not change. This ',
        'recording does not show the stages: `stepscope record` makes one that does.'
      )
    WHEN s.slices_wait_ps = 0 AND t.frames > 0
      THEN CONCAT(
        'Make the input pipeline faster than the step: parallelise the slow stage ',
        '(num_parallel_calls=tf.data.AUTOTUNE), prefetch at its end, cache what does not change. Which stage is slow, ',
        'a trace of TensorFlow''s own profiler shows.'
      )
    WHEN s.slices_wait_ps = 0
      THEN CONCAT(
        'The program takes its batches from Python of its own, which `stepscope query` shows by line in ',
        '`@step_part_lines`. Do once what does not change, work on whole arrays instead of items, or load in other ',
        'processes: threads of one process take turns in Python.'
      )
    ELSE CONCAT(
      'Make the input pipeline faster than the step: parallelise the slow stage ',
      '(num_parallel_calls=tf.data.AUTOTUNE), prefetch at its end, cache what does not change. To see which ',
      'stage is slow, look at the slices whose name begins with Iterator:: in `slices_by_name`.'
    )
  END AS advice
FROM shares AS s
LEFT JOIN slowest AS f ON f.run_id = s.run_id AND f.host_id = s.host_id AND f.place = 1
LEFT JOIN iterator AS n ON n.id = f.iterator_id
LEFT JOIN judged AS p ON p.run_id = s.run_id AND p.host_id = s.host_id
LEFT JOIN queued AS q ON q.run_id = s.run_id AND q.host_id = s.host_id
LEFT JOIN iterated AS t ON t.run_id = s.run_id AND t.host_id = s.host_id
WHERE s.wait_share >= 0.1
ORDER BY nulls_last!(s.wait_ps DESC, s.run_id, s.host_id)
