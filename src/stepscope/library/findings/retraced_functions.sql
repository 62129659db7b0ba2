-- A function is compiled again and again
--
-- question: Which function is traced or compiled again, from where, and what is new about the call?
-- reads: compilation_sum
-- severity: high from three steps, medium for fewer, low outside of steps
-- impact: `{function}` was traced or compiled {times} {times:time|times} after the first, for {impact_ps} in all,
--   called {place}. New each time: {changed}.
-- action: Pad batches to few shapes; pass Python numbers that change as tensors or arrays, not as static arguments;
--   make functions, and the ops of a graph, once, outside of the loop.
-- action_tensorflow: {advice}
-- action_jax: Pad batches to few shapes; pass Python numbers that change as arrays, not as static arguments; make
--   functions once, outside of the loop.
-- weakened_by: compilations-capped
-- reasoning: A function is compiled for each shape and type of array, for each value of Python's own that is compiled
--   in, and for each new function object. The recorder compares a call that compiles with earlier calls of the same
--   function that did, and tells what differs from the most similar one.
-- formula: impact = durations of the calls that traced or compiled, but for the first of each function; what was
--   compiled in them is run in them, too. Reported when one change makes a function compile at least twice more, with
--   at least one of these calls in a step, or five times more.
-- columns:
--   impact_ps | ps | Time | durations of these calls
--   run_id, host_id
--   function | text | Function | function that was traced or compiled
--   place | text | Called | the program's line that called it
--   changed | text | New each time | what was new, and what it was in the last of these calls
--   times | int | Times | calls that traced or compiled, but for the first
--   steps | int | Steps | steps in which they lie
--   advice | text | Advice | what to do about functions and graphs of TensorFlow
SELECT
  CASE WHEN c.steps >= 3 THEN 'high' WHEN c.steps >= 1 THEN 'medium' ELSE 'low' END AS severity,
  c.total_ps AS impact_ps,
  columns!(c, run_id, host_id, function),
  CASE
    WHEN c.call_file IS NULL THEN 'from a line that is not known'
    ELSE 'in ' || c.call_file || ':' || CAST(c.call_line AS VARCHAR) || ' `' || COALESCE(c.call_function, '') || '`'
  END AS place,
  CASE c.change
    WHEN 'new_function' THEN 'the function object itself'
    WHEN 'graph' THEN 'the number of ops in the graph'
    WHEN 'unknown' THEN 'nothing that the recorder saw'
    WHEN 'function' THEN 'the function passed as ' || COALESCE(c.argument, 'an argument')
    WHEN 'object' THEN 'the object passed as ' || COALESCE(c.argument, 'an argument')
    ELSE c.change || ' of ' || COALESCE(c.argument, 'an argument')
  END
  || CASE
    WHEN c.was IS NULL OR c.became IS NULL OR c.change IN ('object', 'function') THEN ''
    WHEN c.change = 'new_function' THEN ', which holds ' || c.argument || ' = ' || c.became || ' after ' || c.was
    ELSE ', ' || c.was || ' to ' || c.became
  END AS changed,
  columns!(c, times, steps),
  CASE c.change
    WHEN 'graph'
      THEN CONCAT(
        'Make the ops of the graph before the loop, and change values by placeholders or variables: each time the ',
        'graph grows, the session prepares it again. After tf.get_default_graph().finalize(), the line that adds an ',
        'op fails.'
      )
    ELSE CONCAT(
      'Pad batches to few shapes, or give tf.function an input_signature with None for the size that changes. Pass ',
      'Python numbers that change as tensors. Make functions once, outside of the loop.'
    )
  END AS advice
FROM compilation_sum AS c
WHERE c.change <> 'first' AND c.times >= 2 AND (c.steps >= 1 OR c.times >= 5)
ORDER BY nulls_last!(c.total_ps DESC, c.run_id, c.host_id, c.function, place, changed)
