-- A loop does most of the work
--
-- question: Which loops do most of the work of a program?
-- reads: _dumped_instruction, hlo_computation
-- severity: info
-- impact: {instruction} in {program} has {share} of the work[, in {trips} {trips:trip|trips}][, {file}:{line}].
-- action: Look for what to save inside its body first: stepscope xla cost lists it by line.
-- reasoning: Trips run one after the other, and a trip often has too little work to fill a device.
-- formula: flops or bytes of a while of the entry, with all its trips, >= half of the program's, in programs that do
--   at least a tenth of what the heaviest does.
-- columns:
--   run_id, program, module, program_id, instruction
--   trips | int | Trips | how often it goes round; none where that is unknown
--   moved_bytes | bytes | Moved | bytes that all its trips move in a run
--   share | ratio | Share | of the program's flops or bytes, whichever is more
--   op, file, line
WITH shares AS (
  SELECT
    i.id,
    CASE WHEN i.all_flops >= 1000000 THEN CAST(i.run_flops * i.times AS DOUBLE) / i.all_flops ELSE 0.0 END AS of_flops,
    CASE WHEN i.all_bytes > 0 THEN CAST(i.run_bytes * i.times AS DOUBLE) / i.all_bytes ELSE 0.0 END AS of_bytes
  FROM _dumped_instruction AS i
  INNER JOIN hlo_computation AS c
    ON c.module_id = i.module_id AND c.pass_id = i.pass_id AND c.name = i.computation
  WHERE i.opcode = 'while' AND c.is_entry AND i.work_share >= 0.1
),

works AS (
  SELECT s.id, greatest!(s.of_flops, s.of_bytes) AS part
  FROM shares AS s
)

SELECT
  'info' AS severity,
  columns!(i, run_id, program, module, program_id),
  i.name AS instruction,
  CASE
    WHEN i.trip_count < 1000000000000000 THEN whole!(i.trip_count)
    WHEN i.trip_count IS NOT NULL THEN 1000000000000000
  END AS trips,
  i.run_bytes AS moved_bytes,
  CASE WHEN w.part < 1 THEN w.part ELSE 1.0 END AS share,
  i.op_name AS op,
  columns!(i, file, line)
FROM _dumped_instruction AS i
INNER JOIN works AS w ON w.id = i.id
WHERE
  w.part >= 0.5
ORDER BY nulls_last!(i.run_bytes DESC, i.id)
