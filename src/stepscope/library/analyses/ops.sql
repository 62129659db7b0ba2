-- Time by op
--
-- question: Which ops take the time?
-- reads: op_sum
-- notes: Ranked by self time, because ops nest: adding up durations with children would count the inner
--   ones twice. The share is of all self time on the same kind of place: work of devices, work of the host,
--   and launches are never mixed. Waits are ops whose time is waiting, not work. All slices of the capture
--   count, including those outside of steps.
-- weakened_by: lost, capped, truncated, missing
-- chart: bar x=op y=self_ps
-- columns:
--   op | text | Op | name of the op, graph node or kernel
--   place | text | Place | device, host or launch, as in track_place
--   self_ps | ps | Self | self times, added up
--   share | ratio | Share | part of all self time on that kind of place
--   total_ps | ps | Total | durations with children, added up
--   slices | int | Count | how many slices
--   mean_ps | ps | Mean | mean duration
--   class | text | Class | compute, copy, communication, compile, python, dispatch, input, wait or other
--   op_type | text | Op type | its type, or its name where a recording knows no types
--   min_ps | ps | Shortest | shortest duration
--   max_ps | ps | Longest | longest duration
--   input_ps | ps | Input | the part of the self times that is work of the input pipeline, if any
WITH ops AS (
  SELECT
    columns!(o, place, op, op_type),
    MAX(
      CASE WHEN o.place = 'launch' AND o.class NOT IN ('compile', 'input', 'wait') THEN 'dispatch' ELSE o.class END
    ) AS last_class,
    SUM(o.sum_self_ps) AS own_ps,
    SUM(SUM(o.sum_self_ps)) OVER (PARTITION BY o.place) AS place_ps,
    SUM(o.sum_dur_ps) AS dur_ps,
    SUM(o.slices) AS number,
    MIN(o.min_dur_ps) AS least_ps,
    MAX(o.max_dur_ps) AS most_ps,
    SUM(o.input_self_ps) AS feeding_ps
  FROM op_sum AS o
  GROUP BY o.place, o.op, o.op_type
)

SELECT
  columns!(t, op, place),
  CAST(t.own_ps AS BIGINT) AS self_ps,
  share!(t.own_ps, t.place_ps) AS share,
  CAST(t.dur_ps AS BIGINT) AS total_ps,
  CAST(t.number AS BIGINT) AS slices,
  mean!(t.dur_ps, t.number) AS mean_ps,
  t.last_class AS class,
  t.op_type,
  t.least_ps AS min_ps,
  t.most_ps AS max_ps,
  CAST(NULLIF(t.feeding_ps, 0) AS BIGINT) AS input_ps
FROM ops AS t
ORDER BY nulls_last!(t.place, t.own_ps DESC, t.op, t.op_type)
