-- A kernel leaves most of a GPU without work
--
-- question: Which kernels that take long have fewer blocks than half of the multiprocessors of their GPU?
-- reads: slice, rollup_op, track_place, device, device_sum
-- severity: high from half of the window, medium from a quarter, low from a tenth
-- impact: {kernel} runs in {blocks} {blocks:block|blocks}[ of {threads} {threads:thread|threads}], so at most {blocks}
--   of the {multiprocessors} multiprocessors of {device} {blocks:works|work} on it: {impact_ps} in {runs} {runs:run|runs}.
-- action: Split its work into more blocks, at least as many as there are multiprocessors, or give it more to do at once
--   (a larger batch), or run other kernels beside it on streams of their own.
-- weakened_by: lost, capped, truncated
-- reasoning: A block runs on one multiprocessor from its begin to its end. Those that get no block of a kernel have
--   nothing to do, unless another kernel runs beside it.
-- formula: impact = self times of the runs of a kernel with these blocks and threads, as its arguments grid and block
--   tell; reported where it takes a tenth of the window and blocks * 2 < multiprocessors.
-- columns:
--   impact_ps | ps | Self | self times of these runs, added up
--   run_id, host_id
--   device | text | Device | device that runs it
--   kernel | text | Kernel | its name
--   blocks | int | Blocks | how many its grid has
--   threads | int | Threads | how many each of them has; NULL where that was not recorded
--   multiprocessors | int | Multiprocessors | how many the device has
--   runs | int | Runs | how often it ran so
WITH windows AS (
  SELECT s.run_id AS of_run, s.host_id AS of_host, s.device AS of_device, SUM(s.window_ps) AS all_window_ps
  FROM device_sum AS s
  WHERE s.place = 'device'
  GROUP BY s.run_id, s.host_id, s.device
),

sizes AS (
  SELECT
    d.run_id AS in_run,
    d.host_id AS in_host,
    d.name AS called,
    MAX(TRY_CAST(arg!(d.args_json, "numSms") AS BIGINT)) AS processors
  FROM device AS d
  GROUP BY d.run_id, d.host_id, d.name
),

longest AS (
  SELECT
    r.id AS of_rollup,
    r.name AS kernel,
    columns!(p, run_id, host_id, device),
    columns!(w, all_window_ps),
    z.processors
  FROM rollup_op AS r
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  INNER JOIN windows AS w ON w.of_run = p.run_id AND w.of_host = p.host_id AND w.of_device = p.device
  INNER JOIN sizes AS z ON z.in_run = p.run_id AND z.in_host = p.host_id AND z.called = p.device
  WHERE
    p.place = 'device' AND r.is_op AND r.class = 'compute'
    AND z.processors > 0 AND r.self_ps * 10 >= w.all_window_ps
),

launched AS (
  SELECT
    columns!(l, run_id, host_id, device, kernel, all_window_ps, processors),
    s.self_ps AS own_ps,
    TRY_CAST(arg!(s.args_json, grid[0]) AS BIGINT)
    * TRY_CAST(arg!(s.args_json, grid[1]) AS BIGINT)
    * TRY_CAST(arg!(s.args_json, grid[2]) AS BIGINT) AS blocks,
    TRY_CAST(arg!(s.args_json, block[0]) AS BIGINT)
    * TRY_CAST(arg!(s.args_json, block[1]) AS BIGINT)
    * TRY_CAST(arg!(s.args_json, block[2]) AS BIGINT) AS threads
  FROM slice AS s
  INNER JOIN longest AS l ON l.of_rollup = s.rollup_id
  WHERE s.args_json LIKE '%"grid"%'
),

added AS (
  SELECT
    columns!(a, run_id, host_id, device, kernel),
    columns!(a, blocks, threads, processors, all_window_ps),
    SUM(a.own_ps) AS spent_ps,
    COUNT(*) AS number
  FROM launched AS a
  WHERE a.blocks * 2 < a.processors
  GROUP BY
    columns!(a, run_id, host_id, device, kernel),
    columns!(a, blocks, threads, processors, all_window_ps)
)

SELECT
  severity!(a.spent_ps, a.all_window_ps) AS severity,
  CAST(a.spent_ps AS BIGINT) AS impact_ps,
  columns!(a, run_id, host_id, device, kernel, blocks, threads),
  a.processors AS multiprocessors,
  CAST(a.number AS BIGINT) AS runs
FROM added AS a
WHERE a.spent_ps * 10 >= a.all_window_ps
ORDER BY nulls_last!(a.spent_ps DESC, a.run_id, a.host_id, a.device, a.kernel, a.blocks, a.threads)
