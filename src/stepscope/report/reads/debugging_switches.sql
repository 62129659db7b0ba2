-- Which switches for debugging were on while each run was recorded?
--
-- reads: source_note
-- columns:
--   of_run | text | run
--   names | text | the switches, as the program calls them
--   switches | int | how many
SELECT n.run_id AS of_run, n.detail AS names, MAX(n.events) AS switches
FROM source_note AS n
WHERE n.slug = 'debugging-switches'
GROUP BY n.run_id, n.detail
ORDER BY n.run_id NULLS LAST, n.detail NULLS LAST
