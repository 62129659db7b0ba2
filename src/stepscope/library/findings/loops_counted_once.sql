-- XLA's cost counts loops once
--
-- question: For which programs does XLA's own cost count loops only once?
-- reads: _dumped_program, hlo_module
-- severity: info
-- impact: {program}: its loops make a run {run_flops}; XLA counts their bodies once and says {xla_flops}.
-- action: Use run_flops and run_bytes of stepscope xla dumps for rates.
-- reasoning: cost_analysis() counts the body of a loop once, however often it runs.
-- formula: flops with all known trips > 2 x the flops that XLA counts.
-- columns:
--   run_id, program, module, program_id
--   run_flops | flop | Flops | of a run, with all trips
--   xla_flops | flop | By XLA | as XLA counts them, custom calls as nothing
SELECT
  'info' AS severity,
  columns!(p, run_id, program, module, program_id),
  m.run_flops,
  CASE WHEN m.flops > 0 THEN m.flops ELSE 0.0 END AS xla_flops
FROM _dumped_program AS p
INNER JOIN hlo_module AS m ON m.id = p.module_id
WHERE p.is_final AND m.run_flops > 0 AND m.run_flops > 2 * m.flops
ORDER BY nulls_last!(m.run_flops DESC, p.module_id)
