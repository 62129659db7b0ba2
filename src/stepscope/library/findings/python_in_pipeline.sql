-- Python code runs inside the graph
--
-- question: How much time do ops take that call Python, such as those of tf.py_function and jax.pure_callback?
-- reads: op_slice, observed, step_window, rollup_op
-- severity: high from 30 % of the window, medium from 5 %
-- impact: {op} [and {more_ops} more {op_type} {more_ops:op|ops} ]{ops:calls|call} Python for {impact_ps} in {runs}
--   {runs:call|calls}, {share} of the window. Only one call can compute in Python at a time, however many run at
--   once; calls that merely wait do overlap.
-- action: Write it with the framework's ops, or do it once and store the result (cache, TFRecord). If input
--   must be made in Python, use several processes (tf.data service, or reading prepared files).
-- action_jax: Write it with jax.numpy or jax.lax, so that it is compiled with the rest, or do it once, before the
--   loop, and pass the result.
-- notes: Calls are cut at the edges of the window; those that overlap count once. Files of a step each are one window
--   together; a source without ops is in none.
-- weakened_by: lost, capped, truncated
-- reasoning: Such an op calls back into the program's Python, whose interpreter lock lets one thread compute
--   at a time: num_parallel_calls does not help calls that compute, and the
--   training loop's own Python waits as well. Python that only waits (a socket, a sleep) releases the lock;
--   a trace cannot tell the two apart, so stepscope predicts wide intervals for running it in parallel.
-- formula: impact = length of the union of the calls of all ops of one type, cut at the edges of the window; share =
--   impact / window; reported from 0.05, high from 0.3.
-- columns:
--   impact_ps | ps | In Python | time within the window in which at least one call runs
--   run_id, host_id
--   op | text | Op | name of the op whose calls take longest
--   ops | int | Ops | how many ops of its type were called
--   more_ops | int | More ops | those besides it; NULL where there are none
--   op_type | text | Op type | EagerPyFunc, PyFunc, PyFuncStateless, pure_callback, io_callback, …
--   runs | int | Runs | how often they were called
--   share | ratio | Share of window | that time as part of the window
WITH cut AS (
  SELECT
    columns!(o, slice_id, source_id, op, op_type),
    w.piece_id,
    greatest!(w.open_ps, o.ts_ps) AS from_ps,
    least!(w.close_ps, o.end_ps) AS to_ps
  FROM op_slice AS o
  INNER JOIN observed AS w ON w.source_id = o.source_id
  WHERE
    o.class = 'python'
    AND o.place <> 'launch'
    AND o.dur_ps > 0
    AND o.ts_ps < w.close_ps
    AND o.end_ps > w.open_ps
),

ordered AS (
  SELECT
    columns!(c, source_id, op, op_type, from_ps, to_ps),
    covered!(c.to_ps, c.from_ps, c.slice_id, c.source_id, c.op_type, c.piece_id) AS covered_ps
  FROM cut AS c
),

ops AS (
  SELECT
    columns!(w, run_id, host_id),
    columns!(o, op, op_type),
    COUNT(*) AS op_runs,
    SUM(uncovered!(o.covered_ps, o.from_ps, o.to_ps)) AS op_ps,
    ROW_NUMBER() OVER (
      PARTITION BY columns!(w, run_id, host_id), o.op_type
      ORDER BY nulls_last!(SUM(o.to_ps - o.from_ps) DESC, o.op)
    ) AS place
  FROM ordered AS o
  INNER JOIN step_window AS w ON w.source_id = o.source_id
  GROUP BY columns!(w, run_id, host_id), columns!(o, op, op_type)
),

calls AS (
  SELECT
    columns!(p, run_id, host_id, op_type),
    MIN(CASE WHEN p.place = 1 THEN p.op END) AS longest_op,
    COUNT(*) AS ops,
    sum!(p.op_runs) AS runs,
    sum!(p.op_ps) AS in_python_ps
  FROM ops AS p
  GROUP BY columns!(p, run_id, host_id, op_type)
),

told AS (
  SELECT r.source_id
  FROM rollup_op AS r
  GROUP BY r.source_id
),

hosts AS (
  SELECT w.run_id, w.host_id, sum!(w.window_ps) AS whole_ps
  FROM step_window AS w
  INNER JOIN told AS t ON t.source_id = w.source_id
  GROUP BY w.run_id, w.host_id
)

SELECT
  CASE WHEN c.in_python_ps * 10 >= w.whole_ps * 3 THEN 'high' ELSE 'medium' END AS severity,
  c.in_python_ps AS impact_ps,
  columns!(c, run_id, host_id),
  c.longest_op AS op,
  c.ops,
  NULLIF(c.ops - 1, 0) AS more_ops,
  columns!(c, op_type, runs),
  share!(c.in_python_ps, w.whole_ps) AS share
FROM calls AS c
INNER JOIN hosts AS w ON w.run_id = c.run_id AND w.host_id = c.host_id
WHERE c.in_python_ps * 20 >= w.whole_ps AND c.in_python_ps > 0
ORDER BY nulls_last!(c.in_python_ps DESC, c.run_id, c.host_id, c.op_type)
