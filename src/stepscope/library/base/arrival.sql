-- Who arrives at a collective, and who is last
--
-- question: For each collective whose ranks end together: how long does each rank wait, and for whom?
-- reads: collective
-- notes: The rank with the shortest part arrived last: all end together. That compares durations, not clocks.
--   Collectives that are under way at the same time wait for the same: a moment counts to the first of them.
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
--   once_ps | ps | Waits once | of its wait, what no earlier wait of this rank covers
--   caused_ps | ps | Spared | by how much all would be done earlier if this rank had arrived with the one before it, beyond what an earlier one spares; 0 for all others
WITH ordered AS (
  SELECT
    c.id AS collective_id,
    columns!(c, run_id, participant, source_id, step, match_id, seen, ts_ps, wait_ps, transfer_ps),
    ROW_NUMBER() OVER (
      PARTITION BY c.match_id ORDER BY nulls_last!(c.wait_ps, c.participant, c.id)
    ) AS place,
    LEAD(c.wait_ps) OVER (
      PARTITION BY c.match_id ORDER BY nulls_last!(c.wait_ps, c.participant, c.id)
    ) AS next_ps
  FROM collective AS c
  WHERE c.wait_ps IS NOT NULL
),

-- The others wait until the last arrives, which is when its own part begins.
costs AS (
  SELECT
    columns!(o, collective_id, run_id, participant, source_id, step, match_id, seen, ts_ps, wait_ps, transfer_ps),
    o.ts_ps + o.wait_ps AS waits_to,
    o.ts_ps - CASE WHEN o.place = 1 THEN COALESCE(o.next_ps, 0) ELSE 0 END AS others_from
  FROM ordered AS o
),

covered AS (
  SELECT
    columns!(k, collective_id, run_id, participant, source_id, step, match_id, seen, ts_ps, wait_ps, transfer_ps),
    columns!(k, waits_to, others_from),
    covered!(k.waits_to, k.ts_ps, k.collective_id, k.source_id, k.participant) AS waited_to,
    covered!(k.ts_ps, k.others_from, k.collective_id, k.source_id, k.participant) AS spared_to
  FROM costs AS k
)

SELECT
  columns!(v, collective_id, run_id, participant, source_id, step, match_id, seen, wait_ps, transfer_ps),
  v.others_from < v.ts_ps AS is_last,
  CAST(uncovered!(v.waited_to, v.ts_ps, v.waits_to) AS BIGINT) AS once_ps,
  CAST(uncovered!(v.spared_to, v.others_from, v.ts_ps) AS BIGINT) AS caused_ps
FROM covered AS v
