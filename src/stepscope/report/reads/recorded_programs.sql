-- When did the captures of each run begin, on which hosts, and what does the recorder tell of the program?
--
-- reads: source, capture, source_note, host
-- columns:
--   of_run | text | run
--   begun_unix_ns | unix_ns | earliest begin; NULL where no file tells
--   host_name | text | a host; NULL where none has a name
--   hosts | int | hosts that have one
--   program | text | command and versions; NULL where the recorder tells none
WITH begun AS (
  SELECT c.run_id, MIN(c.origin_unix_ns) AS first_ns
  FROM capture AS c
  GROUP BY c.run_id
),

told AS (
  SELECT n.run_id, MIN(n.detail) AS said
  FROM source_note AS n
  WHERE n.slug = 'recorded-program'
  GROUP BY n.run_id
),

named AS (
  SELECT h.run_id, MIN(h.name) AS one_name, COUNT(DISTINCT h.name) AS number
  FROM host AS h
  WHERE h.name <> 'unknown'
  GROUP BY h.run_id
),

runs AS (
  SELECT s.run_id
  FROM source AS s
  GROUP BY s.run_id
)

SELECT
  r.run_id AS of_run,
  b.first_ns AS begun_unix_ns,
  n.one_name AS host_name,
  COALESCE(n.number, 0) AS hosts,
  t.said AS program
FROM runs AS r
LEFT JOIN begun AS b ON b.run_id = r.run_id
LEFT JOIN told AS t ON t.run_id = r.run_id
LEFT JOIN named AS n ON n.run_id = r.run_id
ORDER BY r.run_id NULLS LAST
