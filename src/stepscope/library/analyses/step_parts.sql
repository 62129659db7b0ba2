-- Steps, taken apart
--
-- question: What does the time of a step go to?
-- reads: step, step_part
-- notes: Each instant of a step counts to one label, so the labels add up to the duration. What executes on the
--   device decides first (on a processor, ops on any thread but those of the input pipeline); while nothing
--   executes, what the thread that drives the steps does. input: waits for the next batch; compile: traces or
--   compiles; compute: ops or kernels; communication: collectives that no compute hides; copy: between host and
--   device, or into tensors; dispatch: the framework launches; setup: it allocates or frees memory of
--   the device, or loads code onto it; python: Python, of the program or of a library; wait: sleeps,
--   locks, files, sockets, checkpoints; idle: an accelerator without work; unknown: nothing was recorded. The
--   first row of a host is the mean of the steps that averages include, or of all where averages include none.
--   Columns that begin with hidden count what went on at the same time and cost nothing.
-- weakened_by: lost, capped, truncated, missing
-- chart: stacked_bar x=what y=compute_ps,communication_ps,copy_ps,dispatch_ps,setup_ps,compile_ps,python_ps,wait_ps,input_ps,idle_ps,unknown_ps
-- columns:
--   run_id | text | Run | name of the run
--   host_id | text | Host | name of the host
--   what | text | Step | "mean", or the number of the step
--   steps | int | Steps | steps that the row is the mean of
--   kind | text | Kind | train, eval, compile, warm_up or unknown; NULL for the mean
--   averaged | bool | Averaged | false when averages leave the step out
--   dur_ps | ps | Duration | duration of the step
--   input_ps | ps | Input | time that counts to it
--   compile_ps | ps | Compile | time that counts to it
--   compute_ps | ps | Compute | time that counts to it
--   communication_ps | ps | Communication | time that counts to it
--   copy_ps | ps | Copy | time that counts to it
--   dispatch_ps | ps | Dispatch | time that counts to it
--   setup_ps | ps | Setup | time that counts to it
--   python_ps | ps | Python | time that counts to it
--   wait_ps | ps | Wait | time that counts to it
--   idle_ps | ps | Idle | time that counts to it
--   unknown_ps | ps | Unknown | time that counts to it
--   hidden_input_ps | ps | Input hidden | ops of the input pipeline while the time counts to something else
--   hidden_communication_ps | ps | Communication hidden | communication under compute
--   hidden_copy_ps | ps | Copy hidden | copies under compute or communication
WITH taken AS (
  SELECT
    p.step_id,
    sum_where!(p.label = 'input', p.dur_ps) AS input_sum,
    sum_where!(p.label = 'compile', p.dur_ps) AS compile_sum,
    sum_where!(p.label = 'compute', p.dur_ps) AS compute_sum,
    sum_where!(p.label = 'communication', p.dur_ps) AS communication_sum,
    sum_where!(p.label = 'copy', p.dur_ps) AS copy_sum,
    sum_where!(p.label = 'dispatch', p.dur_ps) AS dispatch_sum,
    sum_where!(p.label = 'setup', p.dur_ps) AS setup_sum,
    sum_where!(p.label = 'python', p.dur_ps) AS python_sum,
    sum_where!(p.label = 'wait', p.dur_ps) AS wait_sum,
    sum_where!(p.label = 'idle', p.dur_ps) AS idle_sum,
    sum_where!(p.label = 'unknown', p.dur_ps) AS unknown_sum,
    sum_where!(p.label = 'input', p.hidden_ps) AS input_hidden,
    sum_where!(p.label = 'communication', p.hidden_ps) AS communication_hidden,
    sum_where!(p.label = 'copy', p.hidden_ps) AS copy_hidden
  FROM step_part AS p
  GROUP BY p.step_id
),

judged AS (
  SELECT
    columns!(s, id, run_id, host_id, source_id, step, ts_ps, kind, averaged),
    s.dur_ps AS length_ps,
    MAX(CASE WHEN s.averaged THEN 1 ELSE 0 END) OVER (PARTITION BY s.run_id, s.host_id) AS any_averaged
  FROM step AS s
  INNER JOIN taken AS t ON t.step_id = s.id
),

-- Which steps each row is the mean of.
lines AS (
  SELECT
    0 AS place,
    columns!(j, run_id, host_id),
    'mean' AS what,
    CAST(NULL AS BIGINT) AS of_source,
    CAST(NULL AS BIGINT) AS number,
    CAST(NULL AS BIGINT) AS at_ps,
    CAST(NULL AS BIGINT) AS row_id,
    CAST(NULL AS VARCHAR) AS of_kind,
    TRUE AS counts,
    j.length_ps,
    j.id AS of_step
  FROM judged AS j
  WHERE j.averaged OR j.any_averaged = 0
  UNION ALL
  SELECT
    1 AS place,
    columns!(j, run_id, host_id),
    CAST(j.step AS VARCHAR) AS what,
    columns!(j, source_id, step, ts_ps),
    j.id AS row_id,
    columns!(j, kind, averaged, length_ps),
    j.id AS of_step
  FROM judged AS j
)

SELECT
  columns!(l, run_id, host_id, what),
  COUNT(*) AS steps,
  l.of_kind AS kind,
  l.counts AS averaged,
  mean!(SUM(l.length_ps), COUNT(*)) AS dur_ps,
  mean!(SUM(t.input_sum), COUNT(*)) AS input_ps,
  mean!(SUM(t.compile_sum), COUNT(*)) AS compile_ps,
  mean!(SUM(t.compute_sum), COUNT(*)) AS compute_ps,
  mean!(SUM(t.communication_sum), COUNT(*)) AS communication_ps,
  mean!(SUM(t.copy_sum), COUNT(*)) AS copy_ps,
  mean!(SUM(t.dispatch_sum), COUNT(*)) AS dispatch_ps,
  mean!(SUM(t.setup_sum), COUNT(*)) AS setup_ps,
  mean!(SUM(t.python_sum), COUNT(*)) AS python_ps,
  mean!(SUM(t.wait_sum), COUNT(*)) AS wait_ps,
  mean!(SUM(t.idle_sum), COUNT(*)) AS idle_ps,
  mean!(SUM(t.unknown_sum), COUNT(*)) AS unknown_ps,
  mean!(SUM(t.input_hidden), COUNT(*)) AS hidden_input_ps,
  mean!(SUM(t.communication_hidden), COUNT(*)) AS hidden_communication_ps,
  mean!(SUM(t.copy_hidden), COUNT(*)) AS hidden_copy_ps
FROM lines AS l
INNER JOIN taken AS t ON t.step_id = l.of_step
GROUP BY
  l.place, l.run_id, l.host_id, l.what, l.of_source, l.number, l.at_ps, l.row_id, l.of_kind, l.counts
ORDER BY nulls_last!(l.run_id, l.host_id, l.place, l.number, l.of_source, l.at_ps, l.row_id)
