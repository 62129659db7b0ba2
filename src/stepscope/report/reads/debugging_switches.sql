-- Switches for finding faults
--
-- question: Which switches for finding faults were on while each run was recorded?
-- reads: source_note
-- columns:
--   of_run | text | run
--   names | text | the switches, as the program calls them
--   switches | int | how many
SELECT DISTINCT n.run_id AS of_run, n.detail AS names, n.events AS switches
FROM source_note AS n
WHERE n.slug = 'debugging-switches'
ORDER BY n.run_id NULLS LAST, n.detail NULLS LAST
