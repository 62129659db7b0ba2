-- Which programs do dump folders hold, and how heavy are they beside the others?
--
-- reads: hlo_module
-- notes: One row a module that could be read. The programs that recordings keep are left out: what they cost is timed.
-- columns:
--   module_id | int | row of hlo_module
--   run_id, source_id
--   base_folder | text | folder of the dump, within the source; empty where that is all of it
--   function, module, program_id
--   program | text | name of the HLO module, or of its function where that is long, and its number
--   is_final
--   work_share | ratio | its flops or bytes, whichever is more, as part of the most that a program of the source has
--   function_share | ratio | the most of that which a program of its function in the folder has
WITH heaviest AS (
  SELECT d.source_id, MAX(d.run_flops) AS most_flops, MAX(d.run_bytes) AS most_bytes
  FROM hlo_module AS d
  WHERE d.instructions IS NOT NULL
  GROUP BY d.source_id
),

weighed AS (
  SELECT
    m.id AS module_id,
    columns!(m, run_id, source_id),
    COALESCE(m.folder, '') AS base_folder,
    columns!(m, function, module, program_id),
    CASE WHEN LENGTH(m.module) <= 60 THEN m.module ELSE m.function END
    || CASE WHEN m.program_id = '' THEN '' ELSE ' (' || m.program_id || ')' END AS program,
    m.is_final,
    CASE
      WHEN w.most_bytes > 0 AND (
        w.most_flops <= 0
        OR CAST(m.run_bytes AS DOUBLE) / w.most_bytes >= CAST(m.run_flops AS DOUBLE) / w.most_flops
      ) THEN CAST(m.run_bytes AS DOUBLE) / w.most_bytes
      WHEN w.most_flops > 0 THEN CAST(m.run_flops AS DOUBLE) / w.most_flops
      ELSE 1.0
    END AS work_share
  FROM hlo_module AS m
  INNER JOIN heaviest AS w ON w.source_id = m.source_id
  WHERE m.stages + m.passes > 0 AND m.instructions IS NOT NULL
)

SELECT
  columns!(p, module_id, run_id, source_id, base_folder, function, module, program_id, program, is_final, work_share),
  MAX(p.work_share) OVER (PARTITION BY p.source_id, p.base_folder, p.function) AS function_share
FROM weighed AS p
