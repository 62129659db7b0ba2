-- Slices that wait
--
-- question: Which slices are waits, and for what?
-- reads: slice, track_place
-- notes: Recognised by the names that TensorFlow, XLA, CUDA, PyTorch and Horovod give to calls that
--   block. A wait may hide under other names; what is listed here is certain, what is not is unknown.
-- columns:
--   slice_id | int | Slice | number of the slice
--   run_id | text | Run | run of the source
--   host_id | text | Host | host of the source
--   source_id | int | Source | source it was read from
--   track_id | int | Track | track it lies on
--   place | text | Place | device, host or launch, as in track_place
--   step | int | Step | step during which it started
--   wait | text | Wait | what is waited for: input, receive, copy, device, stream, peers
--   name | text | Name | name of the slice
--   ts_ps | ps | Start | start, from the capture's origin
--   end_ps | ps | End | end, from the capture's origin
--   dur_ps | ps | Duration | duration
WITH sorted AS (
  SELECT
    s.id AS slice_id,
    s.run_id,
    s.host_id,
    s.source_id,
    s.track_id,
    s.step,
    CASE
      WHEN s.category IN ('cuda_sync', 'xpu_sync') THEN 'stream'
      WHEN s.category = 'gpu_user_annotation' OR s.category = 'python_function' THEN 'none'
      WHEN s.op_type LIKE 'IteratorGetNext%' OR s.op_type LIKE 'QueueDequeue%' OR s.op_type = 'infeed' THEN 'input'
      WHEN s.op_type IN ('_Recv', '_HostRecv', 'Recv', 'RecvTensor', 'recv-done') THEN 'receive'
      WHEN s.op_type = 'copy-done' THEN 'copy'
      WHEN s.op_type IS NOT NULL THEN 'none'
      WHEN s.name LIKE 'IteratorGetNext%' AND s.name LIKE '%::DoCompute' THEN 'input'
      WHEN s.name LIKE 'enumerate(DataLoader)#%' THEN 'input'
      WHEN s.name LIKE 'infeed%' THEN 'input'
      WHEN s.name LIKE 'recv-done%' OR s.name = 'RecvTensor' THEN 'receive'
      WHEN s.name LIKE 'copy-done%' THEN 'copy'
      WHEN s.name IN (
        'cudaStreamSynchronize', 'cudaDeviceSynchronize', 'cudaEventSynchronize', 'cuStreamSynchronize',
        'cuCtxSynchronize', 'cuEventSynchronize', 'hipStreamSynchronize', 'hipDeviceSynchronize',
        'hipEventSynchronize', 'StreamSynchronize', 'EventSynchronize', 'BlockHostUntilDone',
        'StreamExecutor::SynchronizeAllActivity', 'cudaStreamSynchronize_ptsz'
      ) THEN 'device'
      WHEN s.name LIKE '%(wait for completion)' OR s.name LIKE '%BlockUntilReady%' THEN 'device'
      WHEN s.name LIKE 'WAIT_FOR_%' OR s.name LIKE 'NEGOTIATE_%' OR s.name = 'QUEUE' THEN 'peers'
      ELSE 'none'
    END AS wait,
    s.name,
    s.ts_ps,
    s.ts_ps + s.dur_ps AS end_ps,
    s.dur_ps
  FROM slice AS s
)

SELECT
  t.slice_id,
  t.run_id,
  t.host_id,
  t.source_id,
  t.track_id,
  p.place,
  t.step,
  t.wait,
  t.name,
  t.ts_ps,
  t.end_ps,
  t.dur_ps
FROM sorted AS t
INNER JOIN track_place AS p ON p.track_id = t.track_id
WHERE t.wait <> 'none' AND p.place <> 'none'
