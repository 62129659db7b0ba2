-- Evidence of steps
--
-- question: Which kinds of evidence does a source have of what its steps do?
-- reads: rollup_op, track_place
-- notes: Of the kinds that lie in slices of many threads. What is not there need not be looked for.
-- parameters:
--   source_id | int | source to look at
-- columns:
--   on_devices | int | 1 when ops ran on devices
--   on_hosts | int | 1 when ops ran on threads of the host
--   programs | int | 1 when it tells how long programs of XLA ran on processors
--   waits | int | 1 when threads waited for input, data of other devices or other hosts
--   captures | int | 1 when functions ran that an input pipeline captured
--   all_slices | int | how many slices it has
--   by_name | int | 1 when slices of a track that are called alike are alike: then only their names are read
WITH names AS (
  SELECT
    n.track_id,
    n.name,
    CASE
      WHEN
        MIN(CASE WHEN n.is_op THEN 1 ELSE 0 END) = MAX(CASE WHEN n.is_op THEN 1 ELSE 0 END)
        AND MIN(COALESCE(n.class, '')) = MAX(COALESCE(n.class, ''))
        AND MIN(COALESCE(n.op_type, n.op_name, n.name)) = MAX(COALESCE(n.op_type, n.op_name, n.name))
        THEN 1
      ELSE 0
    END AS alike
  FROM rollup_op AS n
  WHERE n.source_id = $source_id
  GROUP BY n.track_id, n.name
)

SELECT
  MAX(CASE WHEN r.is_op AND r.class <> 'wait' AND p.place = 'device' THEN 1 ELSE 0 END) AS on_devices,
  MAX(CASE WHEN r.is_op AND r.class <> 'wait' AND p.place = 'host' THEN 1 ELSE 0 END) AS on_hosts,
  MAX(CASE WHEN r.name IN ('ThunkExecutor::Execute', 'ThunkExecutor::Execute (wait for completion)') THEN 1 ELSE 0 END)
    AS programs,
  MAX(CASE WHEN r.wait IN ('input', 'receive', 'peers') THEN 1 ELSE 0 END) AS waits,
  MAX(CASE WHEN r.name LIKE 'InstantiatedCapturedFunction::%' THEN 1 ELSE 0 END) AS captures,
  CAST(SUM(r.slices) AS BIGINT) AS all_slices,
  MIN(a.alike) AS by_name
FROM rollup_op AS r
LEFT JOIN track_place AS p ON p.track_id = r.track_id
INNER JOIN names AS a ON a.track_id = r.track_id AND a.name = r.name
WHERE r.source_id = $source_id
