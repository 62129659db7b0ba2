-- Which kinds of evidence does each source have of what its steps do?
--
-- reads: rollup_op, track_place
-- notes: Of the kinds that lie in slices of many threads. What is not there need not be looked for.
-- columns:
--   source_id
--   on_devices | int | 1 when ops ran on devices
--   devices | int | on how many of them
--   launched | int | 1 when a framework's ops launched kernels, at least one for ten of the ops on threads of the host
--   on_hosts | int | 1 when ops ran on threads of the host
--   programs | int | 1 when it tells how long programs of XLA ran on processors
--   waits | int | 1 when threads waited for input, other processes or memory of a device
--   captures | int | 1 when functions ran that an input pipeline captured
--   loads | int | 1 when threads that run ops waited for input
--   functions | int | 1 when its producer may say which calls of a tf.function traced it first
--   inline | int | 1 when ops run on the thread that calls them: PyTorch on a processor
--   all_slices | int | how many slices it has
SELECT
  r.source_id,
  MAX(CASE WHEN r.is_op AND r.class NOT IN ('input', 'wait') AND p.place = 'device' THEN 1 ELSE 0 END) AS on_devices,
  COUNT(
    DISTINCT CASE WHEN r.is_op AND r.class NOT IN ('input', 'wait') AND p.place = 'device' THEN p.device_track_id END
  ) AS devices,
  CASE
    WHEN
      SUM(CASE WHEN kernel_launch!(r.name) THEN r.slices * 10 WHEN r.is_op AND p.place = 'host' THEN -r.slices END) > 0
      AND COUNT(CASE WHEN r.category = 'cpu_op' AND r.is_op THEN 1 END) > 0
      THEN 1
    ELSE 0
  END AS launched,
  MAX(CASE WHEN r.is_op AND r.class NOT IN ('input', 'wait') AND p.place = 'host' THEN 1 ELSE 0 END) AS on_hosts,
  MAX(CASE WHEN r.name IN ('ThunkExecutor::Execute', 'ThunkExecutor::Execute (wait for completion)') THEN 1 ELSE 0 END)
    AS programs,
  MAX(CASE WHEN r.layer IN ('input waits', 'peer waits', 'setups') THEN 1 ELSE 0 END) AS waits,
  MAX(CASE WHEN r.name LIKE 'InstantiatedCapturedFunction::%' THEN 1 ELSE 0 END) AS captures,
  MAX(CASE WHEN r.layer = 'input waits' AND NOT r.is_op THEN 1 ELSE 0 END) AS loads,
  MAX(CASE WHEN p.producer IN ('tf_timeline', 'jax', 'kineto', 'horovod', 'viztracer') THEN 0 ELSE 1 END) AS functions,
  MAX(CASE WHEN p.producer = 'kineto' AND p.place = 'host' AND r.is_op THEN 1 ELSE 0 END) AS inline,
  sum!(r.slices) AS all_slices
FROM rollup_op AS r
LEFT JOIN track_place AS p ON p.track_id = r.track_id
GROUP BY r.source_id
ORDER BY r.source_id NULLS LAST
