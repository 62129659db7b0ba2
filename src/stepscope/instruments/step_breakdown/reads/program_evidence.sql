-- When programs of XLA ran on processors
--
-- question: When, within a stretch of time, did programs of XLA run on processors, and which of them only copied?
-- reads: slice, op_slice
-- notes: They run their bigger ops in pieces on threads of a pool, most of which have no slice: the program's own slice
--   lasts as long as it runs. One that only copies counts as copying.
-- order: there may be as many rows as slices, and the core makes the union of each layer, whatever comes first
-- parameters:
--   sources | ints | sources to look at
--   begin_ps | ps | begin of the stretch
--   end_ps | ps | its end
-- columns:
--   source_id | int | source of the slice
--   layer | text | copy or compute
--   begin_ps | ps | begin of the program
--   end_ps | ps | its end
WITH ops_of_runs AS (
  SELECT
    l.source_id,
    CASE WHEN s.args_json LIKE '%"run_id"%' THEN arg!(s.args_json, run_id) END AS run,
    CASE WHEN l.class = 'copy' THEN 1 ELSE 0 END AS copies
  FROM op_slice AS l
  INNER JOIN slice AS s ON s.id = l.slice_id
  WHERE l.source_id IN $sources AND l.ts_ps < $end_ps AND l.end_ps > $begin_ps
),

runs AS (
  SELECT o.source_id, o.run, MIN(o.copies) AS only_copies
  FROM ops_of_runs AS o
  GROUP BY o.source_id, o.run
),

programs AS (
  SELECT
    s.source_id,
    s.ts_ps,
    s.ts_ps + s.dur_ps AS until_ps,
    CASE WHEN s.args_json LIKE '%"run_id"%' THEN arg!(s.args_json, run_id) END AS run
  FROM slice AS s
  WHERE
    s.source_id IN $sources
    AND s.name IN ('ThunkExecutor::Execute', 'ThunkExecutor::Execute (wait for completion)')
    AND s.dur_ps > 0
    AND s.ts_ps < $end_ps
    AND s.ts_ps + s.dur_ps > $begin_ps
)

SELECT
  g.source_id,
  CASE WHEN r.only_copies = 1 THEN 'copy' ELSE 'compute' END AS layer,
  g.ts_ps AS begin_ps,
  g.until_ps AS end_ps
FROM programs AS g
LEFT JOIN runs AS r ON r.source_id = g.source_id AND r.run = g.run
