-- What are the stages of the pipelines of a source, and what does a step need of each?
--
-- reads: iterator
-- parameters: source_id
-- columns:
--   branch_name, user_stage, service_ps, width, works_ahead, file, line
SELECT i.branch_name, i.user_stage, i.service_ps, i.width, i.works_ahead, i.file, i.line
FROM iterator AS i
WHERE i.source_id = $source_id
ORDER BY i.id NULLS LAST
