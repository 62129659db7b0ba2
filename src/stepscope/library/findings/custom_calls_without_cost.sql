-- The cost of custom calls is unknown
--
-- question: Which custom calls have a cost that XLA does not know?
-- reads: _dumped_instruction
-- severity: info
-- impact: {instruction} in {program} calls {called} {calls} {calls:time|times} in a run[, {file}:{line}].
-- action: Measure them: stepscope xla ops has their time in a recorded run.
-- reasoning: No dump says what a custom call computes. XLA counts it as -1; flops and bytes leave it out. Calls
--   that only tell the compiler something (where a value lies, how it is sharded, where memory is taken) compute
--   nothing.
-- formula: instructions custom-call of programs that run, besides those that only mark something.
-- columns:
--   run_id, program, module, program_id, instruction
--   called | text | Target | what it calls
--   calls | int | Calls | calls in a run; loops of unknown length count once
--   op, file, line
SELECT
  'info' AS severity,
  columns!(i, run_id, program, module, program_id),
  i.name AS instruction,
  COALESCE(i.target, 'no target') AS called,
  whole!(least!(i.times, 1000000000000000)) AS calls,
  i.op_name AS op,
  columns!(i, file, line)
FROM _dumped_instruction AS i
WHERE
  i.opcode = 'custom-call' AND i.times > 0
  AND COALESCE(i.target, '') NOT IN (
    'AllocateBuffer', 'AssumeGatherIndicesInBound', 'CreateBuffer', 'GlobalToLocalShape', 'LayoutConstraint',
    'LocalToGlobalShape', 'MoveToDevice', 'MoveToHost', 'Pin', 'SPMDFullToShardShape', 'SPMDShardToFullShape',
    'ScheduleBarrier', 'Sharding', 'Unpin', 'annotate_device_placement', 'inspect_sharding'
  )
  AND COALESCE(i.target, '') NOT LIKE 'xla.sdy.%'
ORDER BY nulls_last!(i.times DESC, i.id)
