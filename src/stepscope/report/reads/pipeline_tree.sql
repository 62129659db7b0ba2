-- Stages of a pipeline
--
-- question: What are the stages of the pipelines of a source, and what does a step need of each?
-- reads: iterator
-- parameters:
--   source_id | int | source to look at
-- columns:
--   branch_name | text | stage, with the branches of zip, mixtures and concatenations
--   user_stage | text | as the user wrote it
--   service_ps | ps | time it needs for a step
--   width | int | threads its work is divided by
--   works_ahead | bool | it has threads of its own
--   file | text | file in which the user wrote it
--   line | int | line in that file
SELECT i.branch_name, i.user_stage, i.service_ps, i.width, i.works_ahead, i.file, i.line
FROM iterator AS i
WHERE i.source_id = $source_id
ORDER BY i.id NULLS LAST
