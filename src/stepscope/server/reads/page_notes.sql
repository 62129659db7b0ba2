-- What was lost, repaired, capped or missing, or reported by a recorder?
--
-- reads: source_note
-- columns:
--   source_id, run_id, host_id, slug, effect, events, detail
SELECT n.source_id, n.run_id, n.host_id, n.slug, n.effect, n.events, n.detail
FROM source_note AS n
ORDER BY nulls_last!(n.source_id, n.effect, n.slug, n.detail, n.events)
