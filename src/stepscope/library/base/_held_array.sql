-- What did the program's variables hold, look by look?
--
-- reads: instant
-- columns:
--   instant_id | int | number of the instant
--   run_id, host_id, source_id, ts_ps
--   look | int | which look: 1 is the first
--   is_last | bool | whether it is of the last look of its source
--   steps | int | steps that there were so far
--   was_steps | int | steps at the look before; NULL in the first
--   holder | text | variable, with attributes of what it holds
--   array_kind | text | kind of array
--   device | text | where the arrays are; empty where not told
--   bytes | bytes | size of the arrays
--   arrays | int | how many
--   was_bytes | bytes | size at the look before
--   was_arrays | int | how many then
--   operations | int | operations of autograd's graphs that the arrays keep; NULL for none
--   was_operations | int | how many then
--   all_bytes | bytes | size of the arrays of all variables
--   available | bytes | memory that was left
--   file | text | file of the program
--   in_file | text | the same; empty where it is not known
--   line | int | line that puts them into the variable, or sets it
--   function | text | function of that line
--   puts | bool | whether that line adds to what is there
SELECT
  i.id AS instant_id,
  columns!(i, run_id, host_id, source_id, ts_ps),
  TRY_CAST(arg!(i.args_json, Look) AS BIGINT) AS look,
  TRY_CAST(arg!(i.args_json, Look) AS BIGINT)
    = MAX(TRY_CAST(arg!(i.args_json, Look) AS BIGINT))
      OVER (PARTITION BY i.source_id) AS is_last,
  TRY_CAST(arg!(i.args_json, Steps) AS BIGINT) AS steps,
  TRY_CAST(arg!(i.args_json, "Was steps") AS BIGINT) AS was_steps,
  arg!(i.args_json, Holder) AS holder,
  COALESCE(arg!(i.args_json, Kind), 'unknown') AS array_kind,
  COALESCE(arg!(i.args_json, Device), '') AS device,
  TRY_CAST(arg!(i.args_json, Bytes) AS BIGINT) AS bytes,
  TRY_CAST(arg!(i.args_json, Arrays) AS BIGINT) AS arrays,
  TRY_CAST(arg!(i.args_json, "Was bytes") AS BIGINT) AS was_bytes,
  TRY_CAST(arg!(i.args_json, "Was arrays") AS BIGINT) AS was_arrays,
  TRY_CAST(arg!(i.args_json, Operations) AS BIGINT) AS operations,
  TRY_CAST(arg!(i.args_json, "Was operations") AS BIGINT) AS was_operations,
  TRY_CAST(arg!(i.args_json, "All bytes") AS BIGINT) AS all_bytes,
  TRY_CAST(arg!(i.args_json, Available) AS BIGINT) AS available,
  arg!(i.args_json, File) AS file,
  COALESCE(arg!(i.args_json, File), '') AS in_file,
  TRY_CAST(arg!(i.args_json, Line) AS BIGINT) AS line,
  arg!(i.args_json, Function) AS function,
  i.args_json LIKE '%"Puts": true%' AS puts
FROM instant AS i
WHERE i.name = '[held]'
