-- A function is compiled again and again
--
-- question: Which function is traced or compiled again, from where, and what is new about the call?
-- reads: compilation_sum, compilation
-- severity: high from three steps, medium for fewer, low outside of steps
-- impact: `{function}` was traced or compiled {times} {times:time|times} after the first, for {impact_ps} in all,
--   called {place}. New each time: {changed}.
-- action: {advice}
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
--   advice | text | Advice | what to do about such a change
WITH of_jax AS (
  SELECT a.run_id AS of_run, a.host_id AS of_host, a.function AS jax_function
  FROM compilation AS a
  GROUP BY a.run_id, a.host_id, a.function
  HAVING MIN(a.framework) = 'jax' AND MAX(a.framework) = 'jax'
)

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
    WHEN 'value'
      THEN CONCAT(
        'Pass ', COALESCE(c.argument, 'what changes'), ' as a tensor or an array: for each number, text or static ',
        'argument that it has not seen, a function is compiled again.'
      )
    WHEN 'shape'
      THEN CONCAT(
        'Pad batches to few shapes. ',
        CASE
          WHEN j.jax_function IS NULL
            THEN 'An input_signature of tf.function can also have None for the size that changes.'
          ELSE 'An array that grows can be made once, as large as it becomes, and filled with .at[].set.'
        END
      )
    WHEN 'new_function'
      THEN CONCAT(
        'Make the function once, outside of the loop',
        CASE WHEN c.argument IS NULL THEN '' ELSE ', and pass ' || c.argument || ' to it as a tensor or an array' END,
        ': what is compiled belongs to one function object.'
      )
    WHEN 'unknown'
      THEN CONCAT(
        'Pad batches to few shapes. Pass Python numbers that change as tensors or arrays, not as static arguments. ',
        'Make functions once, outside of the loop.'
      )
    ELSE CONCAT(
      'Pass ', COALESCE(c.argument, 'the argument'),
      CASE
        WHEN c.change IN ('function', 'object') THEN ' as one object, made outside of the loop.'
        WHEN c.change = 'structure' THEN ' with the same parts in each call.'
        ELSE ' with one type in each call.'
      END
    )
  END AS advice
FROM compilation_sum AS c
LEFT JOIN of_jax AS j ON j.of_run = c.run_id AND j.of_host = c.host_id AND j.jax_function = c.function
WHERE c.change <> 'first' AND c.times >= 2 AND (c.steps >= 1 OR c.times >= 5)
ORDER BY nulls_last!(c.total_ps DESC, c.run_id, c.host_id, c.function, place, changed)
