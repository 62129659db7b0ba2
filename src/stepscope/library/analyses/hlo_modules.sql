-- Compiled modules
--
-- question: What did XLA compile, how often, and what do the programs cost?
-- reads: hlo_module
-- notes: From dump folders of XLA and from XPlanes, which keep programs that ran. A module is one compile of a function;
--   where a compile was not dumped to its end, its figures are those of the last pass. What a recording keeps is a copy
--   when an earlier recording or a dump of its run has a program of that name, number, size and parameters; where there
--   are recordings of one run only, every dump is taken to be of it. TensorFlow's recordings number all programs 0, and
--   are compared without numbers. run_flops and run_bytes count loops as often as they are known to go round, flops as
--   XLA counts: once. Memory needs the buffer assignment that a dump has after optimization.
-- columns:
--   run_id | text | Run | name of the run
--   module, program_id
--   function | text | Function | function that it was compiled from
--   compile | int | Compile | which compile of that function it is
--   devices | int | Devices | devices that it is split over, of one of which the figures are; none where it is not split
--   kept_by | text | Kept by | dump or recording
--   is_copy | bool | Copy | true when another row is of the same program
--   is_final | bool | Final | true when it is what runs
--   passes | int | Passes | dumps after passes
--   changing_passes | int | Changing | those that differ from the dump before
--   instructions | int | Instructions | in all its computations
--   fusions | int | Fusions | fused groups of instructions
--   run_flops | flop | Flops | floating-point operations of a run
--   run_bytes | float | Bytes moved | bytes that a run reads and writes
--   flops_per_byte | float | Intensity | flops for each byte it moves
--   allocated_bytes | bytes | Memory | memory that a run takes
--   temp_bytes | bytes | Temporary | of it, memory of values in between
--   flops | flop | By XLA | flops as XLA counts them: bodies of loops once
--   problem | text | Problem | why figures are missing or doubtful
WITH
modules AS (
  SELECT
    columns!(m,
      id, run_id, source_id, module, program_id, function, compile, partitions, passes, changing_passes, instructions,
      fusions, run_flops, run_bytes, allocated_bytes, temp_bytes, flops, problem, is_final
    ),
    m.stages + m.passes = 0 AS is_recorded,
    COALESCE(m.parameters, '') AS taken,
    COALESCE(m.computations, -1) AS parts,
    COALESCE(m.instructions, -1) AS size
  FROM hlo_module AS m
),
recorded AS (
  SELECT MIN(m.run_id) AS first_run, MAX(m.run_id) AS last_run
  FROM modules AS m
  WHERE m.is_recorded
),
dumped AS (
  SELECT m.source_id, m.id
  FROM modules AS m
  CROSS JOIN recorded AS r
  INNER JOIN modules AS d
    ON d.module = m.module AND d.taken = m.taken AND d.parts = m.parts AND d.size = m.size
  WHERE
    m.is_recorded AND NOT d.is_recorded AND d.is_final
    AND (d.run_id = m.run_id OR r.first_run = r.last_run)
    AND (d.program_id = m.program_id OR m.program_id IN ('', '0'))
  GROUP BY m.source_id, m.id
)
SELECT
  columns!(m, run_id, module, program_id, function, compile),
  NULLIF(m.partitions, 1) AS devices,
  CASE WHEN m.is_recorded THEN 'recording' ELSE 'dump' END AS kept_by,
  m.is_recorded AND (
    d.id IS NOT NULL
    OR ROW_NUMBER() OVER (
      PARTITION BY m.is_recorded, m.run_id, m.module, m.program_id, m.taken, m.parts, m.size
      ORDER BY nulls_last!(m.source_id, m.id)
    ) > 1
  ) AS is_copy,
  columns!(m, is_final, passes, changing_passes, instructions, fusions, run_flops, run_bytes),
  CASE WHEN m.run_bytes > 0 THEN CAST(m.run_flops AS DOUBLE) / m.run_bytes END AS flops_per_byte,
  columns!(m, allocated_bytes, temp_bytes, flops, problem)
FROM modules AS m
LEFT JOIN dumped AS d ON d.source_id = m.source_id AND d.id = m.id
ORDER BY nulls_last!(m.run_flops DESC, m.run_bytes DESC, m.id)
