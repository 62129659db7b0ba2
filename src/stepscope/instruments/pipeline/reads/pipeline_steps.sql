-- Which steps that are not compilation does a source have?
--
-- reads: step
-- parameters: source_id, until_ps
-- columns:
--   ts_ps
--   end_ps | ps | end
--   averaged, recovered_from
SELECT s.ts_ps, s.ts_ps + s.dur_ps AS end_ps, s.averaged, s.recovered_from
FROM step AS s
WHERE s.source_id = $source_id AND s.kind <> 'compile' AND s.ts_ps + s.dur_ps <= $until_ps
ORDER BY nulls_last!(s.ts_ps, s.id)
