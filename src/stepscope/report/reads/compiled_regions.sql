-- Which regions that torch.compile has compiled ran?
--
-- reads: rollup_op
-- columns:
--   name | text | as recorded
--   runs | int | how often
SELECT r.name, sum!(r.slices) AS runs
FROM rollup_op AS r
WHERE
  r.name LIKE 'Torch-Compiled Region%' OR r.name LIKE '## Call CompiledFxGraph %'
  OR r.name IN ('CompiledFunction', 'CompiledFunctionBackward')
GROUP BY r.name
ORDER BY nulls_last!(r.name)
