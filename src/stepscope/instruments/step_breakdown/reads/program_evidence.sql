-- When, within a stretch of time, did programs of XLA run on processors, and which of them did little but copy?
--
-- reads: slice, op_slice
-- notes: They run their bigger ops in pieces on threads of a pool, most of which have no slice: the program's own slice
--   lasts as long as it runs. One of which nine tenths copy, by its slices, counts as copying where no slice tells;
--   while one calls Python, it computes nothing.
-- order: there may be as many rows as slices, and the core makes the union of each layer, whatever comes first
-- parameters: sources, begin_ps, end_ps
-- columns:
--   source_id
--   layer | text | copy or compute
--   begin_ps | ps | begin of the program
--   end_ps | ps | its end
WITH ops_of_runs AS (
  SELECT
    columns!(l, source_id, class, ts_ps, end_ps),
    s.parent_id,
    CASE WHEN s.args_json LIKE '%"run_id"%' THEN arg!(s.args_json, run_id) END AS run,
    l.end_ps - l.ts_ps AS took_ps
  FROM op_slice AS l
  INNER JOIN slice AS s ON s.id = l.slice_id
  WHERE l.source_id IN $sources AND l.ts_ps < $end_ps AND l.end_ps > $begin_ps
),

runs AS (
  SELECT o.source_id, o.run, SUM(o.took_ps) AS all_ps, SUM(CASE WHEN o.class = 'copy' THEN o.took_ps END) AS copies_ps
  FROM ops_of_runs AS o
  GROUP BY o.source_id, o.run
),

programs AS (
  SELECT
    columns!(s, id, source_id, ts_ps),
    s.ts_ps + s.dur_ps AS until_ps,
    CASE WHEN s.args_json LIKE '%"run_id"%' THEN arg!(s.args_json, run_id) END AS run
  FROM slice AS s
  WHERE
    s.source_id IN $sources
    AND s.name IN ('ThunkExecutor::Execute', 'ThunkExecutor::Execute (wait for completion)')
    AND s.dur_ps > 0
    AND s.ts_ps < $end_ps
    AND s.ts_ps + s.dur_ps > $begin_ps
),

calls AS (
  SELECT
    columns!(g, id, source_id),
    o.ts_ps AS call_ps,
    o.end_ps AS returned_ps,
    COALESCE(LEAD(o.ts_ps) OVER (PARTITION BY g.id ORDER BY o.ts_ps NULLS LAST), g.until_ps) AS next_ps
  FROM programs AS g
  INNER JOIN ops_of_runs AS o ON o.parent_id = g.id
  WHERE o.class = 'python'
),

calling AS (
  SELECT c.id, MIN(c.call_ps) AS first_ps
  FROM calls AS c
  GROUP BY c.id
)

SELECT
  g.source_id,
  CASE WHEN 10 * r.copies_ps >= 9 * r.all_ps THEN 'copy' ELSE 'compute' END AS layer,
  g.ts_ps AS begin_ps,
  COALESCE(k.first_ps, g.until_ps) AS end_ps
FROM programs AS g
LEFT JOIN runs AS r ON r.source_id = g.source_id AND r.run = g.run
LEFT JOIN calling AS k ON k.id = g.id
UNION ALL
SELECT
  c.source_id,
  'compute' AS layer,
  c.returned_ps AS begin_ps,
  greatest!(c.next_ps, c.returned_ps) AS end_ps
FROM calls AS c
