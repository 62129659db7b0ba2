-- What was recorded of the copies that ops of PyTorch make on a processor within steps?
--
-- reads: slice, step_window, _evidence_label
-- notes: Copies within an op that computes are told as well, as they are few where copying is what limits steps. Copies
--   that take no longer than it takes to launch them are left out.
-- parameters:
--   sources | ints | sources that have the steps
-- columns:
--   args_json | text | shapes and types of an op's inputs, as recorded
--   dur_ps
SELECT s.args_json, s.dur_ps
FROM slice AS s
INNER JOIN _evidence_label AS l ON l.rollup_id = s.rollup_id AND l.layer = 'copy' AND l.place = 'host'
INNER JOIN step_window AS w ON w.source_id = s.source_id
WHERE
  s.source_id IN $sources AND s.name = 'aten::copy_' AND s.dur_ps > l.least_ps
  AND s.ts_ps >= w.open_ps AND s.ts_ps < w.close_ps
ORDER BY s.id NULLS LAST
