-- Which rank each source is of
--
-- question: Who took part, and in which sources was it recorded?
-- reads: collective, capture, step
-- notes: All that take part in collectives, and every other source with steps whose rank or host is known.
-- columns:
--   run_id
--   participant | text | Rank | rank-3 where the number is known, else the host; with the device where several devices of a source take part
--   source_id | int | Source | source it was recorded in
--   host_id
WITH taking AS (
  SELECT c.run_id, c.participant, c.source_id, c.host_id
  FROM collective AS c
  GROUP BY columns!(c, run_id, participant, source_id, host_id)
),

others AS (
  SELECT
    p.run_id,
    COALESCE('rank-' || CAST(MIN(p.rank) AS VARCHAR), p.host_id) AS who,
    columns!(p, source_id, host_id)
  FROM capture AS p
  INNER JOIN step AS s ON s.source_id = p.source_id
  LEFT JOIN taking AS t ON t.source_id = p.source_id
  WHERE t.source_id IS NULL AND s.recovered_from <> 'whole_capture' AND (p.rank IS NOT NULL OR p.host_id <> 'unknown')
  GROUP BY p.run_id, p.source_id, p.host_id
)

SELECT t.run_id, t.participant, t.source_id, t.host_id
FROM taking AS t
UNION ALL
SELECT o.run_id, o.who AS participant, o.source_id, o.host_id
FROM others AS o
