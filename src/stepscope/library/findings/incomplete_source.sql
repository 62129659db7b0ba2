-- A source is not complete
--
-- question: Which sources lost events, or could not be read at all?
-- reads: source, source_note, step
-- severity: high when a source could not be read or lost a tenth of its events, else medium
-- impact: {path} {lost}. {what}
-- action: Copy or record the file again; `completeness` shows what happened at which byte. Counts and
--   totals of this source are lower bounds.
-- reasoning: stepscope reads a cut or damaged file as far as its bytes make sense, before the damage and,
--   where lengths allow, after it. It counts what was lost, but cannot know what it was: sums of this
--   source are lower bounds, and steps may lack ops.
-- formula: lost_share = events_lost / events_seen; high from 0.1, or when nothing could be read; impact =
--   sum of the source's step durations. A source that lost no event is reported where its bytes end too soon or
--   make no sense.
-- columns:
--   impact_ps | ps | In doubt | length of the source's steps
--   run_id, host_id
--   source_id | int | Source | number of the source
--   path | text | Source | path as given
--   events_seen | int | Seen | events in the file
--   events_lost | int | Lost | events seen but not stored
--   lost | text | Loss | what of it is not there
--   what | text | What | why it could not be read, or what that means
WITH spans AS (
  SELECT s.source_id, SUM(s.dur_ps) AS sum_ps
  FROM step AS s
  GROUP BY s.source_id
),

cuts AS (
  SELECT
    n.source_id,
    sum_where!(n.slug <> 'names-alone', 1) AS number,
    -- What only names rows is not stored where no event lies on any: nothing of the file is missing.
    sum_where!(n.slug = 'names-alone', n.events) AS names
  FROM source_note AS n
  WHERE
    n.effect = 'lost'
    OR (n.effect = 'missing' AND (n.slug LIKE 'damaged-%' OR n.slug LIKE 'truncated%' OR n.slug LIKE 'broken-%'))
  GROUP BY n.source_id
)

SELECT
  CASE WHEN o.error IS NOT NULL OR o.events_lost * 10 >= o.events_seen THEN 'high' ELSE 'medium' END AS severity,
  CAST(COALESCE(p.sum_ps, 0) AS BIGINT) AS impact_ps,
  columns!(o, run_id, host_id, source_id, path, events_seen, events_lost),
  CASE
    WHEN o.events_lost > 0
      THEN 'lost ' || CAST(o.events_lost AS VARCHAR) || ' of ' || CAST(o.events_seen AS VARCHAR)
        || CASE WHEN o.events_seen = 1 THEN ' event' ELSE ' events' END
    WHEN o.error IS NOT NULL THEN 'could not be read'
    ELSE 'is cut or damaged, and how much is missing is unknown'
  END AS lost,
  COALESCE(o.error, 'What could be read was kept. The rest is unknown.') AS what
FROM source AS o
LEFT JOIN spans AS p ON p.source_id = o.source_id
LEFT JOIN cuts AS c ON c.source_id = o.source_id
WHERE
  o.error IS NOT NULL
  OR (NOT o.complete AND (o.events_lost > COALESCE(c.names, 0) OR (o.events_capped = 0 AND c.number > 0)))
ORDER BY nulls_last!(o.events_lost DESC, o.path, o.source_id)
