-- What `name!(…)` in a file of the library stands for: its expansion has the arguments in place of {parameters}.
-- The last parameter may be `name…`, which takes all that are left; `{name…: text}` is the text for each of them,
-- with {name} in it. Columns are never NULL where nothing is said about it.

-- share!(part, whole): a part of a whole; NULL where the whole is 0
CAST({part} AS DOUBLE) / NULLIF({whole}, 0)

-- mean!(total, number): what each of a number has of a total, cut to whole numbers
CAST(FLOOR(CAST({total} AS DOUBLE) / {number}) AS BIGINT)

-- whole!(value): a double, cut to whole numbers
CAST(FLOOR({value}) AS BIGINT)

-- bounded!(total): a sum of whole numbers as one of at most 2⁶³ - 1: nested slices may add up to more than 106 days
CAST(
  CASE WHEN {total} < 9223372036854775807 THEN {total} ELSE 9223372036854775807 END AS BIGINT
)

-- sum!(value): a sum of whole numbers as one; by itself, SUM is of a wider type
CAST(SUM({value}) AS BIGINT)

-- sum_where!(condition, value): the sum of the rows for which a condition is true, 0 where there are none
SUM(CASE WHEN {condition} THEN {value} ELSE 0 END)

-- least!(one, other): the smaller of two
CASE WHEN {one} < {other} THEN {one} ELSE {other} END

-- greatest!(one, other): the larger of two
CASE WHEN {one} > {other} THEN {one} ELSE {other} END

-- runs_apart!(between, runs): whether the time between runs is so long that runs alone do not tell of the program
{between} * 4 >= {runs}

-- median!(value, place, number): of rows that are numbered by their value, the value that half of them do not exceed
MIN(CASE WHEN {place} * 2 >= {number} THEN {value} END)

-- covered!(end, start, id, keys…): of slices of the same keys, the end of all that start earlier; NULL for the first
MAX({end}) OVER (
  PARTITION BY {keys…: {keys}}
  ORDER BY {start} NULLS LAST, {id} NULLS LAST
  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
)

-- until!(condition, slice): when all slices of its track have ended for which a condition is true, up to this one
MAX(CASE WHEN {condition} THEN {slice}.ts_ps + {slice}.dur_ps END) OVER (
  PARTITION BY {slice}.track_id
  ORDER BY {slice}.ts_ps NULLS LAST, {slice}.dur_ps DESC NULLS LAST, {slice}.id NULLS LAST
  ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
)

-- uncovered!(covered, start, end): the part of a slice that no earlier one covers
CASE
  WHEN {covered} IS NULL OR {covered} <= {start} THEN {end} - {start}
  WHEN {covered} >= {end} THEN 0
  ELSE {end} - {covered}
END

-- runtime_call!(category): whether slices of a category are calls of a device's runtime
({category} IN ('Runtime', 'runtime') OR {category} LIKE '%_runtime' OR {category} LIKE '%_driver')

-- kernel_launch!(name): whether a call of a device's runtime launches one kernel
(
  {name} LIKE 'cu%Launch%Kernel%' OR {name} LIKE 'hip%Launch%Kernel%'
)

-- severity!(part, whole): of what takes part of a whole: high from a half, medium from a quarter
CASE
  WHEN {part} * 2 >= {whole} THEN 'high'
  WHEN {part} * 4 >= {whole} THEN 'medium'
  ELSE 'low'
END

-- pipeline_call!(name, op_type, kind, records): whether a slice is tf.data's; on a lane, an op taking a batch
(
  {name} LIKE 'Iterator::%' OR {name} LIKE '%Produce' OR {name} LIKE 'InstantiatedCapturedFunction::%'
  OR {name} LIKE 'MakeIterator::%' OR {name} LIKE 'IteratorGetNext%::DoCompute'
  OR {name} LIKE '%/EagerPyFunc:EagerPyFunc' OR {name} LIKE '%/PyFunc:PyFunc'
  OR {name} IN (
    'ExecutorState::Process', 'EagerPyFunc:EagerPyFunc', 'PyFunc:PyFunc', 'PyFuncStateless:PyFuncStateless'
  )
  OR ({kind} = 'lane' AND {records} <> 'annotation' AND {op_type} LIKE 'IteratorGetNext%')
)

-- compared_op!(op, step): whether an op in a step is among those that are compared; launches are not
{op}.run_id = $run_id
AND {op}.host_id IN $host_ids
AND {op}.place IN ('device', 'host')
AND {step}.dur_ps > 0
AND ({step}.averaged OR $whole = 1)

-- arg!(json, name): a named value of JSON, as text; NULL where there is none
NULLIF(JSON_EXTRACT_STRING({json}, '$.{name}'), '')

-- nulls_last!(columns…): an order that is the same on all engines
{columns…: {columns} NULLS LAST}

-- columns!(table, names…): columns of one table, for the star that the subset lacks
{names…: {table}.{names}}

-- product!(op_type): whether ops of a type are products of matrices or convolutions, which models are made of
(
  LOWER({op_type}) LIKE '%matmul%' OR LOWER({op_type}) LIKE '%gemm%' OR LOWER({op_type}) LIKE '%mm'
  OR LOWER({op_type}) LIKE '%dot%' OR LOWER({op_type}) LIKE '%linear'
  OR (LOWER({op_type}) LIKE '%conv%' AND LOWER({op_type}) NOT LIKE '%convert%')
)

-- certain_class!(class, drawn_source): a class, and other for what may compute or not, as its source only draws it
CASE WHEN {class} = 'compute' AND {drawn_source} IS NOT NULL THEN 'other' ELSE {class} END

-- look_up_ps!(op_type, op_name): for how long TensorFlow's op that asks for an XLA program takes where there is one; else NULL
CASE WHEN {op_type} = '_XlaCompile' OR {op_name} LIKE '%xla_compile' THEN 5000000000 END

-- python_figures!(row, total): of rows of Python that were added up, and the total of their host
sum!({row}.spent_ps) AS time_ps,
mean!(SUM({row}.spent_ps), NULLIF({total}.number, 0)) AS per_step_ps,
share!(SUM({row}.spent_ps), {total}.all_ps) AS share,
share!(SUM({row}.on_cpu_ps), SUM({row}.known_ps)) AS cpu_share,
sum!({row}.seen) AS samples

-- stack_figures!(row): of rows of _stack_time that were added up
sum!({row}.stack_ps) AS time_ps,
mean!(SUM({row}.stack_ps), {row}.number) AS per_step_ps,
share!(SUM({row}.stack_ps), {row}.label_ps) AS part_share,
share!(SUM({row}.stack_ps), {row}.steps_ps) AS share
