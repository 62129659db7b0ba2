-- Products of 32-bit floats leave the tensor cores idle
--
-- question: How much of the time of a device goes to products that its tensor cores could compute?
-- reads: _plain_product, device_sum
-- severity: high from half of the window, medium from a quarter, low from a tenth
-- impact: Products of 32-bit floats in which no tensor core takes part run for {share} of the window of {device}:
--   {impact_ps} in {kernels} {kernels:kernel|different kernels}, most of it in {kernel}.
-- action: Let tensor cores compute products: in TF32, which keeps 10 of the 23 bits of each factor, or in 16-bit floats.
-- action_tensorflow: Let tensor cores compute products: in TF32, which keeps 10 of the 23 bits of each factor
--   (tf.config.experimental.enable_tensor_float_32_execution), or in 16-bit floats (mixed_bfloat16).
-- action_jax: Let tensor cores compute products: in TF32, which keeps 10 of the 23 bits of each factor
--   (jax_default_matmul_precision), or in 16-bit floats (jnp.bfloat16).
-- action_pytorch: Let tensor cores compute products: in TF32, which keeps 10 of the 23 bits of each factor
--   (torch.set_float32_matmul_precision("high")), or in 16-bit floats (torch.autocast).
-- weakened_by: lost, capped, truncated, missing
-- reasoning: Since compute capability 8.0, tensor cores of NVIDIA's devices take 32-bit floats, and compute their
--   products several times as fast as the other units. They round each factor to TF32 first, so libraries use them only
--   where a program allows it. PyTorch does not allow it by itself.
-- formula: share = self times of kernels that NVIDIA's libraries call sgemm, or f32f32_f32f32, and neither tensorop nor
--   tf32 / window of the device. Reported from 0.1.
-- columns:
--   impact_ps | ps | Self | self times of these kernels, added up
--   run_id, host_id
--   device | text | Device | device that runs them
--   share | ratio | Share | part of the window of the device
--   kernels | int | Kernels | how many of them differ
--   kernel | text | Kernel | the one that takes longest
WITH windows AS (
  SELECT s.run_id AS of_run, s.host_id AS of_host, s.device AS of_device, SUM(s.window_ps) AS window_sum
  FROM device_sum AS s
  WHERE s.place = 'device'
  GROUP BY s.run_id, s.host_id, s.device
)

SELECT
  severity!(p.product_ps, w.window_sum) AS severity,
  CAST(p.product_ps AS BIGINT) AS impact_ps,
  columns!(p, run_id, host_id, device),
  share!(p.product_ps, w.window_sum) AS share,
  columns!(p, kernels, kernel)
FROM _plain_product AS p
INNER JOIN windows AS w ON w.of_run = p.run_id AND w.of_host = p.host_id AND w.of_device = p.device
WHERE p.product_ps * 10 >= w.window_sum
ORDER BY nulls_last!(p.product_ps DESC, p.run_id, p.host_id, p.device)
