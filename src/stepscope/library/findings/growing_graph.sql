-- Graphs or functions grow with every step
--
-- question: Which graph or collection of functions grows with every step, and on which line?
-- reads: _held_array
-- severity: medium
-- impact: {what} after each step: {many} after {steps} steps. {place}.
-- action: Build the graph once, before the loop: tf.Graph.finalize() raises at the line that adds to it. Make functions
--   that are compiled once, and pass what changes as an argument.
-- action_tensorflow: Build the graph once, before the loop, and feed what changes: graph.finalize() raises at the line
--   that adds to it. Make functions that are compiled once.
-- action_jax: Make jitted functions once, and pass what changes as an argument.
-- action_pytorch: Keep numbers, as loss.item(), or loss.detach(); validate under torch.no_grad(): a tensor with a
--   gradient keeps all operations that made it, and what they need to go back.
-- weakened_by: held-arrays-cut
-- reasoning: What a step adds to a graph is never freed, and the operations behind a PyTorch tensor are kept as
--   long as the tensor. Memory runs out eventually; until then each step takes longer if the graph has to be
--   prepared, or a function compiled, again.
-- formula: The recorder counts the ops of TensorFlow 1's graphs, the compiled functions that the program's variables
--   hold, and the operations of autograd's graphs behind tensors that they hold, as the recording begins, after ten
--   steps, and as it ends. Reported where there are more at every look than at the one before, by at least one for
--   each step over five steps or more, and where a variable's arrays do not grow so much that growing_memory reports
--   it; impact = 0, because what it costs is no time of a step.
-- columns:
--   impact_ps | ps | Time | 0: it is no time of a step
--   run_id, host_id
--   holder | text | Variable | the graph; or the variable, with attributes of what it holds
--   what | text | More | what holds how many more
--   each | int | More each step | by how many it grew for each step
--   many | int | Number | how many there were at the last look
--   steps | int | Steps | steps that there had been by then
--   place | text | Where | the line that adds them
--   file | text | File | file of the program
--   line | int | Line | line that adds them
--   function | text | Function | function of that line
WITH counted AS (
  SELECT
    columns!(h,
      run_id, host_id, source_id, holder, in_file, device, array_kind, look, is_last, steps, was_steps, bytes,
      was_bytes, file, line, function, puts
    ),
    CASE WHEN h.array_kind IN ('ops', 'compiled functions') THEN h.arrays ELSE h.operations END AS many,
    CASE WHEN h.array_kind IN ('ops', 'compiled functions') THEN h.was_arrays ELSE h.was_operations END AS was_many
  FROM _held_array AS h
  WHERE h.holder IS NOT NULL
),

spans AS (
  SELECT
    c.source_id AS of_source,
    c.holder AS of_holder,
    c.in_file AS of_file,
    c.device AS of_device,
    c.array_kind AS of_kind,
    MIN(c.was_steps) AS first_steps,
    MIN(c.was_many) AS first_many,
    MIN(c.was_bytes) AS first_bytes,
    MAX(c.look) AS last_look,
    sum_where!(c.was_many >= c.many, 1) AS shrunk
  FROM counted AS c
  WHERE c.was_many IS NOT NULL AND c.many IS NOT NULL
  GROUP BY columns!(c, source_id, holder, in_file, device, array_kind)
),

grown AS (
  SELECT
    columns!(c, run_id, host_id, source_id, holder, array_kind, many, steps, file, line, function, puts),
    whole!(CAST(c.many - s.first_many AS DOUBLE) / (c.steps - s.first_steps) + 0.5) AS each
  FROM counted AS c
  INNER JOIN spans AS s
    ON s.of_source = c.source_id
    AND s.of_holder = c.holder
    AND s.of_file = c.in_file
    AND s.of_device = c.device
    AND s.of_kind = c.array_kind
    AND s.last_look = c.look
  WHERE
    c.is_last
    AND s.shrunk = 0
    AND c.steps - s.first_steps >= 5
    AND c.many - s.first_many >= c.steps - s.first_steps
    AND c.bytes - s.first_bytes < 1024 * (c.steps - s.first_steps)
)

SELECT
  'medium' AS severity,
  CAST(0 AS BIGINT) AS impact_ps,
  columns!(g, run_id, host_id, holder),
  CASE
    WHEN g.array_kind = 'ops' THEN
      'The graph has ' || CAST(g.each AS VARCHAR) || CASE WHEN g.each = 1 THEN ' more op' ELSE ' more ops' END
    WHEN g.array_kind = 'compiled functions' THEN
      '`' || g.holder || '` holds ' || CAST(g.each AS VARCHAR)
      || CASE WHEN g.each = 1 THEN ' more compiled function' ELSE ' more compiled functions' END
    ELSE
      '`' || g.holder || '` keeps ' || CAST(g.each AS VARCHAR)
      || CASE WHEN g.each = 1 THEN ' more operation' ELSE ' more operations' END || ' of autograd''s graph'
  END AS what,
  columns!(g, each, many, steps),
  CASE
    WHEN g.file IS NULL OR g.line IS NULL THEN 'Which line adds them is not known'
    ELSE
      g.file || ':' || CAST(g.line AS VARCHAR) || ' `' || COALESCE(g.function, '') || '` '
      || CASE WHEN g.puts THEN 'adds them' ELSE 'sets it' END
  END AS place,
  columns!(g, file, line, function)
FROM grown AS g
ORDER BY nulls_last!(g.each DESC, g.run_id, g.host_id, g.holder, g.source_id, g.many DESC)
