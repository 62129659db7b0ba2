-- Whether there are programs of XLA
--
-- question: Is any module of XLA known?
-- reads: hlo_module
-- columns:
--   modules | int | how many
SELECT COUNT(*) AS modules
FROM hlo_module AS m
