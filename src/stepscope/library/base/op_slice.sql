-- Slices that stand for ops
--
-- question: Which slices are ops, kernels, copies or waits of ops, and of which class?
-- reads: slice, track_place
-- notes: On device streams every slice counts but marks and waits between streams. On threads and
--   lanes a slice counts when the recording names its op, or, in recordings that know no ops
--   (Horovod, VizTracer, unknown writers), always. Python frames, framework internals, launches of
--   the CUDA runtime and marks do not count. Slices nest: add up self_ps, not dur_ps.
-- columns:
--   slice_id | int | Slice | number of the slice
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
--   source_id | int | Source | source it was read from
--   track_id | int | Track | track it lies on
--   place | text | Place | device, host or launch, as in track_place
--   device | text | Device | device it ran on or was launched from
--   device_track_id | int | First track | number for place and device, as in track_place
--   device_kind | text | Device kind | cpu, gpu, tpu or unknown
--   step | int | Step | step during which it started
--   op | text | Op | name of the op, or of the slice where the op is unknown
--   op_type | text | Op type | type of the op, or the op where no type is known
--   class | text | Class | compute, copy, collective, compile, python, input (a wait for input) or wait
--   works | bool | Works | true for work: neither a wait nor on a row of launches
--   ts_ps | ps | Start | start, from the capture's origin
--   end_ps | ps | End | end, from the capture's origin
--   dur_ps | ps | Duration | duration with children
--   self_ps | ps | Self time | duration without the ops and waits on top of it; slices on top that are
--     neither count to it
WITH named AS (
  SELECT
    s.id AS slice_id,
    s.run_id,
    s.host_id,
    s.source_id,
    s.track_id,
    s.step,
    COALESCE(s.op_name, s.name) AS op,
    COALESCE(s.op_type, s.op_name, s.name) AS type_or_name,
    COALESCE(s.op_type, s.name) AS called,
    COALESCE(s.category, '') AS category_or_none,
    CASE WHEN s.op_name IS NULL AND s.op_type IS NULL THEN 0 ELSE 1 END AS names_op,
    CASE
      WHEN s.op_type IS NULL THEN CASE
        WHEN s.name LIKE 'IteratorGetNext%' OR s.name LIKE 'infeed%' OR s.name LIKE 'recv-done%' THEN 1
        WHEN s.name LIKE 'copy-done%' THEN 1
        WHEN s.name LIKE 'WAIT_FOR_%' OR s.name LIKE 'NEGOTIATE_%' OR s.name = 'QUEUE' THEN 1
        ELSE 0
      END
      WHEN s.op_type LIKE 'IteratorGetNext%' OR s.op_type IN (
        '_Recv', '_HostRecv', 'Recv', 'RecvTensor', 'QueueDequeueV2', 'QueueDequeueManyV2',
        'QueueDequeueUpToV2', 'QueueDequeueMany', 'QueueDequeue', 'QueueDequeueUpTo', 'infeed', 'recv-done',
        'copy-done', 'OptionalGetValue', 'CollectiveBcastRecv', 'CollectiveBcastRecvV2', 'send-done', 'BarrierTakeMany'
      ) THEN 1
      ELSE 0
    END AS waiting,
    CASE
      WHEN s.op_type IS NULL THEN CASE
        WHEN s.name LIKE 'IteratorGetNext%' OR s.name LIKE 'infeed%' THEN 1
        ELSE 0
      END
      WHEN s.op_type LIKE 'IteratorGetNext%' OR s.op_type LIKE 'QueueDequeue%' THEN 1
      WHEN s.op_type IN ('infeed', 'OptionalGetValue') THEN 1
      ELSE 0
    END AS for_input,
    CASE
      WHEN s.op_type IS NULL THEN CASE
        WHEN s.name LIKE 'Memcpy%' OR s.name LIKE 'Memset%' OR s.name LIKE 'MEMCPY%' THEN 'copy'
        WHEN s.category IN ('gpu_memcpy', 'gpu_memset', 'Memcpy', 'Memset') THEN 'copy'
        WHEN s.name LIKE 'nccl%' OR s.name LIKE 'rccl%' OR s.name LIKE 'mscclKernel%' THEN 'collective'
        WHEN s.name LIKE 'oneccl%' OR s.name LIKE '%ncclKernel%' THEN 'collective'
        WHEN s.name LIKE '%cross_device_reduce%' OR s.name LIKE 'all-reduce%' THEN 'collective'
        WHEN s.name LIKE 'all-gather%' OR s.name LIKE 'reduce-scatter%' OR s.name LIKE 'all-to-all%' THEN 'collective'
        WHEN s.name LIKE 'collective-permute%' OR s.name LIKE '%ALLREDUCE' THEN 'collective'
        WHEN s.name LIKE '%ALLGATHER' OR s.name LIKE '%BROADCAST' THEN 'collective'
        WHEN s.name LIKE 'psum%' OR s.name LIKE 'ppermute%' OR s.name LIKE 'all_gather%' THEN 'collective'
        WHEN s.name LIKE 'all_to_all%' OR s.name LIKE 'reduce_scatter%' THEN 'collective'
        WHEN s.name LIKE 'ragged_all_to_all%' THEN 'collective'
        WHEN s.name LIKE '%compile' AND s.name LIKE '%xla_compile' THEN 'compile'
        WHEN s.name LIKE 'XlaCompile%' THEN 'compile'
        ELSE 'compute'
      END
      WHEN s.op_type LIKE 'MEMCPY%' OR s.op_type LIKE 'Memcpy%' OR s.op_type LIKE 'Memset%' THEN 'copy'
      WHEN s.op_type IN ('copy', 'copy-start', '_Send', '_HostSend', 'CopyHost', 'Copy') THEN 'copy'
      WHEN s.op_type LIKE 'nccl%' OR s.op_type LIKE 'rccl%' OR s.op_type LIKE 'mscclKernel%' THEN 'collective'
      WHEN s.op_type LIKE 'oneccl%' OR s.op_type LIKE '%ncclKernel%' THEN 'collective'
      WHEN s.op_type LIKE '%cross_device_reduce%' THEN 'collective'
      WHEN s.op_type LIKE 'Nccl%' OR s.op_type LIKE 'Horovod%' OR s.op_type LIKE 'Collective%' THEN 'collective'
      WHEN s.op_type LIKE 'all-reduce%' OR s.op_type LIKE 'all-gather%' THEN 'collective'
      WHEN s.op_type LIKE 'all-to-all%' THEN 'collective'
      WHEN s.op_type LIKE 'reduce-scatter%' OR s.op_type LIKE 'collective-permute%' THEN 'collective'
      WHEN s.op_type LIKE 'psum%' OR s.op_type LIKE 'ppermute%' OR s.op_type LIKE 'all_gather%' THEN 'collective'
      WHEN s.op_type LIKE 'all_to_all%' OR s.op_type LIKE 'reduce_scatter%' THEN 'collective'
      WHEN s.op_type LIKE 'ragged_all_to_all%' THEN 'collective'
      WHEN s.op_type LIKE '%XlaCompile' THEN 'compile'
      WHEN s.op_name LIKE '%compile' AND s.op_name LIKE '%xla_compile' THEN 'compile'
      WHEN s.op_type IN (
        'EagerPyFunc', 'PyFunc', 'PyFuncStateless',
        'pure_callback', 'io_callback', 'debug_callback', 'debug_print'
      ) THEN 'python'
      ELSE 'compute'
    END AS work_class,
    s.ts_ps,
    s.ts_ps + s.dur_ps AS end_ps,
    s.dur_ps,
    COALESCE(s.op_self_ps, s.self_ps) AS whole_self_ps
  FROM slice AS s
),

