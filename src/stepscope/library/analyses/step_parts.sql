-- Steps, taken apart
--
-- question: What does the time of a step go to?
-- reads: step, step_part
-- notes: Each instant of a step counts to one label, so the labels add up to the duration. What executes on the
--   device decides first (on a processor, ops on any thread but those of the input pipeline); while nothing
--   executes, what the thread that drives the steps does. input: waits for the next batch; compile: traces or
--   compiles; compute: ops or kernels; communication: collectives that no compute hides; copy: between host and
--   device, or into tensors; dispatch: the framework launches; setup: it allocates or frees memory of
--   the device, or loads code onto it; python: the program's own Python; wait: sleeps,
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
    s.id,
    s.run_id,
    s.host_id,
    s.source_id,
    s.step,
    s.ts_ps,
    s.kind,
    s.averaged,
    s.dur_ps AS length_ps,
    MAX(CASE WHEN s.averaged THEN 1 ELSE 0 END) OVER (PARTITION BY s.run_id, s.host_id) AS any_averaged,
    t.input_sum,
    t.compile_sum,
    t.compute_sum,
    t.communication_sum,
    t.copy_sum,
    t.dispatch_sum,
    t.setup_sum,
    t.python_sum,
    t.wait_sum,
    t.idle_sum,
    t.unknown_sum,
    t.input_hidden,
    t.communication_hidden,
    t.copy_hidden
  FROM step AS s
  INNER JOIN taken AS t ON t.step_id = s.id
),

means AS (
  SELECT
    j.run_id,
    j.host_id,
    COUNT(*) AS number,
    SUM(j.length_ps) AS length_total,
    SUM(j.input_sum) AS input_sum_total,
    SUM(j.compile_sum) AS compile_sum_total,
    SUM(j.compute_sum) AS compute_sum_total,
    SUM(j.communication_sum) AS communication_sum_total,
    SUM(j.copy_sum) AS copy_sum_total,
    SUM(j.dispatch_sum) AS dispatch_sum_total,
    SUM(j.setup_sum) AS setup_sum_total,
    SUM(j.python_sum) AS python_sum_total,
    SUM(j.wait_sum) AS wait_sum_total,
    SUM(j.idle_sum) AS idle_sum_total,
    SUM(j.unknown_sum) AS unknown_sum_total,
    SUM(j.input_hidden) AS input_hidden_total,
    SUM(j.communication_hidden) AS communication_hidden_total,
    SUM(j.copy_hidden) AS copy_hidden_total
  FROM judged AS j
  WHERE j.averaged OR j.any_averaged = 0
  GROUP BY j.run_id, j.host_id
),

lines AS (
  SELECT
    0 AS place,
    m.run_id,
    m.host_id,
    'mean' AS what,
    m.number,
    NULL AS source_id,
    NULL AS step,
    NULL AS ts_ps,
    NULL AS id,
    CAST(NULL AS VARCHAR) AS kind,
    TRUE AS averaged,
    m.length_total,
    m.input_sum_total,
    m.compile_sum_total,
    m.compute_sum_total,
    m.communication_sum_total,
    m.copy_sum_total,
    m.dispatch_sum_total,
    m.setup_sum_total,
    m.python_sum_total,
    m.wait_sum_total,
    m.idle_sum_total,
    m.unknown_sum_total,
    m.input_hidden_total,
    m.communication_hidden_total,
    m.copy_hidden_total
  FROM means AS m
  UNION ALL
  SELECT
    1 AS place,
    j.run_id,
    j.host_id,
    CAST(j.step AS VARCHAR) AS what,
    1 AS number,
    j.source_id,
    j.step,
    j.ts_ps,
    j.id,
    j.kind,
    j.averaged,
    j.length_ps,
    j.input_sum,
    j.compile_sum,
    j.compute_sum,
    j.communication_sum,
    j.copy_sum,
    j.dispatch_sum,
    j.setup_sum,
    j.python_sum,
    j.wait_sum,
    j.idle_sum,
    j.unknown_sum,
    j.input_hidden,
    j.communication_hidden,
    j.copy_hidden
  FROM judged AS j
)

SELECT
  l.run_id,
  l.host_id,
  l.what,
  l.number AS steps,
  l.kind,
  l.averaged,
  mean!(l.length_total, l.number) AS dur_ps,
  mean!(l.input_sum_total, l.number) AS input_ps,
  mean!(l.compile_sum_total, l.number) AS compile_ps,
  mean!(l.compute_sum_total, l.number) AS compute_ps,
  mean!(l.communication_sum_total, l.number) AS communication_ps,
  mean!(l.copy_sum_total, l.number) AS copy_ps,
  mean!(l.dispatch_sum_total, l.number) AS dispatch_ps,
  mean!(l.setup_sum_total, l.number) AS setup_ps,
  mean!(l.python_sum_total, l.number) AS python_ps,
  mean!(l.wait_sum_total, l.number) AS wait_ps,
  mean!(l.idle_sum_total, l.number) AS idle_ps,
  mean!(l.unknown_sum_total, l.number) AS unknown_ps,
  mean!(l.input_hidden_total, l.number) AS hidden_input_ps,
  mean!(l.communication_hidden_total, l.number) AS hidden_communication_ps,
  mean!(l.copy_hidden_total, l.number) AS hidden_copy_ps
FROM lines AS l
ORDER BY nulls_last!(l.run_id, l.host_id, l.place, l.step, l.source_id, l.ts_ps, l.id)
