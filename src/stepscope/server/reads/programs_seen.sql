-- Whether there are dumps of XLA
--
-- question: Is any module known from a dump?
-- reads: hlo_module
-- columns:
--   modules | int | how many
SELECT COUNT(*) AS modules
FROM hlo_module AS m
WHERE m.stages + m.passes > 0
