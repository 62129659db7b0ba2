-- Which ops that began in a range of the axis of time took longest, and which waits?
--
-- reads: op_slice, wait_slice, _source_shift
-- notes: Ops that work, those of devices first, by what each took itself, without the ops on top of it. Of the waits of
--   a track for one thing, which lie in one another, the longest.
-- parameters:
--   first_ps | int | start of the range on the axis
--   until_ps | int | its end, itself outside
--   most | int | waits, and ops of devices and of hosts
-- columns:
--   id | int | number of the slice
--   name | text | op, or name of the wait
--   place
--   wait | text | what is waited for, as in wait_slice; NULL for an op
--   own_ps | ps | self time of an op, duration of a wait
WITH ops AS (
  SELECT
    columns!(o, slice_id, op, place),
    o.self_ps AS took_ps,
    ROW_NUMBER() OVER (PARTITION BY o.place ORDER BY o.self_ps DESC NULLS LAST, o.slice_id NULLS LAST) AS nth
  FROM op_slice AS o
  INNER JOIN _source_shift AS f ON f.source_id = o.source_id
  WHERE o.works AND o.ts_ps + f.shift_ps >= $first_ps AND o.ts_ps + f.shift_ps < $until_ps
),

waits AS (
  SELECT
    w.slice_id,
    w.name AS title,
    w.place,
    w.wait AS awaited,
    w.dur_ps AS took_ps,
    ROW_NUMBER() OVER (
      PARTITION BY w.track_id, w.wait ORDER BY w.dur_ps DESC NULLS LAST, w.slice_id NULLS LAST
    ) AS nth
  FROM wait_slice AS w
  INNER JOIN _source_shift AS f ON f.source_id = w.source_id
  WHERE w.ts_ps + f.shift_ps >= $first_ps AND w.ts_ps + f.shift_ps < $until_ps
),

longest AS (
  SELECT
    columns!(w, slice_id, title, place, awaited, took_ps),
    ROW_NUMBER() OVER (ORDER BY w.took_ps DESC NULLS LAST, w.slice_id NULLS LAST) AS place_in_all
  FROM waits AS w
  WHERE w.nth = 1
),

found AS (
  SELECT o.slice_id, o.op AS title, o.place, NULL AS awaited, o.took_ps
  FROM ops AS o
  WHERE o.nth <= $most
  UNION ALL
  SELECT w.slice_id, w.title, w.place, w.awaited, w.took_ps
  FROM longest AS w
  WHERE w.place_in_all <= $most
)

SELECT f.slice_id AS id, f.title AS name, f.place, f.awaited AS wait, f.took_ps AS own_ps
FROM found AS f
ORDER BY CASE WHEN f.place = 'device' THEN 0 ELSE 1 END NULLS LAST, f.took_ps DESC NULLS LAST, f.slice_id NULLS LAST
