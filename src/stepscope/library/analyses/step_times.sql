-- Step times
--
-- question: How long do steps take, and how much do they differ?
-- reads: step
-- notes: One row for each host and kind of step. Steps that averages leave out (compile, warm-up) have
--   rows of their own with averaged false. Percentiles are exact ranks: the smallest duration that at
--   least that share of the steps does not exceed, so each is the duration of a step that happened.
--   spread is (p95 - median) / median. A capture in which no steps were found has no row.
-- weakened_by: lost, capped, truncated, missing
-- chart: bar x=host_id y=mean_ps
-- columns:
--   run_id | text | Run | name of the run
--   host_id | text | Host | name of the host
--   kind | text | Kind | train, eval, compile, warm_up, cut_off or unknown
--   averaged | bool | Averaged | false for steps that averages leave out
--   steps | int | Steps | how many
--   mean_ps | ps | Mean | mean duration
--   median_ps | ps | Median | duration that half of the steps do not exceed
--   p95_ps | ps | p95 | duration that 95 % of the steps do not exceed
--   min_ps | ps | Shortest | shortest duration
--   max_ps | ps | Longest | longest duration
--   spread | ratio | Spread | how far the p95 lies above the median
--   recovered_from | text | Found by | where the steps come from; the first in the alphabet where sources differ
WITH ranked AS (
  SELECT
    columns!(s, run_id, host_id, kind, averaged, dur_ps, recovered_from),
    ROW_NUMBER() OVER (
      PARTITION BY s.run_id, s.host_id, s.kind, s.averaged
      ORDER BY nulls_last!(s.dur_ps, s.id)
    ) AS place,
    COUNT(*) OVER (PARTITION BY s.run_id, s.host_id, s.kind, s.averaged) AS total
  FROM step AS s
  WHERE s.recovered_from <> 'whole_capture'
),

summed AS (
  SELECT
    columns!(r, run_id, host_id, kind, averaged),
    COUNT(*) AS steps,
    CAST(SUM(r.dur_ps) AS DOUBLE) / COUNT(*) AS mean_dur_ps,
    median!(r.dur_ps, r.place, r.total) AS median_ps,
    MIN(CASE WHEN r.place * 20 >= r.total * 19 THEN r.dur_ps END) AS p95_ps,
    MIN(r.dur_ps) AS min_ps,
    MAX(r.dur_ps) AS max_ps,
    MIN(r.recovered_from) AS told_by
  FROM ranked AS r
  GROUP BY columns!(r, run_id, host_id, kind, averaged)
)

SELECT
  columns!(s, run_id, host_id, kind, averaged, steps),
  whole!(s.mean_dur_ps) AS mean_ps,
  columns!(s, median_ps, p95_ps, min_ps, max_ps),
  share!(s.p95_ps - s.median_ps, s.median_ps) AS spread,
  s.told_by AS recovered_from
FROM summed AS s
ORDER BY nulls_last!(s.run_id, s.host_id, s.averaged DESC, s.kind)
