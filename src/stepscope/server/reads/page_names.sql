-- Of which class and op type are the slices of each name, by most of their time?
--
-- reads: rollup_op, track_place, _drawn_source
-- notes: A slice that may stand for anything has no class, unless its name proves one.
-- columns:
--   name | text | name of slices
--   class | text | input, python, compute, copy, communication, wait, compile, dispatch or other
--   op_type | text | type of the op, where known
--   slices | int | slices of that name
WITH classed AS (
  SELECT
    r.name,
    CASE
      WHEN r.wait = 'input' OR r.class = 'input' OR r.name LIKE 'Iterator::%' THEN 'input'
      WHEN r.wait IS NOT NULL OR r.class = 'wait' THEN 'wait'
      WHEN r.class = 'compile' THEN 'compile'
      WHEN p.place = 'launch' THEN 'dispatch'
      WHEN r.category = 'python_function' OR r.name LIKE '$%' OR r.class = 'python' THEN 'python'
      WHEN NOT r.is_op THEN 'other'
      ELSE certain_class!(r.class, d.source_id)
    END AS page_class,
    r.op_type AS type_or_none,
    r.self_ps,
    r.slices AS number
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  LEFT JOIN _drawn_source AS d ON d.source_id = r.source_id
),

summed AS (
  SELECT c.name, c.page_class, c.type_or_none, SUM(c.self_ps) AS own_ps, SUM(c.number) AS part
  FROM classed AS c
  GROUP BY c.name, c.page_class, c.type_or_none
),

ranked AS (
  SELECT
    columns!(m, name, page_class, type_or_none),
    SUM(m.part) OVER (PARTITION BY m.name) AS whole,
    ROW_NUMBER() OVER (
      PARTITION BY m.name
      ORDER BY nulls_last!(m.own_ps DESC, m.page_class, m.type_or_none)
    ) AS place
  FROM summed AS m
)

SELECT k.name, k.page_class AS class, k.type_or_none AS op_type, CAST(k.whole AS BIGINT) AS slices
FROM ranked AS k
WHERE k.place = 1
ORDER BY k.name NULLS LAST
