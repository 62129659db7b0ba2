-- Which functions of libraries make a model, store, summarise, log, wait for a device, or make batches?
--
-- reads: frame
-- notes: The one list of functions that load a model or make its layers.
-- columns:
--   frame_id | int | number of the frame
--   purpose | text | checkpoint, summary, log, device, batch, or model (which is loaded or made)
WITH known AS (
  SELECT
    f.id AS frame_id,
    CASE
      WHEN f.module LIKE 'tensorflow.python.saved_model.load%' THEN 'model'
      WHEN f.module = 'tensorflow.python.saved_model.function_deserialization' THEN 'model'
      WHEN f.module LIKE 'tensorflow.python.checkpoint.%' AND f.function LIKE '%restore' THEN 'model'
      WHEN f.module LIKE 'tensorflow.python.checkpoint.%' AND f.function LIKE '%read' THEN 'model'
      WHEN f.module LIKE '%keras.%saving.%' AND f.function LIKE '%load%' THEN 'model'
      WHEN f.module IN ('torch.serialization', 'torch.jit._serialization') AND f.function LIKE '%load' THEN 'model'
      WHEN f.module LIKE 'torch.nn.modules.%' AND f.function LIKE '%__init__' THEN 'model'
      WHEN f.module LIKE 'torch.nn.modules.%' AND f.function LIKE '%load%state%dict' THEN 'model'
      WHEN f.module LIKE 'torch.nn.modules.%' AND f.function LIKE '%reset_parameters' THEN 'model'
      WHEN f.module LIKE 'torch.nn.init%' THEN 'model'
      WHEN f.module LIKE 'transformers.%' AND f.function LIKE '%from_pretrained' THEN 'model'
      WHEN f.module LIKE 'tensorflow.python.checkpoint.%' THEN 'checkpoint'
      WHEN f.module LIKE 'tensorflow.python.training.saver%' THEN 'checkpoint'
      WHEN f.module LIKE 'tensorflow.python.saved_model.save%' OR f.module LIKE 'keras.%.saving.%' THEN 'checkpoint'
      WHEN f.module LIKE 'keras.%model_checkpoint' OR f.module LIKE 'tf_keras.%.saving.%' THEN 'checkpoint'
      WHEN f.module LIKE 'orbax.%' OR f.module LIKE 'flax.training.checkpoints%' THEN 'checkpoint'
      WHEN f.module LIKE 'flax.serialization%' OR f.module LIKE 'torch.serialization%' THEN 'checkpoint'
      WHEN f.module LIKE 'numpy.lib.%npyio%' AND f.function LIKE '%save%' THEN 'checkpoint'
      WHEN f.module IN ('numpy.lib.format', 'numpy.lib._format_impl') AND f.function LIKE 'write%' THEN 'checkpoint'
      WHEN f.module LIKE 'h5py.%' OR f.module LIKE 'safetensors.%' THEN 'checkpoint'
      WHEN f.module LIKE 'tensorflow.python.ops.summary_ops%' THEN 'summary'
      WHEN f.module LIKE 'tensorflow.python.summary.%' THEN 'summary'
      WHEN f.module LIKE 'tensorboard%' OR f.module LIKE 'keras.%.tensorboard' THEN 'summary'
      WHEN f.module LIKE 'torch.utils.tensorboard%' THEN 'summary'
      WHEN f.module = 'logging' OR f.module LIKE 'logging.%' OR f.module LIKE 'absl.logging%' THEN 'log'
      WHEN f.module = 'tensorflow.python.platform.tf_logging' THEN 'log'
      WHEN f.module = 'tensorflow.python.framework.ops' AND f.function IN (
        '_EagerTensorBase.numpy', '_EagerTensorBase.__float__', '_EagerTensorBase.__int__',
        '_EagerTensorBase.__array__', '_EagerTensorBase.__bool__', '_EagerTensorBase.__index__',
        'numpy', '__float__', '__int__', '__array__', '__bool__', '__index__'
      ) THEN 'device'
      WHEN f.module = 'jax._src.array' AND f.function IN (
        'ArrayImpl.__float__', 'ArrayImpl.__int__', 'ArrayImpl.__bool__', 'ArrayImpl.__array__', 'ArrayImpl._value',
        'ArrayImpl.block_until_ready', 'ArrayImpl.item', 'ArrayImpl.tolist', '_value', '__float__', '__array__'
      ) THEN 'device'
      WHEN f.module = 'jax._src.api' AND f.function IN ('block_until_ready', 'device_get') THEN 'device'
      WHEN f.file = '<built-in>' AND f.function = 'block_until_ready' THEN 'device'
      WHEN f.module LIKE 'torch.utils.data.%' THEN 'batch'
      WHEN f.module LIKE 'tensorflow.python.data.ops.iterator%' THEN 'batch'
    END AS purpose
  FROM frame AS f
)

SELECT k.frame_id, k.purpose
FROM known AS k
WHERE k.purpose IS NOT NULL
