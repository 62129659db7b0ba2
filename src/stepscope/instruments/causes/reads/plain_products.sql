-- How much of what a host's devices compute are products of 32-bit floats without tensor cores?
--
-- reads: _plain_product
-- parameters: run_id, host_id
-- columns:
--   product_ps | ps | self times of these kernels
--   all_ps | ps | self times of all that computes
SELECT p.product_ps, p.all_ps
FROM _plain_product AS p
WHERE p.run_id = $run_id AND p.host_id = $host_id
ORDER BY nulls_last!(p.product_ps DESC, p.all_ps)
