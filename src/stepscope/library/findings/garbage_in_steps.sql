-- Python collects garbage in the steps
--
-- question: How much of the steps of each host does Python's garbage collection take?
-- reads: _step_garbage
-- severity: high from half of the steps, medium from a quarter, low from a tenth
-- impact: Python's garbage collection takes {share} of a step: {collections} {collections:collection|collections} in
--   {steps} {steps:step|steps}, {whole_ones} of them of all objects.
-- action: Hold data in arrays, of which the collector sees one object instead of millions. After all is loaded, call
--   gc.freeze(), so that collections leave it out. Or switch them off with gc.disable() and call gc.collect() every
--   thousandth step.
-- weakened_by: lost, capped, truncated
-- reasoning: The collector runs when enough objects were made, or when the program calls it, and looks at every
--   container that may be part of a cycle. A collection of all objects takes as long as the program has such objects,
--   and comes at whatever line makes one more: that line is not what takes the time.
-- formula: impact = collections of the thread that runs the steps, from 0.1 ms on, over the steps that averages
--   include; share = impact / their durations. Reported from 0.1.
-- columns:
--   impact_ps | ps | Collecting | time of the steps that collections take
--   run_id
--   host_id | text | Host | host
--   share | ratio | Share of steps | collections as part of the steps
--   collections | int | Collections | those that begin within the steps
--   whole_ones | int | Of all objects | those of them that go through all objects
--   steps | int | Steps | steps
SELECT
  severity!(g.garbage_ps, g.steps_ps) AS severity,
  g.garbage_ps AS impact_ps,
  columns!(g, run_id, host_id),
  share!(g.garbage_ps, g.steps_ps) AS share,
  columns!(g, collections, whole_ones, steps)
FROM _step_garbage AS g
WHERE g.garbage_ps * 10 >= g.steps_ps
ORDER BY nulls_last!(g.garbage_ps DESC, g.run_id, g.host_id)
