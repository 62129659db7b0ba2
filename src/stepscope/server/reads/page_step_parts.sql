-- Where does each step go, and when did it run on the axis of time?
--
-- reads: step_part, step, _source_shift
-- columns:
--   step_id
--   begin_ps | ps | start of the step on the axis
--   end_ps | ps | its end
--   label
--   part_ps | ps | time of the step that counts to it
--   behind_ps | ps | the same going on behind another label
SELECT
  p.step_id,
  s.ts_ps + f.shift_ps AS begin_ps,
  s.ts_ps + s.dur_ps + f.shift_ps AS end_ps,
  p.label,
  p.dur_ps AS part_ps,
  p.hidden_ps AS behind_ps
FROM step_part AS p
INNER JOIN step AS s ON s.id = p.step_id
INNER JOIN _source_shift AS f ON f.source_id = s.source_id
ORDER BY nulls_last!(begin_ps, p.step_id, p.label)
