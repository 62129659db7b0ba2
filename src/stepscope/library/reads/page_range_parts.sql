-- Parts of the steps of a range for a page
--
-- question: Where do the steps go that lie wholly within a range of time?
-- reads: step_part, step, _source_shift
-- parameters:
--   first_ps | int | start of the range on the axis
--   until_ps | int | end of the range
-- columns:
--   label | text | label as in step_part
--   part_ps | ps | time of the steps that counts to it
--   behind_ps | ps | the same going on behind another label
--   steps | int | steps that have it
SELECT
  p.label,
  CAST(SUM(p.dur_ps) AS BIGINT) AS part_ps,
  CAST(SUM(p.hidden_ps) AS BIGINT) AS behind_ps,
  COUNT(DISTINCT p.step_id) AS steps
FROM step_part AS p
INNER JOIN step AS s ON s.id = p.step_id
INNER JOIN _source_shift AS f ON f.source_id = s.source_id
WHERE s.ts_ps + f.shift_ps >= $first_ps AND s.ts_ps + s.dur_ps + f.shift_ps <= $until_ps
GROUP BY p.label
ORDER BY part_ps DESC NULLS LAST, p.label NULLS LAST