judged AS (
  SELECT
    n.slice_id,
    n.run_id,
    n.host_id,
    n.source_id,
    n.track_id,
    n.step,
    n.op,
    n.type_or_name,
    n.called,
    n.category_or_none,
    n.names_op,
    CASE
      WHEN n.waiting = 1 OR n.called LIKE 'event_wait%' OR n.called LIKE 'worker_idle%' THEN 1
      WHEN n.called = '_recv' OR n.called LIKE '%ynchronize' OR n.called LIKE '%ynchronize %' THEN 1
      WHEN n.called LIKE '%threading%wait%' OR n.called LIKE '%wait%threading.py%' THEN 1
      WHEN n.called LIKE '%_recv%connection.py%' OR n.called LIKE '%connection.py%_recv%' THEN 1
      WHEN n.called LIKE '%lock.acquire%' OR n.called LIKE 'time.sleep%' THEN 1
      WHEN n.called LIKE '%select.%poll%' THEN 1
      ELSE 0
    END AS blocking,
    n.for_input,
    n.work_class,
    n.ts_ps,
    n.end_ps,
    n.dur_ps,
    n.whole_self_ps
  FROM named AS n
)

SELECT
  n.slice_id,
  n.run_id,
  n.host_id,
  n.source_id,
  n.track_id,
  p.place,
  p.device,
  p.device_track_id,
  p.device_kind,
  n.step,
  n.op,
  n.type_or_name AS op_type,
  CASE
    WHEN n.blocking = 1 AND n.for_input = 1 THEN 'input'
    WHEN n.blocking = 1 THEN 'wait'
    WHEN p.copies AND n.work_class = 'compute' THEN 'copy'
    ELSE n.work_class
  END AS class,
  n.blocking = 0 AND p.place <> 'launch' AS works,
  n.ts_ps,
  n.end_ps,
  n.dur_ps,
  n.whole_self_ps AS self_ps
FROM judged AS n
INNER JOIN track_place AS p ON p.track_id = n.track_id
WHERE
  (
    p.place = 'device'
    AND n.category_or_none NOT IN (
      'gpu_user_annotation', 'user_annotation', 'cuda_sync', 'xpu_sync', 'overhead', 'python_function'
    )
  )
  OR (
    p.place IN ('host', 'launch')
    -- A call of an iterator makes input, and what it runs is recorded by itself.
    AND n.called NOT LIKE 'Iterator::%'
    AND (
      n.names_op = 1
      OR n.category_or_none IN ('cpu_op', 'Op')
      OR (
        p.producer IN ('horovod', 'viztracer', 'unknown')
        AND n.category_or_none NOT IN ('user_annotation', 'python_function')
      )
    )
  )
