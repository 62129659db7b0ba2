-- What did the variables of the program hold when its arrays held most?
--
-- reads: _held_array
-- parameters: source_id
--   most | int | rows to give
-- columns:
--   holder, array_kind, device, bytes, file, line, function
WITH looks AS (
  SELECT h.source_id AS of_source, h.look AS number, MAX(h.all_bytes) AS size
  FROM _held_array AS h
  WHERE h.source_id = $source_id
  GROUP BY h.source_id, h.look
),

chosen AS (
  SELECT
    columns!(k, of_source, number),
    ROW_NUMBER() OVER (PARTITION BY k.of_source ORDER BY nulls_last!(k.size DESC, k.number)) AS place
  FROM looks AS k
)

SELECT h.holder, h.array_kind, h.device, h.bytes, h.file, h.line, h.function
FROM _held_array AS h
INNER JOIN chosen AS c ON c.of_source = h.source_id AND c.number = h.look AND c.place = 1
WHERE h.holder IS NOT NULL AND h.bytes > 0
ORDER BY nulls_last!(h.bytes DESC, h.instant_id)
LIMIT $most
