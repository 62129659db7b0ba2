-- Of which type do the ops compute longest on the devices and on the processors of each host?
--
-- reads: _computing_op
-- notes: A row for each host and place. The type of an op is its name where it has none, and its name that of its
--   slices where it has none either. Of types, and of ops, that take as long, the last one in alphabetical order.
-- columns:
--   run_id, host_id, place
--   kind | text | the type
--   longest_op | text | the op of the type that computes longest
--   own_ps | ps | own time of the type
--   all_own_ps | ps | own time of all types
--   runs | int | slices of the type
--   all_runs | int | slices of all types
--   is_product | int | 1 for products of matrices and convolutions
WITH named AS (
  SELECT
    columns!(r, run_id, host_id, place),
    COALESCE(NULLIF(r.op_type, ''), NULLIF(r.op_name, ''), r.name) AS kind,
    COALESCE(NULLIF(r.op_name, ''), r.name) AS called,
    r.kind_ps AS took_ps,
    r.slices AS number
  FROM _computing_op AS r
),

called_ops AS (
  SELECT
    columns!(n, run_id, host_id, place, kind, called),
    SUM(n.took_ps) AS called_ps,
    SUM(n.number) AS called_runs
  FROM named AS n
  GROUP BY columns!(n, run_id, host_id, place, kind, called)
),

kinds AS (
  SELECT
    columns!(o, run_id, host_id, place, kind),
    SUM(o.called_ps) AS sum_ps,
    SUM(o.called_runs) AS sum_runs
  FROM called_ops AS o
  GROUP BY columns!(o, run_id, host_id, place, kind)
),

ranked AS (
  SELECT
    columns!(k, run_id, host_id, place, kind, sum_ps, sum_runs),
    SUM(k.sum_ps) OVER (PARTITION BY k.run_id, k.host_id, k.place) AS whole_ps,
    SUM(k.sum_runs) OVER (PARTITION BY k.run_id, k.host_id, k.place) AS whole_runs,
    ROW_NUMBER() OVER (
      PARTITION BY k.run_id, k.host_id, k.place
      ORDER BY nulls_last!(k.sum_ps DESC, k.kind DESC)
    ) AS nth
  FROM kinds AS k
),

tops AS (
  SELECT
    columns!(k, run_id, host_id, place, kind, sum_ps, whole_ps, sum_runs, whole_runs),
    MAX(o.called_ps) AS most_ps
  FROM ranked AS k
  INNER JOIN
    called_ops AS o
    ON o.run_id = k.run_id AND o.host_id = k.host_id AND o.place = k.place AND o.kind = k.kind
  WHERE k.nth = 1
  GROUP BY columns!(k, run_id, host_id, place, kind, sum_ps, whole_ps, sum_runs, whole_runs)
)

SELECT
  columns!(t, run_id, host_id, place, kind),
  MAX(o.called) AS longest_op,
  CAST(t.sum_ps AS BIGINT) AS own_ps,
  CAST(t.whole_ps AS BIGINT) AS all_own_ps,
  CAST(t.sum_runs AS BIGINT) AS runs,
  CAST(t.whole_runs AS BIGINT) AS all_runs,
  CASE WHEN product!(t.kind) THEN 1 ELSE 0 END AS is_product
FROM tops AS t
INNER JOIN
  called_ops AS o
  ON o.run_id = t.run_id AND o.host_id = t.host_id AND o.place = t.place AND o.kind = t.kind AND o.called_ps = t.most_ps
GROUP BY columns!(t, run_id, host_id, place, kind, sum_ps, whole_ps, sum_runs, whole_runs)
ORDER BY nulls_last!(t.run_id, t.host_id, t.place)
