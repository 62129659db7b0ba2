-- Memory by variable
--
-- question: What did the variables of the program hold when its arrays held most?
-- reads: _held_array
-- parameters:
--   source_id | int | source to look at
--   most | int | rows to give
-- columns:
--   holder | text | variable, with attributes of what it holds
--   kind | text | kind of array
--   device | text | where the arrays are
--   bytes | bytes | size of these arrays
--   file | text | file of the program
--   line | int | line that puts them into the variable, or sets it
--   function | text | function of that line
WITH most AS (
  SELECT
    h.instant_id,
    h.holder,
    h.kind,
    h.device,
    h.bytes,
    h.file,
    h.line,
    h.function,
    DENSE_RANK() OVER (ORDER BY h.all_bytes DESC NULLS LAST, h.look NULLS LAST) AS place
  FROM _held_array AS h
  WHERE h.source_id = $source_id AND h.holder IS NOT NULL AND h.bytes IS NOT NULL
)

SELECT m.holder, m.kind, m.device, m.bytes, m.file, m.line, m.function
FROM most AS m
WHERE m.place = 1
ORDER BY m.bytes DESC NULLS LAST, m.instant_id NULLS LAST
LIMIT $most
