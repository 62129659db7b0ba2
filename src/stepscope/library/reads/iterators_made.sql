-- How often did the program make an iterator of a whole input pipeline while certain sources recorded?
--
-- reads: rollup_op
-- parameters:
--   sources | ints | the sources
-- columns:
--   made | int | how often
SELECT CAST(COALESCE(SUM(r.slices), 0) AS BIGINT) AS made
FROM rollup_op AS r
WHERE r.source_id IN $sources AND r.name = 'MakeIterator::RootDataset'
