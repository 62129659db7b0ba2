-- Is any module known from a dump, and was anything recorded that takes time?
--
-- reads: hlo_module, capture
-- columns:
--   modules | int | modules of dumps
--   captures | int | captures
WITH dumped AS (
  SELECT COUNT(*) AS modules
  FROM hlo_module AS m
  WHERE m.stages + m.passes > 0
),

recorded AS (
  SELECT COUNT(*) AS captures
  FROM capture AS c
)

SELECT d.modules, r.captures
FROM dumped AS d
CROSS JOIN recorded AS r
