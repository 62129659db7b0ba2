-- When did each rank say that it is ready for a tensor?
--
-- reads: slice, rollup_op, source
-- notes: The coordinator draws a mark, called by the number of the rank, within the slice of the negotiation.
-- columns:
--   source_id, track_id
--   begin_ps | ps | begin of the negotiation
--   end_ps | ps | its end
--   rank_name | text | number of the rank, as text
--   ready_ps | ps | when it said so
SELECT
  columns!(n, source_id, track_id),
  n.ts_ps AS begin_ps,
  n.ts_ps + n.dur_ps AS end_ps,
  m.name AS rank_name,
  m.ts_ps AS ready_ps
FROM slice AS n
INNER JOIN rollup_op AS r ON r.id = n.rollup_id
INNER JOIN source AS o ON o.source_id = n.source_id
INNER JOIN slice AS m ON m.parent_id = n.id AND m.dur_ps = 0
WHERE o.producer = 'horovod' AND r.name LIKE 'NEGOTIATE_%'
ORDER BY nulls_last!(n.source_id, n.track_id, n.ts_ps, m.ts_ps, m.id)
