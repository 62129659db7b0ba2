-- How many slices of each source belong to a pipeline?
--
-- reads: rollup_op, track
-- columns:
--   source_id
--   events | int | how many
SELECT r.source_id, sum!(r.slices) AS events
FROM rollup_op AS r
INNER JOIN track AS t ON t.id = r.track_id
WHERE pipeline_call!(r.name, r.op_type, t.kind, t.records)
GROUP BY r.source_id
ORDER BY r.source_id NULLS LAST
