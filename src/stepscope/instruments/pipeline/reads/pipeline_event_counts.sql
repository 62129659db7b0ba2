-- Events of pipelines
--
-- question: How many slices of each source belong to a pipeline?
-- reads: rollup_op, track
-- notes: The names are those of the view _pipeline_slice.
-- columns:
--   source_id
--   events | int | how many
SELECT r.source_id, sum!(r.slices) AS events
FROM rollup_op AS r
INNER JOIN track AS t ON t.id = r.track_id
WHERE
  (
    r.name LIKE 'Iterator::%' OR r.name LIKE '%Produce' OR r.name LIKE 'InstantiatedCapturedFunction::%'
    OR r.name LIKE 'MakeIterator::%' OR r.name LIKE 'IteratorGetNext%::DoCompute'
    OR r.name LIKE '%/EagerPyFunc:EagerPyFunc' OR r.name LIKE '%/PyFunc:PyFunc'
    OR r.name IN (
      'ExecutorState::Process', 'EagerPyFunc:EagerPyFunc', 'PyFunc:PyFunc', 'PyFuncStateless:PyFuncStateless'
    )
    OR (t.kind = 'lane' AND t.records <> 'annotation' AND r.op_type LIKE 'IteratorGetNext%')
  )
GROUP BY r.source_id
ORDER BY r.source_id NULLS LAST
