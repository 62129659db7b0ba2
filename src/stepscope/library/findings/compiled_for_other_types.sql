-- A function is compiled again for other types
--
-- question: Which functions did XLA compile again for inputs of another type or number?
-- reads: hlo_case, _dumped_program
-- severity: medium or low
-- impact: {function} was compiled for {inputs} different inputs: {what}.
-- action: Pass arguments of one type and number, or make the others static.
-- reasoning: A program is compiled for fixed types. Another type means another compile, and a step waits.
-- formula: modules of one function of at least 8 instructions whose parameters differ in type, number or dimensions
--   only; low for functions with less than a hundredth of the heaviest one's work.
-- columns:
--   run_id
--   function | text | Function | that was compiled
--   module, program_id
--   inputs | int | Inputs | different inputs that the function was compiled for
--   what | text | What | the first parameter that differs, with both shapes
--   function_share | ratio | Work | most work of the function's programs, as part of the heaviest program's
SELECT
  CASE WHEN p.function_share >= 0.01 THEN 'medium' ELSE 'low' END AS severity,
  c.run_id,
  columns!(p, function, module, program_id),
  whole!(c.value) AS inputs,
  c.what,
  p.function_share
FROM hlo_case AS c
INNER JOIN _dumped_program AS p ON p.module_id = c.module_id
WHERE c.kind = 'types'
ORDER BY nulls_last!(CASE WHEN p.function_share >= 0.01 THEN 0 ELSE 1 END, c.value DESC, c.id)
