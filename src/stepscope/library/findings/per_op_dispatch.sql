-- Many small calls launch the ops
--
-- question: How much of the steps goes into launching ops, with how many calls, and from which lines?
-- reads: _label_line, _launch_sum, step
-- severity: high from half of the steps, medium from 35 %, low from a fifth; only from 20 calls a step, or where a mean
--   step is shorter than 2 ms
-- impact: Launching ops takes {share} of the steps: {launches} {launches:call|calls} of the framework in each,
--   and no op is recorded meanwhile.
-- action: Make one call of the many: compile the whole step, or make one call for a batch instead of a loop over its
--   rows.
-- action_tensorflow: Make one call of the many: tf.function around the whole step (of Keras, compile() without
--   run_eagerly=True), or one call for a batch instead of a loop over its rows.
-- action_jax: Make one call of the many: jax.jit around the whole step, jax.lax.scan instead of a loop over time,
--   jax.vmap or one call for a batch instead of a loop over its rows.
-- action_pytorch: Make one call of the many: torch.compile, kernels launched as one graph (on NVIDIA
--   devices, CUDA graphs), or one call for a batch instead of a loop over its rows.
-- action_torch_compiled: Make one call of the many: what is not compiled yet into the compiled function, kernels
--   launched as one graph (on NVIDIA devices, CUDA graphs), or one call for a batch instead of a loop over its
--   rows.
-- notes: The rows are lines of the program, where the stack of the thread that runs the steps was sampled.
-- weakened_by: lost, capped, truncated, no-steps, stacks-capped
-- reasoning: Each call of an op that is not compiled costs some 10 to 50 µs of Python and of the framework, however
--   small the op is. A compiled function is one call, and launches its ops in about 1 µs each.
-- formula: impact = time labelled dispatch in step_part, over the steps that averages include; share = impact / their
--   durations; launches = slices that launch an op, a compiled function or a kernel, each once / all steps of the
--   host, rounded. Reported from a share of 0.2, and from 20 launches a step or where a mean step is shorter than
--   2 ms: then each step is a call itself, as of a row.
-- columns:
--   impact_ps | ps | Launching | time of the steps
--   run_id
--   host_id | text | Host | host
--   share | ratio | Share of steps | launching as part of the steps
--   launches | int | Calls | calls of the framework in a mean step
--   file | text | File | file of the program
--   line | int | Line | line that ran
--   function | text | Function | function that contains the line
--   line_share | ratio | Share of launching | part of the launching during which that line runs
WITH counted AS (
  SELECT
    s.run_id AS in_run,
    s.host_id AS in_host,
    COUNT(*) AS step_count,
    AVG(CASE WHEN s.averaged THEN s.dur_ps END) AS mean_step_ps
  FROM step AS s
  WHERE s.dur_ps > 0
  GROUP BY s.run_id, s.host_id
)

SELECT
  CASE
    WHEN l.label_ps * 2 >= l.steps_ps THEN 'high'
    WHEN l.label_ps * 20 >= l.steps_ps * 7 THEN 'medium'
    ELSE 'low'
  END AS severity,
  l.label_ps AS impact_ps,
  columns!(l, run_id, host_id),
  share!(l.label_ps, l.steps_ps) AS share,
  whole!(CAST(c.launch_count AS DOUBLE) / n.step_count + 0.5) AS launches,
  columns!(l, file, line, function),
  share!(l.line_ps, l.label_ps) AS line_share
FROM _label_line AS l
INNER JOIN _launch_sum AS c ON c.run_id = l.run_id AND c.host_id = l.host_id
INNER JOIN counted AS n ON n.in_run = l.run_id AND n.in_host = l.host_id
WHERE
  l.label = 'dispatch'
  AND l.label_ps * 5 >= l.steps_ps
  AND (c.launch_count >= 20 * n.step_count OR (n.mean_step_ps < 2000000000 AND c.launch_count * 2 >= n.step_count))
ORDER BY nulls_last!(l.label_ps DESC, l.run_id, l.host_id, l.line_ps DESC, l.file, l.line, l.function)
