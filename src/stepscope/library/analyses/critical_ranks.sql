-- Critical path over ranks
--
-- question: Along which ranks does the critical path of a run lead, from one collective to the next?
-- reads: collective
-- notes: One row for each collective on the path, with the rank that arrived at it last. path_ps is what that rank did
--   since it left the collective before; transfer_ps is the collective itself. Together they are the time from the
--   first to the last collective, apart from what ends differ by.
-- weakened_by: lost, capped, truncated, missing
-- columns:
--   run_id | text | Run | name of the run
--   step | int | Step | step of that rank
--   participant | text | Rank | rank that arrived last
--   kind | text | Kind | kind of the collective
--   group_name | text | Group | its group
--   sequence | int | Number | its number within the group
--   ts_ps | ps | Arrives | when the rank arrived, from its capture's origin
--   path_ps | ps | On the path | its time since the collective before
--   transfer_ps | ps | Transfer | from its arrival to the end
SELECT
  columns!(c, run_id, step, participant, kind, group_name, sequence, ts_ps, path_ps, transfer_ps)
FROM collective AS c
WHERE c.path_ps IS NOT NULL
ORDER BY nulls_last!(c.run_id, COALESCE(c.axis_ts_ps, c.ts_ps), c.participant, c.id)
