-- Checkpoint tensors
--
-- question: What do the checkpoints keep: how many parameters, how many bytes, and for what?
-- reads: checkpoint_tensor, source
-- notes: The name of a tensor shows what it is for: a slot is what an optimizer keeps for each element of a
--   weight, a statistic a moving average of a layer (moving_mean, moving_variance), which is not trained. Integers
--   of 64 bits and booleans are data, as positions and masks; other state of a model counts as weight.
--   Tensors whose size only the values reveal add no bytes; what is kept as another one adds no elements either.
-- columns:
--   run_id | text | Run | name of the run
--   path | text | Checkpoint | file that lists it
--   role | text | For | weight, statistic, slot, optimizer, counter, data or copy
--   tensors | int | Tensors | tensors of this role
--   parameters | int | Parameters | their elements
--   tensor_bytes | bytes | Size | their bytes in the checkpoint
--   largest | text | Largest | the one with most bytes
--   largest_bytes | bytes | Its size | bytes of the largest
WITH ranked AS (
  SELECT
    columns!(t, run_id, source_id, role, name, bytes),
    CASE WHEN t.slices > 0 THEN t.elements END AS own_elements,
    ROW_NUMBER() OVER (
      PARTITION BY t.source_id, t.role
      ORDER BY nulls_last!(COALESCE(t.bytes, 0) DESC, t.name)
    ) AS place
  FROM checkpoint_tensor AS t
)

SELECT
  r.run_id,
  o.path,
  r.role,
  COUNT(*) AS tensors,
  sum!(COALESCE(r.own_elements, 0)) AS parameters,
  sum!(COALESCE(r.bytes, 0)) AS tensor_bytes,
  MAX(CASE WHEN r.place = 1 THEN r.name END) AS largest,
  MAX(CASE WHEN r.place = 1 THEN r.bytes END) AS largest_bytes
FROM ranked AS r
INNER JOIN source AS o ON o.source_id = r.source_id
GROUP BY r.run_id, o.path, r.role
ORDER BY nulls_last!(r.run_id, o.path, tensor_bytes DESC, r.role)
