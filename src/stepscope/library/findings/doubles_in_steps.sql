-- Ops compute with 64-bit floats
--
-- question: How much of the time of ops goes to those that compute with 64-bit floats?
-- reads: _double_op
-- severity: medium from 20 % of the time of ops that compute; high from half of it on an accelerator
-- impact: {share} of the time of ops goes to those that compute with 64-bit floats:
--   {impact_ps} in {ops} {ops:op|ops}, most of
--   it in {op}[, {file}:{line}].
-- action: If 32 bits are enough, give NumPy arrays and constants a type (np.float32).
-- action_jax: If 32 bits are enough, turn jax_enable_x64 off, or give NumPy arrays and constants a type (np.float32):
--   one array of 64-bit floats makes all that is computed with it so.
-- action_pytorch: If 32 bits are enough, make tensors of NumPy arrays with .float(): `torch.from_numpy` keeps their 64
--   bits, and `model.double()` makes all that is computed with it so.
-- weakened_by: lost, capped, truncated, missing
-- reasoning: 64-bit floats take twice the memory and half of the vector units. Accelerators compute them many times
--   slower, if at all.
-- formula: share = self times of ops whose instructions make f64 or c128 / those of all ops that compute, at the same
--   place; of graphs, ops whose type is DT_DOUBLE. An instruction or node that programs give several types is left
--   out. Of PyTorch on processors: self times of ops
--   whose first input has such numbers, where shapes were recorded, and is no single number: those of Python are
--   64-bit floats, and are computed with as what they meet.
-- columns:
--   impact_ps | ps | Self | self times of these ops, added up
--   run_id, host_id
--   place | text | Place | device or host
--   share | ratio | Share | part of the time of all ops that compute there
--   ops | int | Ops | how many compute with such floats
--   op | text | Op | the one that takes longest
--   file | text | File | of the line that made it
--   line | int | Line | in that file
SELECT
  CASE WHEN d.place = 'device' AND d.double_ps * 2 >= d.all_ps THEN 'high' ELSE 'medium' END AS severity,
  d.double_ps AS impact_ps,
  columns!(d, run_id, host_id, place),
  share!(d.double_ps, d.all_ps) AS share,
  columns!(d, ops, op, file, line)
FROM _double_op AS d
WHERE d.position = 1 AND d.double_ps * 5 >= d.all_ps
ORDER BY nulls_last!(d.double_ps DESC, d.run_id, d.host_id, d.place)
