-- Who arrives at a collective, and who is last
--
-- question: For each collective whose ranks end together: how long does each rank wait, and for whom?
-- reads: collective
-- notes: The rank with the shortest part arrived last: all end together. That compares durations, not clocks.
-- columns:
--   collective_id | int | Row | row of the table collective
--   run_id
--   participant | text | Rank | who took part
--   source_id
--   step | int | Step | step during which it started
--   match_id | int | Collective | equal for all ranks of one collective
--   seen | int | Ranks | ranks that were seen in it
--   wait_ps | ps | Waits | until the last rank arrives
--   transfer_ps | ps | Transfer | the rest
--   is_last | bool | Last | true for the rank that arrives last
--   caused_ps | ps | Spared | by how much all would be done earlier if this rank had arrived with the one before it; 0 for all others
WITH ordered AS (
  SELECT
    c.id AS collective_id,
    columns!(c, run_id, participant, source_id, step, match_id, seen, wait_ps, transfer_ps),
    ROW_NUMBER() OVER (
      PARTITION BY c.match_id ORDER BY nulls_last!(c.wait_ps, c.participant, c.id)
    ) AS place,
    LEAD(c.wait_ps) OVER (
      PARTITION BY c.match_id ORDER BY nulls_last!(c.wait_ps, c.participant, c.id)
    ) AS next_ps
  FROM collective AS c
  WHERE c.wait_ps IS NOT NULL
)

SELECT
  columns!(o, collective_id, run_id, participant, source_id, step, match_id, seen, wait_ps, transfer_ps),
  o.place = 1 AND o.next_ps > 0 AS is_last,
  CASE WHEN o.place = 1 THEN COALESCE(o.next_ps, 0) ELSE 0 END AS caused_ps
FROM ordered AS o
