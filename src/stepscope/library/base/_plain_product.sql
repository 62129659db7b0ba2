-- How much of what a device computes are products of 32-bit floats that its tensor cores take no part in?
--
-- reads: op_sum, device
-- notes: Of devices of NVIDIA of compute capability 8.0 or more, whose tensor cores take such floats. Kernels of its
--   libraries are known by their names: sgemm, or the types of both factors, the product, and what it is added to; where
--   tensor cores compute, a name has tensorop or tf32.
-- columns:
--   run_id, host_id
--   device | text | device
--   product_ps | ps | self times of these kernels
--   all_ps | ps | self times of all that computes there
--   kernels | int | how many of them differ
--   kernel | text | the one that takes longest
WITH capable AS (
  SELECT d.run_id AS of_run, d.host_id AS of_host, d.name AS of_device
  FROM device AS d
  WHERE
    COALESCE(
      TRY_CAST(arg!(d.args_json, "computeMajor") AS BIGINT),
      TRY_CAST(arg!(d.args_json, "compute_cap_major") AS BIGINT)
    ) >= 8
  GROUP BY d.run_id, d.host_id, d.name
),

computed AS (
  SELECT
    columns!(o, run_id, host_id, device),
    o.op AS called,
    CASE
      WHEN o.op LIKE '%tensorop%' OR o.op LIKE '%tf32%' THEN 0
      WHEN o.op LIKE '%sgemm%' OR o.op LIKE '%f32f32_f32f32%' THEN 1
      ELSE 0
    END AS is_plain,
    SUM(o.sum_self_ps) AS own_ps
  FROM op_sum AS o
  INNER JOIN capable AS c ON c.of_run = o.run_id AND c.of_host = o.host_id AND c.of_device = o.device
  WHERE o.place = 'device' AND o.class = 'compute'
  GROUP BY o.run_id, o.host_id, o.device, o.op
),

ranked AS (
  SELECT
    columns!(p, run_id, host_id, device, called, is_plain, own_ps),
    ROW_NUMBER() OVER (
      PARTITION BY p.run_id, p.host_id, p.device, p.is_plain ORDER BY nulls_last!(p.own_ps DESC, p.called)
    ) AS place_in_list
  FROM computed AS p
)

SELECT
  columns!(r, run_id, host_id, device),
  CAST(sum_where!(r.is_plain = 1, r.own_ps) AS BIGINT) AS product_ps,
  sum!(r.own_ps) AS all_ps,
  CAST(SUM(r.is_plain) AS BIGINT) AS kernels,
  MAX(CASE WHEN r.is_plain = 1 AND r.place_in_list = 1 THEN r.called END) AS kernel
FROM ranked AS r
GROUP BY r.run_id, r.host_id, r.device
HAVING SUM(r.is_plain) > 0
