-- Compiled modules
--
-- question: What did XLA compile, how often, and what do the programs cost?
-- reads: hlo_module
-- notes: From dump folders of XLA and from XPlanes, which keep programs that ran; one that both have is listed twice.
--   A module is one compile of a function; where a compile was not dumped to its end, its figures are those of the last
--   pass. run_flops and run_bytes count loops as often as they are known to go round, flops as XLA counts: once. Memory
--   needs the buffer assignment that a dump has after optimization.
-- columns:
--   run_id | text | Run | name of the run
--   module | text | Module | name of the HLO module
--   program_id | text | Id | its number in the process that compiled it
--   compile | int | Compile | which compile of its function it is
--   is_final | bool | Final | true when it is what runs
--   passes | int | Passes | dumps after passes
--   changing_passes | int | Changing | those that differ from the dump before
--   instructions | int | Instructions | in all its computations
--   fusions | int | Fusions | fused groups of instructions
--   run_flops | float | Flops | floating-point operations of a run
--   run_bytes | float | Bytes moved | bytes that a run reads and writes
--   flops_per_byte | float | Intensity | flops for each byte it moves
--   allocated_bytes | bytes | Memory | memory that a run takes
--   temp_bytes | bytes | Temporary | of it, memory of values in between
--   flops | float | By XLA | flops as XLA counts them: bodies of loops once
--   problem | text | Problem | why figures are missing or doubtful
SELECT
  m.run_id,
  m.module,
  m.program_id,
  m.compile,
  m.is_final,
  m.passes,
  m.changing_passes,
  m.instructions,
  m.fusions,
  m.run_flops,
  m.run_bytes,
  CASE WHEN m.run_bytes > 0 THEN CAST(m.run_flops AS DOUBLE) / m.run_bytes END AS flops_per_byte,
  m.allocated_bytes,
  m.temp_bytes,
  m.flops,
  m.problem
FROM hlo_module AS m
ORDER BY m.run_flops DESC NULLS LAST, m.run_bytes DESC NULLS LAST, m.id NULLS LAST
