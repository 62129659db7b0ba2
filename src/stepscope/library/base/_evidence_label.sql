-- Layers of evidence that labels stand for
--
-- question: Which evidence of what a step does are slices, by how they are called?
-- reads: rollup_op, track, track_place
-- notes: An op is work of the input pipeline when it runs on its threads or reads files; writing a checkpoint or a
--   summary is waiting, and a call of a function is nothing: what it runs is there by itself. Python of the input is
--   in two layers, and so is in two rows. Threads of the runtime that stage arrays for an accelerator move data, also
--   while the copy on the device has not begun and the program's thread waits in the call that needs them.
-- columns:
--   rollup_id | int | Label | row of rollup_op
--   source_id | int | Source | source it was read from
--   place | text | Place | device, host or launch, as in track_place
--   because | text | Because | op, python, wait or transfer: what makes it evidence
--   layer | text | Layer | class of op, input work, input python, wait, input waits, peer waits or setups
--   least_ps | ps | Least | a slice that takes no longer is none: an op of PyTorch on a processor is launched and run in
--     one call, and what launching takes is 1 to 10 µs of it
WITH labels AS (
  SELECT
    r.id,
    r.source_id,
    p.place,
    COALESCE(r.op_type, r.op_name, r.name) AS type_or_name,
    CASE
      WHEN p.place = 'host' AND (
        t.name LIKE 'tf_data%'
        OR COALESCE(r.op_type, r.op_name, r.name) IN (
          'ReaderRead', 'ReaderReadV2', 'ReaderReadUpTo', 'ReaderReadUpToV2', 'ReadFile', 'DecodeJpeg',
          'DecodePng', 'DecodeImage', 'DecodeGif', 'DecodeBmp', 'DecodeRaw', 'DecodeCSV',
          'DecodeAndCropJpeg', 'ParseExample', 'ParseExampleV2', 'ParseSingleExample', 'ParseTensor',
          'QueueEnqueue', 'QueueEnqueueV2', 'QueueEnqueueMany', 'QueueEnqueueManyV2'
        )
      ) THEN 'input work'
      WHEN COALESCE(r.op_type, r.op_name, r.name) IN (
        'SaveV2', 'SaveSlices', 'Save', 'RestoreV2', 'Restore', 'MergeV2Checkpoints', 'ShardedFilename',
        'WriteFile', 'WriteSummary', 'WriteScalarSummary', 'WriteHistogramSummary', 'WriteImageSummary',
        'WriteAudioSummary', 'WriteGraphSummary', 'WriteRawProtoSummary', 'WriteTensorSummary',
        'FlushSummaryWriter', 'PrintV2', 'Print'
      ) THEN 'wait'
      -- A call of a function: the ops within are recorded by themselves, and so is what XLA compiles there.
      WHEN
        r.op_type LIKE '__inference_%' OR r.op_type LIKE '__forward_%' OR r.op_type LIKE '__backward_%'
        THEN NULL
      WHEN r.class = 'collective' THEN 'communication'
      WHEN r.class IN ('compute', 'copy', 'compile', 'python') THEN r.class
    END AS own_layer,
    CAST(
      CASE WHEN p.producer = 'kineto' AND p.place = 'host' AND r.class = 'compute' THEN 10000000 ELSE 0 END AS BIGINT
    ) AS op_least_ps
  FROM rollup_op AS r
  INNER JOIN track AS t ON t.id = r.track_id
  INNER JOIN track_place AS p ON p.track_id = r.track_id
  WHERE r.is_op AND r.class NOT IN ('input', 'wait')
)

SELECT l.id AS rollup_id, l.source_id, l.place, 'op' AS because, l.own_layer AS layer, l.op_least_ps AS least_ps
FROM labels AS l
UNION ALL
SELECT
  l.id AS rollup_id,
  l.source_id,
  l.place,
  'python' AS because,
  CASE WHEN l.own_layer = 'input work' THEN 'input python' END AS layer,
  0 AS least_ps
FROM labels AS l
WHERE l.type_or_name IN ('PyFunc', 'EagerPyFunc', 'PyFuncStateless')
UNION ALL
SELECT
  r.id AS rollup_id,
  r.source_id,
  p.place,
  'wait' AS because,
  CASE
    WHEN r.wait = 'input' THEN 'input waits'
    WHEN r.wait = 'peers' OR r.name LIKE 'RecvTensor%' OR r.name LIKE 'recv-done%' THEN 'peer waits'
  END AS layer,
  0 AS least_ps
FROM rollup_op AS r
INNER JOIN track_place AS p ON p.track_id = r.track_id
WHERE r.wait IN ('input', 'receive', 'peers') AND p.place NOT IN ('device', 'none')
UNION ALL
-- A core that waits for a copy does not copy, but the step goes to the copy.
SELECT
  r.id AS rollup_id,
  r.source_id,
  p.place,
  'wait' AS because,
  'copy' AS layer,
  0 AS least_ps
FROM rollup_op AS r
INNER JOIN track_place AS p ON p.track_id = r.track_id
WHERE r.wait = 'copy' AND p.place = 'device'
UNION ALL
SELECT
  r.id AS rollup_id,
  r.source_id,
  p.place,
  'transfer' AS because,
  'copy' AS layer,
  0 AS least_ps
FROM rollup_op AS r
INNER JOIN track AS t ON t.id = r.track_id
INNER JOIN track_place AS p ON p.track_id = r.track_id
WHERE
  r.name IN ('H2D Dispatch', 'D2H Dispatch', 'Transpose::Execute')
  AND NOT r.is_op AND p.place = 'host' AND t.name LIKE 'pjrt%'
UNION ALL
-- A thread of the framework that makes room on a device, while the program's own waits for it.
SELECT
  r.id AS rollup_id,
  r.source_id,
  p.place,
  'wait' AS because,
  'setups' AS layer,
  0 AS least_ps
FROM rollup_op AS r
INNER JOIN track_place AS p ON p.track_id = r.track_id
WHERE
  (
    r.name LIKE 'cudaMalloc%' OR r.name LIKE 'cudaFree%' OR r.name LIKE 'cudaHostAlloc%' OR r.name LIKE 'hipMalloc%'
    OR r.name LIKE 'hipFree%' OR r.name LIKE 'hipHostMalloc%' OR r.name LIKE 'hipExtMalloc%'
    OR r.name LIKE 'cuMemAlloc%' OR r.name LIKE 'cuMemFree%'
  )
  AND NOT r.is_op AND p.place IN ('host', 'launch')
