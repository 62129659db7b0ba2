-- Which lines of the program store, load, summarise, log, or wait for a device?
--
-- reads: stack_sample, stack, stack_frame, frame, step, _moment_step
-- notes: A sample has the purpose of the outermost of its frames that has one. What a loader calls makes a batch,
--   whatever it reads.
-- columns:
--   run_id, host_id, step_id
--   purpose | text | checkpoint, summary, log, model (which is loaded or made) or device
--   time_ps | ps | time that the sample stands for
--   place_function | text | function of the program's innermost frame
--   place_file | text | its file
--   place_line | int | line that ran
WITH known AS (
  SELECT
    f.id AS frame_id,
    CASE
      WHEN f.module LIKE 'tensorflow.python.saved_model.load%' THEN 6
      WHEN f.module LIKE '%keras.%saving.%' AND f.function LIKE '%load%' THEN 6
      WHEN f.module IN ('torch.serialization', 'torch.jit._serialization') AND f.function LIKE '%load' THEN 6
      WHEN f.module LIKE 'torch.nn.modules.%' AND f.function LIKE '%__init__' THEN 6
      WHEN f.module LIKE 'torch.nn.modules.%' AND f.function LIKE '%load%state%dict' THEN 6
      WHEN f.module LIKE 'torch.nn.init%' THEN 6
      WHEN f.module LIKE 'tensorflow.python.checkpoint.%' OR f.module LIKE 'tensorflow.python.training.saver%' THEN 1
      WHEN f.module LIKE 'tensorflow.python.saved_model.save%' OR f.module LIKE 'keras.%.saving.%' THEN 1
      WHEN f.module LIKE 'keras.%model_checkpoint' OR f.module LIKE 'tf_keras.%.saving.%' THEN 1
      WHEN f.module LIKE 'orbax.%' OR f.module LIKE 'flax.training.checkpoints%' THEN 1
      WHEN f.module LIKE 'flax.serialization%' OR f.module LIKE 'torch.serialization%' THEN 1
      WHEN f.module LIKE 'numpy.lib.%npyio%' AND f.function LIKE '%save%' THEN 1
      WHEN f.module IN ('numpy.lib.format', 'numpy.lib._format_impl') AND f.function LIKE 'write%' THEN 1
      WHEN f.module LIKE 'h5py.%' OR f.module LIKE 'safetensors.%' THEN 1
      WHEN f.module LIKE 'tensorflow.python.ops.summary_ops%' OR f.module LIKE 'tensorflow.python.summary.%' THEN 2
      WHEN f.module LIKE 'tensorboard%' OR f.module LIKE 'keras.%.tensorboard' THEN 2
      WHEN f.module LIKE 'torch.utils.tensorboard%' THEN 2
      WHEN f.module = 'logging' OR f.module LIKE 'logging.%' OR f.module LIKE 'absl.logging%' THEN 3
      WHEN f.module = 'tensorflow.python.platform.tf_logging' THEN 3
      WHEN f.module = 'tensorflow.python.framework.ops' AND f.function IN (
        '_EagerTensorBase.numpy', '_EagerTensorBase.__float__', '_EagerTensorBase.__int__',
        '_EagerTensorBase.__array__', '_EagerTensorBase.__bool__', '_EagerTensorBase.__index__',
        'numpy', '__float__', '__int__', '__array__', '__bool__', '__index__'
      ) THEN 4
      WHEN f.module = 'jax._src.array' AND f.function IN (
        'ArrayImpl.__float__', 'ArrayImpl.__int__', 'ArrayImpl.__bool__', 'ArrayImpl.__array__', 'ArrayImpl._value',
        'ArrayImpl.block_until_ready', 'ArrayImpl.item', 'ArrayImpl.tolist', '_value', '__float__', '__array__'
      ) THEN 4
      WHEN f.module = 'jax._src.api' AND f.function IN ('block_until_ready', 'device_get') THEN 4
      WHEN f.file = '<built-in>' AND f.function = 'block_until_ready' THEN 4
      WHEN f.module LIKE 'torch.utils.data.%' OR f.module LIKE 'tensorflow.python.data.ops.iterator%' THEN 5
      ELSE 0
    END AS purpose_number
  FROM frame AS f
),

found AS (
  SELECT
    a.stack_id,
    k.purpose_number,
    ROW_NUMBER() OVER (PARTITION BY a.stack_id ORDER BY a.inner_frames DESC NULLS LAST) AS place
  FROM stack_frame AS a
  INNER JOIN known AS k ON k.frame_id = a.frame_id
  WHERE k.purpose_number > 0
)

SELECT
  columns!(m, run_id, host_id),
  w.step_id,
  CASE
    WHEN o.purpose_number = 1 THEN 'checkpoint'
    WHEN o.purpose_number = 2 THEN 'summary'
    WHEN o.purpose_number = 3 THEN 'log'
    WHEN o.purpose_number = 6 THEN 'model'
    ELSE 'device'
  END AS purpose,
  m.weight_ps AS time_ps,
  g.function AS place_function,
  g.file AS place_file,
  g.line AS place_line
FROM stack_sample AS m
INNER JOIN found AS o ON o.stack_id = m.stack_id AND o.place = 1
INNER JOIN stack AS k ON k.id = m.stack_id
INNER JOIN _moment_step AS w ON w.what = 'sample' AND w.moment_id = m.id
INNER JOIN step AS s ON s.id = w.step_id
INNER JOIN frame AS g ON g.id = k.place_id
WHERE m.is_main AND s.averaged AND o.purpose_number <> 5
