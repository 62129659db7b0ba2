-- When did the first and the last capture begin?
--
-- reads: capture
-- columns:
--   first_unix_ns | unix_ns | origin of the first
--   last_unix_ns | unix_ns | origin of the last
SELECT MIN(c.origin_unix_ns) AS first_unix_ns, MAX(c.origin_unix_ns) AS last_unix_ns
FROM capture AS c
