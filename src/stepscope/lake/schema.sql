-- The one schema. Every table and every column is described here and nowhere else: the reference
-- pages, the completion of the prompt and the checks of the decoders are made from this file.
--
-- SCHEMA_VERSION 3
--
-- Conventions
--   *_ps     integer picoseconds; instants count from the capture's origin (capture.origin_unix_ns)
--   *_bytes  bytes
--   id       a number unique over all sources opened together, or over the whole lake
--   every table has run_id, host_id and source_id, so that any two tables join on them

-- Columns that several tables have, each where it says LIKE: those of any row of a source
CREATE TYPE of_source AS (
  run_id VARCHAR NOT NULL,          -- run of the source
  host_id VARCHAR NOT NULL,         -- host of the source
  source_id BIGINT NOT NULL         -- source it was read from
);

CREATE TYPE row_of_source AS (
  id BIGINT NOT NULL,               -- number of the row
  LIKE of_source
);

-- What a program consists of
CREATE TYPE contents AS (
  instructions BIGINT,              -- instructions in all computations
  fusions BIGINT,                   -- fused groups of instructions
  loops BIGINT,                     -- instructions that loop
  custom_calls BIGINT,              -- calls of code that XLA knows nothing of
  copies BIGINT,                    -- copies and transposes
  f64_instructions BIGINT           -- instructions that make 64-bit floats
);

-- What a program, or a part of it, costs
CREATE TYPE cost AS (
  flops DOUBLE,                     -- floating-point operations as XLA counts them: bodies of loops once, custom calls as -1
  transcendentals DOUBLE,           -- transcendental functions, counted likewise
  bytes DOUBLE,                     -- bytes read and written, counted likewise
  run_flops DOUBLE,                 -- flops of what really runs: loops as often as they are known to go round
  run_transcendentals DOUBLE,       -- transcendental functions of what really runs
  run_bytes DOUBLE,                 -- bytes that what really runs reads and writes
  run_custom_calls DOUBLE,          -- custom calls that run: their cost is unknown and in no other column
  run_open_loops DOUBLE             -- loops of unknown length that run: counted once
);

-- What memory a program takes, and what is wrong with its figures
CREATE TYPE memory AS (
  parameter_bytes BIGINT,           -- memory of parameters; NULL without a buffer assignment, as all memory
  output_bytes BIGINT,              -- memory of results that are not parameters
  alias_bytes BIGINT,               -- parameters whose memory results take over
  constant_bytes BIGINT,            -- memory of constants
  thread_local_bytes BIGINT,        -- memory of threads, in called computations
  temp_bytes BIGINT,                -- memory of values in between
  allocated_bytes BIGINT,           -- all memory that a run takes
  heap_needed_bytes BIGINT,         -- the most of temp_bytes that is needed at once
  problem VARCHAR                   -- why figures are missing or doubtful; NULL when nothing is
);

-- A training job, or any program that was recorded: what belongs together.
CREATE TABLE run (
  run_id VARCHAR NOT NULL,          -- name of the run, made of [a-z0-9._-]; in a lake with digits that stand for its whole path
  name VARCHAR NOT NULL,            -- the name as found: folder, file or what the user said; in a lake never a file
  path VARCHAR NOT NULL             -- where it was found
);

-- One act of recording on one host: one clock, one origin.
CREATE TABLE capture (
  capture_id BIGINT NOT NULL,       -- number of the capture
  run_id VARCHAR NOT NULL,          -- run it belongs to
  host_id VARCHAR NOT NULL,         -- host it was made on
  source_id BIGINT NOT NULL,        -- source it was read from
  producer VARCHAR NOT NULL,        -- what wrote it, such as tf_profiler, jax or kineto; unknown where the file does not say
  origin_unix_ns BIGINT,            -- Unix time of ts_ps = 0 in nanoseconds; NULL when the file does not say
  clock VARCHAR NOT NULL,           -- unix: comparable between captures; relative: only within this capture
  dur_ps BIGINT NOT NULL,           -- from the first to the last event
  rank BIGINT,                      -- number of the process in its job, where the recording or its name tells one
  ranks BIGINT                      -- processes of the job, where the recording tells how many
);

-- One file (or archive member) that was read, and how complete it was.
CREATE TABLE source (
  source_id BIGINT NOT NULL,        -- number of the source
  run_id VARCHAR NOT NULL,          -- run it belongs to
  host_id VARCHAR NOT NULL,         -- host it is about
  path VARCHAR NOT NULL,            -- path as given, absolute in a lake; archive members after a !
  format VARCHAR NOT NULL,          -- name of the format
  producer VARCHAR NOT NULL,        -- what wrote it, as in capture
  kind VARCHAR NOT NULL,            -- trace: what ran when; profile, memory: samples without steps; capture: what a recorder noted beside; graph, checkpoint, dump: what a program is
  framework VARCHAR,                -- tensorflow, jax or pytorch: whose programs its writer records; NULL for others
  of_session BOOLEAN NOT NULL,      -- true when its writer records one run of a session at a time
  bytes BIGINT NOT NULL,            -- size as stored
  content_hash VARCHAR NOT NULL,    -- hash of the bytes as stored
  decoder_version INTEGER NOT NULL, -- version of the decoder that read it
  events_seen BIGINT NOT NULL,      -- events in the file, whole or damaged
  events_stored BIGINT NOT NULL,    -- events that became rows
  events_lost BIGINT NOT NULL,      -- events seen but not stored; source_note says why
  events_repaired BIGINT NOT NULL,  -- events stored after a repair; source_note says which
  events_capped BIGINT NOT NULL,    -- events the recorder itself dropped or cut, where it says so
  complete BOOLEAN NOT NULL,        -- true when nothing was lost, cut or damaged
  error VARCHAR                     -- why the file could not be read at all; NULL when it could
);

-- Something that was lost, repaired, capped or missing in a source, or that its recorder reported.
CREATE TABLE source_note (
  source_id BIGINT NOT NULL,        -- source it is about
  run_id VARCHAR NOT NULL,          -- run of the source
  host_id VARCHAR NOT NULL,         -- host of the source
  slug VARCHAR NOT NULL,            -- stable name; `stepscope docs SLUG` explains it
  effect VARCHAR NOT NULL,          -- lost, repaired, capped, missing, recorder or info
  events BIGINT NOT NULL,           -- events concerned
  first_offset BIGINT,              -- byte offset (after decompression) of the first of them
  detail VARCHAR NOT NULL           -- one sentence about this file
);

-- A machine.
CREATE TABLE host (
  host_id VARCHAR NOT NULL,         -- name made of [a-z0-9._-]
  run_id VARCHAR NOT NULL,          -- run it took part in
  name VARCHAR NOT NULL             -- name as found; 'unknown' when the file does not say
);

-- A processor or accelerator.
CREATE TABLE device (
  id BIGINT NOT NULL,               -- number of the device
  run_id VARCHAR NOT NULL,          -- run it was used in
  host_id VARCHAR NOT NULL,         -- host it belongs to
  source_id BIGINT NOT NULL,        -- source that names it
  name VARCHAR NOT NULL,            -- name as found
  kind VARCHAR NOT NULL,            -- cpu, gpu, tpu or unknown
  args_json VARCHAR                 -- what else is known of it, as a JSON object
);

-- One row of a timeline, and what that row really is.
CREATE TABLE track (
  id BIGINT NOT NULL,               -- number of the track
  LIKE of_source,
  device_id BIGINT,                 -- device it belongs to, when known
  kind VARCHAR NOT NULL,            -- thread, device_stream, lane (packed for display), async, counter, derived, compiler or unknown
  records VARCHAR NOT NULL,         -- execution: the work itself; dispatch: its launch; annotation: marks around it; unknown
  process VARCHAR NOT NULL,         -- the process, device or group that the row belongs to
  name VARCHAR NOT NULL,            -- the row's own name
  origin VARCHAR NOT NULL,          -- the ids the file uses for it, such as 'pid 1 tid 0'
  sort_index BIGINT                 -- place among the others, when the file says
);

-- An interval on a track. Slices of one track nest; each instant belongs to the innermost.
CREATE TABLE slice (
  id BIGINT NOT NULL,               -- number of the slice; order is by track, then time
  LIKE of_source,
  track_id BIGINT NOT NULL,         -- track it lies on
  name VARCHAR NOT NULL,            -- name as found
  category VARCHAR,                 -- category as found
  ts_ps BIGINT NOT NULL,            -- start, from the capture's origin
  dur_ps BIGINT NOT NULL,           -- duration with children
  depth INTEGER NOT NULL,           -- 0 for a slice without a parent
  parent_id BIGINT,                 -- innermost slice of the track that contains this one
  self_ps BIGINT NOT NULL,          -- duration without what lies on top of it; sums to the track's busy time
  rollup_id BIGINT,                 -- row of rollup_op that it is added up in
  op_self_ps BIGINT,                -- of an op: self_ps with that of slices within it that are neither ops nor waits; NULL when the same
  step BIGINT,                      -- number of the step during which it started
  op_name VARCHAR,                  -- op or graph node it executes
  op_type VARCHAR,                  -- type of that op
  correlation_id BIGINT,            -- links a launch with what it launched
  args_json VARCHAR                 -- every named value of the slice, as a JSON object
);

-- A moment: instant, mark, object snapshot or sample.
CREATE TABLE instant (
  id BIGINT NOT NULL,               -- number of the instant
  LIKE of_source,
  track_id BIGINT NOT NULL,         -- track it lies on
  name VARCHAR NOT NULL,            -- name as found
  category VARCHAR,                 -- category as found
  kind VARCHAR NOT NULL,            -- instant, async, object_new, object_snapshot, object_delete, sample, mark, memory_dump, clock_sync, context or unknown
  object_id VARCHAR,                -- id of the object or async sequence
  ts_ps BIGINT NOT NULL,            -- when, from the capture's origin
  args_json VARCHAR                 -- every named value, as a JSON object
);

-- A number over time. One row per series of a counter event.
CREATE TABLE counter (
  LIKE row_of_source,
  track_id BIGINT NOT NULL,         -- track it lies on
  name VARCHAR NOT NULL,            -- name of the counter
  series VARCHAR NOT NULL,          -- name of the series within the counter
  ts_ps BIGINT NOT NULL,            -- when, from the capture's origin
  value DOUBLE                      -- the number; NULL when it was not one
);

-- One end or station of an arrow between slices.
CREATE TABLE flow (
  LIKE row_of_source,
  flow_id BIGINT NOT NULL,          -- number of the arrow: equal for its stations, different between sources
  phase VARCHAR NOT NULL,           -- start, step or end
  track_id BIGINT NOT NULL,         -- track of this station
  slice_id BIGINT,                  -- innermost slice there, if any
  name VARCHAR NOT NULL,            -- name as found
  category VARCHAR,                 -- category as found
  ts_ps BIGINT NOT NULL,            -- when, from the capture's origin
  args_json VARCHAR                 -- every named value, as a JSON object
);

-- One iteration of the program's loop on one host, judged from its source only. Query the view step instead: it also
-- compares steps that were recorded into files of their own.
CREATE TABLE step_stored (
  id BIGINT NOT NULL,               -- number of the row
  run_id VARCHAR NOT NULL,          -- run of the source
  host_id VARCHAR NOT NULL,         -- host of the source
  source_id BIGINT NOT NULL,        -- source it was recovered from
  step BIGINT NOT NULL,             -- number of the step: the program's own where recorded, else counted from 0
  name VARCHAR NOT NULL,            -- name of the marker
  kind VARCHAR NOT NULL,            -- train, eval, compile, warm_up, cut_off or unknown; of an inference server: prefill, decode or mixed; of an Estimator predict or export as well
  recovered_from VARCHAR NOT NULL,  -- batch, marker, profiler_step, optimizer_step, session_run, function_run, function_call, get_next, device, file, recorder, estimator or whole_capture
  ts_ps BIGINT NOT NULL,            -- start, from the capture's origin
  dur_ps BIGINT NOT NULL,           -- duration
  averaged BOOLEAN NOT NULL,        -- false when averages leave it out
  reason VARCHAR NOT NULL,          -- why it is of this kind
  work VARCHAR                      -- what a run of a session updates or, where it updates nothing, how many ops it runs, with a hash of their names
);

-- Slices of a track that are called alike, added up. Together they are all slices.
CREATE TABLE rollup_op (
  LIKE row_of_source,
  track_id BIGINT NOT NULL,         -- track they lie on
  name VARCHAR NOT NULL,            -- name as found
  category VARCHAR,                 -- category as found
  op_name VARCHAR,                  -- op or graph node they execute
  op_type VARCHAR,                  -- type of that op
  class VARCHAR NOT NULL,           -- compute, copy, communication, compile, python, dispatch, input or wait, as in the view op_slice
  wait VARCHAR,                     -- what is waited for, as in the view wait_slice; NULL when they are not in it
  layer VARCHAR,                    -- what a step may go to while they run: compute, communication, copy, compile, python, wait, nodes, launches, input work, input waits, peer waits or setups
  is_op BOOLEAN NOT NULL,           -- true when they are in the view op_slice
  slices BIGINT NOT NULL,           -- how many
  total_ps BIGINT NOT NULL,         -- their durations with children, added up
  self_ps BIGINT NOT NULL,          -- their self times, added up
  op_self_ps BIGINT,                -- of ops: their self times, with those of slices within them that are neither ops nor waits
  min_ps BIGINT NOT NULL,           -- shortest duration
  max_ps BIGINT NOT NULL            -- longest duration
);

-- Work of a device, or of one of its tracks, within a stretch of time, added up.
CREATE TABLE rollup_device (
  LIKE row_of_source,
  device_track_id BIGINT NOT NULL,  -- least track of the device, as in the view track_place
  track_id BIGINT,                  -- track; NULL: all tracks of the device together
  piece_id BIGINT NOT NULL,         -- stretch of time, as in the view observed; every step that is a recording of its own is one
  busy_ps BIGINT NOT NULL,          -- when at least one slice of work ran
  work_ps BIGINT NOT NULL,          -- durations within the stretch, added up
  slices BIGINT NOT NULL,           -- slices of work
  gaps BIGINT NOT NULL,             -- times between works in which nothing ran
  most_gap_ps BIGINT NOT NULL,      -- longest of them; 0 without any
  short_gaps BIGINT NOT NULL,       -- those of less than 100 µs
  short_gaps_ps BIGINT NOT NULL,    -- their durations, added up
  first_ps BIGINT NOT NULL,         -- begin of the first work, or of the stretch
  last_ps BIGINT NOT NULL           -- end of the last work, or of the stretch
);

-- Time waited within a step, added up over the threads of a host.
CREATE TABLE rollup_step (
  LIKE row_of_source,
  step_id BIGINT NOT NULL,          -- row of the view step
  wait VARCHAR NOT NULL,            -- what is waited for, as in the view wait_slice
  waits BIGINT NOT NULL,            -- slices that wait
  waited_ps BIGINT NOT NULL         -- when at least one of them waited
);

-- One execution of a node as StepStats records it.
CREATE TABLE op_run (
  LIKE row_of_source,
  slice_id BIGINT NOT NULL,         -- the same execution as a slice
  device_id BIGINT NOT NULL,        -- device it ran on
  op_name VARCHAR NOT NULL,         -- node name
  op_type VARCHAR,                  -- op type, from the label
  scheduled_ps BIGINT,              -- when it was scheduled
  start_ps BIGINT NOT NULL,         -- when the executor started it
  op_start_ps BIGINT,               -- when its kernel began
  op_end_ps BIGINT,                 -- when its kernel ended
  end_ps BIGINT NOT NULL,           -- when the executor finished it
  label VARCHAR,                    -- timeline_label as found
  thread_id BIGINT,                 -- thread, where the recorder sets it correctly
  temp_bytes BIGINT,                -- temporary memory
  persistent_bytes BIGINT,          -- persistent memory
  requested_bytes BIGINT,           -- all memory asked for during the op
  peak_bytes BIGINT,                -- most held at once by the op
  live_bytes BIGINT,                -- still held after the op
  output_bytes BIGINT               -- requested size of its outputs
);

-- A movement of an allocator: positive bytes allocate, negative free.
CREATE TABLE allocation (
  LIKE row_of_source,
  op_run_id BIGINT,                 -- execution that did it, when known
  slice_id BIGINT,                  -- slice that did it, when known
  allocator VARCHAR NOT NULL,       -- name of the allocator
  ts_ps BIGINT NOT NULL,            -- when, from the capture's origin
  delta_bytes BIGINT NOT NULL,      -- bytes allocated (positive) or freed (negative)
  address BIGINT                    -- address, when the recorder wrote it: its 64 bits, negative from 2^63 on
);

-- A tensor that an op produced.
CREATE TABLE tensor (
  LIKE row_of_source,
  op_run_id BIGINT NOT NULL,        -- execution that produced it
  op_name VARCHAR NOT NULL,         -- node name
  slot INTEGER NOT NULL,            -- which output
  dtype VARCHAR NOT NULL,           -- element type, as DT_FLOAT
  shape VARCHAR,                    -- shape as JSON, [64, 10]; NULL when unknown
  requested_bytes BIGINT,           -- bytes asked for
  allocated_bytes BIGINT,           -- bytes given
  allocator VARCHAR,                -- name of the allocator
  address BIGINT                    -- address, when the recorder wrote it: its 64 bits, negative from 2^63 on
);

-- A node of a graph.
CREATE TABLE node (
  id BIGINT NOT NULL,               -- number of the node
  LIKE of_source,
  graph VARCHAR NOT NULL,           -- which graph: graph, partition/<n>, function/<name>, ...
  name VARCHAR NOT NULL,            -- name of the node
  op_type VARCHAR NOT NULL,         -- op type
  device VARCHAR NOT NULL,          -- device asked for or placed on
  args_json VARCHAR                 -- small attributes, as a JSON object
);

-- A data or control edge between nodes of one graph.
CREATE TABLE edge (
  id BIGINT NOT NULL,               -- number of the edge
  LIKE of_source,
  graph VARCHAR NOT NULL,           -- which graph
  producer VARCHAR NOT NULL,        -- name of the node that produces
  producer_slot INTEGER NOT NULL,   -- output number; -1 for a control edge
  consumer VARCHAR NOT NULL,        -- name of the node that consumes
  consumer_slot INTEGER NOT NULL    -- input number
);

-- A stage of a tf.data pipeline: all iterators of one place in it. Made from slices: at ingest,
-- or when first asked for.
CREATE TABLE iterator (
  id BIGINT NOT NULL,               -- number of the stage
  LIKE of_source,
  pipeline INTEGER NOT NULL,        -- number of its pipeline; 0 is the one the program waits for most
  name VARCHAR NOT NULL,            -- name as TensorFlow ran it, without indices: Iterator::Root::Prefetch::BatchV2
  branch_name VARCHAR NOT NULL,     -- the same with the branches of zip, mixtures and concatenations: Zip[1]::Map
  user_stage VARCHAR,               -- as the user wrote it: MapDataset:2 is transformation 2; NULL when TensorFlow added it
  spoken VARCHAR NOT NULL,          -- the same as a person says it: map (transformation 2); its own name where TensorFlow added it
  user_position INTEGER,            -- place of that transformation in the user's chain, from 0 at the source
  file VARCHAR,                     -- file in which the user wrote it, where the capture has it
  line INTEGER,                     -- line in that file
  consumer_id BIGINT,               -- iterator that takes its elements; NULL for the root
  works_ahead BOOLEAN NOT NULL,     -- it has threads of its own, so that its calls are waiting, not work
  calls BIGINT NOT NULL,            -- calls of GetNext
  total_ps BIGINT NOT NULL,         -- their durations
  own_ps BIGINT NOT NULL,           -- their durations without the calls of its inputs
  function_ps BIGINT NOT NULL,      -- executors running its function, all threads added up
  queue_ps BIGINT NOT NULL,         -- its function waiting for a thread of the pool, at least
  busy_ps BIGINT NOT NULL,          -- when at least one of its threads was at work
  parallelism INTEGER,              -- calls of its function that may run at once, where known
  width INTEGER NOT NULL,           -- threads its work is divided by
  threads INTEGER NOT NULL,         -- threads it was seen on
  lane VARCHAR NOT NULL,            -- what runs one after the other has the same lane
  work_ps BIGINT NOT NULL,          -- work for a step, all threads added up
  trace_work_ps BIGINT NOT NULL,    -- the same from the events of the trace
  model_work_ps BIGINT,             -- the same from tf.data's own model, where the capture holds it
  work_from VARCHAR NOT NULL,       -- trace or model: which of the two work_ps is
  service_ps BIGINT NOT NULL,       -- time it needs for a step: work_ps / width
  in_waits_ps BIGINT NOT NULL,      -- its work, divided by its width, while the program waited
  limits INTEGER,                   -- 1 for the stage that holds the program up most; NULL where none limits it
  runs_python BOOLEAN NOT NULL,     -- it runs a py_function
  step_without_ps BIGINT,           -- how long a step would be without the work of this stage, or with the change that takes it away; of the stage that limits
  step_without_low_ps BIGINT,       -- lower bound of that
  step_without_high_ps BIGINT,      -- upper bound of that
  verdict VARCHAR NOT NULL,         -- input_bound, partly_input_bound, not_input_bound or unknown: of the source
  wait_share DOUBLE,                -- waiting for input as part of the step time: of the source
  share_seen DOUBLE NOT NULL,       -- part of the pipeline's events that was read; 1 except for huge recordings
  args_json VARCHAR                 -- values of its last call, as a JSON object
);

-- A call of GetNext of an iterator. Made from slices: at ingest,
-- or when first asked for.
CREATE TABLE iterator_call (
  id BIGINT NOT NULL,               -- number of the call
  LIKE of_source,
  iterator_id BIGINT NOT NULL,      -- iterator it belongs to
  slice_id BIGINT NOT NULL,         -- the same call as a slice
  track_id BIGINT NOT NULL,         -- thread it ran on
  instance VARCHAR,                 -- TensorFlow's id of the iterator, an unsigned number of 64 bits
  consumer VARCHAR,                 -- id of the iterator that called
  ts_ps BIGINT NOT NULL,            -- start, from the capture's origin
  dur_ps BIGINT NOT NULL,           -- duration
  own_ps BIGINT NOT NULL,           -- duration without the calls of its inputs
  program_waits BOOLEAN NOT NULL    -- the program itself takes a batch and waits for it
);

-- A stage as tf.data's own model of a running iterator knows it, at one moment. Read from the model protos
-- of a capture folder; taking them is cheap, and they contain no overhead of tracing.
CREATE TABLE iterator_model (
  LIKE row_of_source,
  iterator INTEGER NOT NULL,        -- number of the iterator within the capture
  sample INTEGER NOT NULL,          -- number of the sample of that iterator
  ts_ps BIGINT,                     -- when it was taken, from the capture's origin
  elements BIGINT,                  -- elements that the program had taken by then
  node BIGINT NOT NULL,             -- the model's number of the stage
  consumer_node BIGINT,             -- the stage that takes its elements; NULL for the root
  inputs_json VARCHAR NOT NULL,     -- numbers of the stages it takes from, as a JSON array
  name VARCHAR NOT NULL,            -- long name as in iterator.name: Iterator::Root::Prefetch::BatchV2
  node_class VARCHAR NOT NULL,      -- KNOWN_RATIO, ASYNC_KNOWN_RATIO, UNKNOWN_RATIO, INTERLEAVE_MANY, …
  ratio DOUBLE,                     -- elements it takes from its input for one of its own, where fixed
  num_elements BIGINT NOT NULL,     -- elements it has made
  bytes_produced BIGINT NOT NULL,   -- their bytes
  bytes_consumed BIGINT NOT NULL,   -- bytes of the elements it took
  buffered_elements BIGINT NOT NULL, -- elements in its buffer at that moment
  buffered_bytes BIGINT NOT NULL,   -- their bytes
  processing_ps BIGINT NOT NULL,    -- time in the stage itself, without its inputs, over all threads
  parallelism DOUBLE,               -- calls of its function that may run at once, as autotune has set it
  parallelism_min DOUBLE,           -- least that autotune may choose
  parallelism_max DOUBLE,           -- most that autotune may choose
  autotuned BOOLEAN NOT NULL,       -- autotune may turn its parallelism
  buffer_size DOUBLE,               -- elements its buffer may hold
  gaps INTEGER,                     -- of the root: calls of the consumer that gap_ps is the mean of
  gap_ps BIGINT,                    -- of the root: the consumer's own time between two calls, on average
  cpu_budget BIGINT,                -- cores that autotune may use
  ram_budget_bytes BIGINT           -- bytes that autotune may fill with buffers
);

-- A transformation of a tf.data pipeline as the user wrote it.
CREATE TABLE user_stage (
  LIKE row_of_source,
  iterator INTEGER NOT NULL,        -- number of the iterator within the capture
  position INTEGER NOT NULL,        -- place in the chain, from 0 at the source
  transformation VARCHAR NOT NULL,  -- as one writes it: map, batch
  dataset VARCHAR,                  -- TensorFlow's name of it: ParallelMapDataset
  file VARCHAR,                     -- file that contains it
  line INTEGER,                     -- line in that file
  function VARCHAR,                 -- function that contains it
  text VARCHAR,                     -- the line itself
  inputs_json VARCHAR NOT NULL,     -- positions of what it takes from, as a JSON array
  args_json VARCHAR NOT NULL        -- its small arguments, as a JSON object; cardinality: elements of the dataset, -1 when it never ends
);

-- A line of a function that was seen on a stack.
CREATE TABLE frame (
  id BIGINT NOT NULL,               -- number of the frame
  LIKE of_source,
  function VARCHAR NOT NULL,        -- function, with its class where Python says so
  file VARCHAR,                     -- file: the program's as seen from its working directory, a library's without the folder it is installed in, <built-in> for C functions that wait or move data
  line INTEGER,                     -- line that ran
  module VARCHAR,                   -- module that contains the function
  code VARCHAR NOT NULL,            -- whose code it is: program, library, python (the standard library), native or unknown
  has_loop BOOLEAN                  -- true when the loop of the steps is in this function; NULL when nobody says
);

-- A stack: a frame and the stack that called it. The id of a stack stands for all its frames.
CREATE TABLE stack (
  id BIGINT NOT NULL,               -- number of the stack
  LIKE of_source,
  parent_id BIGINT,                 -- the stack without its innermost frame; NULL when that is its only one
  frame_id BIGINT NOT NULL,         -- its innermost frame
  depth INTEGER NOT NULL,           -- how many frames are around that one
  place_id BIGINT                   -- its innermost frame of the program's own code; NULL without one
);

-- What a thread was doing: one look at its stack, and the time that it stands for.
CREATE TABLE stack_sample (
  id BIGINT NOT NULL,               -- number of the sample
  LIKE of_source,
  track_id BIGINT,                  -- track of the thread, where the source has one
  thread_name VARCHAR,              -- name of the thread, where Python has one
  is_main BOOLEAN NOT NULL,         -- true for the thread that runs the steps; without steps the program's main thread
  ts_ps BIGINT NOT NULL,            -- begin of the time that it stands for, from the capture's origin
  weight_ps BIGINT NOT NULL,        -- that time; the samples of a thread leave no gaps while it lives and is sampled
  seen_ps BIGINT,                   -- when the stack was sampled, within that time; NULL where the file does not say
  cpu_ps BIGINT,                    -- processor time of the thread meanwhile, NULL where it is not known
  queued_ps BIGINT,                 -- how long it could have run meanwhile and had no core, NULL where it is not known
  stack_id BIGINT NOT NULL          -- its stack
);

-- Where the thread that runs the steps was in those that no profiler recorded: all looks at a stack in steps after the
-- recording.
CREATE TABLE untraced_stack (
  LIKE row_of_source,
  stack_id BIGINT NOT NULL,         -- the stack
  looks BIGINT NOT NULL,            -- how often the thread was seen there
  weight_ps BIGINT NOT NULL,        -- the time that these looks stand for
  active_ps BIGINT                  -- how long the thread ran meanwhile, or could have and had no core; NULL where it is not known
);

-- A call that traced or compiled a function, as the recorder saw it: which function, where it was called, and what
-- was new about the call.
CREATE TABLE compilation (
  id BIGINT NOT NULL,               -- number of the call
  LIKE of_source,
  ts_ps BIGINT NOT NULL,            -- when tracing began, or the call that traced, from the capture's origin
  dur_ps BIGINT NOT NULL,           -- from there to the end of the call
  framework VARCHAR NOT NULL,       -- tensorflow or jax
  function VARCHAR NOT NULL,        -- function that was traced or compiled
  file VARCHAR,                     -- file in which it is written; NULL when it is none of the program's
  line INTEGER,                     -- line at which it begins
  call_file VARCHAR,                -- file of the program's line that called it
  call_line INTEGER,                -- that line
  call_function VARCHAR,            -- function that contains the line
  number BIGINT NOT NULL,           -- 1 for the first time that the function was traced or compiled, 2 for the next
  change VARCHAR NOT NULL,          -- what was new: first, new_function (a function object made anew), graph (which had more ops), value, shape, dtype, type, structure, function or object (of an argument), unknown
  argument VARCHAR,                 -- argument that was new, or variable that the new function holds
  was VARCHAR,                      -- what it was in the most similar call before that compiled
  became VARCHAR,                   -- what it was in this call
  changes_json VARCHAR NOT NULL     -- all that was new, as a JSON array of objects
);

-- A part of a step: the time that counts to one label. Each instant of a step counts to exactly one, so that the
-- dur_ps of a step add up to its duration. Made from slices and samples of stacks: at ingest, or when first asked for.
CREATE TABLE step_part (
  id BIGINT NOT NULL,               -- number of the row
  run_id VARCHAR NOT NULL,          -- run of the source
  host_id VARCHAR NOT NULL,         -- host of the source
  source_id BIGINT NOT NULL,        -- source of the step
  step_id BIGINT NOT NULL,          -- row of the view step
  label VARCHAR NOT NULL,           -- input, compile, compute, communication, copy, dispatch, setup, python, wait, idle or unknown
  dur_ps BIGINT NOT NULL,           -- time of the step that counts to it
  hidden_ps BIGINT NOT NULL         -- the same going on while the time counts to another label, as a copy under compute
);

-- A part of a step by stack: the time that counts to one label while the thread that drives the steps has one stack,
-- as samples show it. Adds up to no more than the dur_ps of that step and label in step_part; where steps overlap, time
-- is with the step that began last. Made along with step_part.
CREATE TABLE stack_part (
  id BIGINT NOT NULL,               -- number of the row
  run_id VARCHAR NOT NULL,          -- run of the step
  host_id VARCHAR NOT NULL,         -- host of the step
  source_id BIGINT NOT NULL,        -- source of the step
  step_id BIGINT NOT NULL,          -- row of the view step
  stack_id BIGINT NOT NULL,         -- the stack
  label VARCHAR NOT NULL,           -- label as in step_part
  dur_ps BIGINT NOT NULL            -- time of the step that counts to it
);

-- A law that a recording breaks: what must hold of anything that was recorded, and does not. Made from slices: at
-- ingest, or when first asked for.
CREATE TABLE broken_law (
  id BIGINT NOT NULL,               -- number of the row
  run_id VARCHAR NOT NULL,          -- run of the source
  host_id VARCHAR NOT NULL,         -- host of the source
  source_id BIGINT NOT NULL,        -- source that breaks it
  law VARCHAR NOT NULL,             -- name of the law; `stepscope docs laws` has all
  number BIGINT NOT NULL,           -- how many launches, kernels, waits or copies break it
  of_number BIGINT NOT NULL,        -- of how many
  said VARCHAR NOT NULL             -- one sentence about it
);

-- What ops compute and move while steps run, and what their device could do in that time: executions of an op with
-- inputs of the same shapes on one device, copies and communication aside. Made from slices, their shapes and compiled
-- programs: at ingest, or when first asked for.
CREATE TABLE op_cost (
  LIKE row_of_source,
  device VARCHAR NOT NULL,          -- device that ran them
  op_name VARCHAR NOT NULL,         -- op; kernel or instruction where no op is known
  op_type VARCHAR,                  -- instruction that XLA made of it, or the op
  shapes VARCHAR,                   -- shapes of its inputs as JSON; of an instruction, what it makes
  file VARCHAR,                     -- file of the line that made it
  line INTEGER,                     -- that line
  executions BIGINT NOT NULL,       -- how often it ran
  self_ps BIGINT NOT NULL,          -- time on the device, added up
  counted_by VARCHAR,               -- shapes, program or profiler: what operations and bytes are from; NULL where they are unknown
  flops DOUBLE,                     -- operations of all executions
  bytes DOUBLE,                     -- bytes that all executions read and write at least
  number_type VARCHAR,              -- type of the numbers that it multiplies: f64, f32, tf32, f16, bf16, f8 or i8
  peak_flops DOUBLE,                -- operations on such numbers that the device does in a second at most
  peak_bytes DOUBLE,                -- bytes that its memory moves in a second at most
  peaks_by VARCHAR,                 -- what tells the peaks: the recording, or a line of `stepscope docs devices`
  bound VARCHAR,                    -- compute or memory, whichever takes longer at the peaks; NULL where that is not known
  least_ps BIGINT,                  -- least time that the device needs for all executions; NULL where that is not known
  problem VARCHAR                   -- why something is unknown
);

-- A rank's part in a collective: a communication that several processes or devices make together, such as an
-- all-reduce. Made from slices of all sources of a run: at ingest, or when first asked for.
CREATE TABLE collective (
  LIKE row_of_source,
  slice_id BIGINT NOT NULL,         -- the same as a slice
  track_id BIGINT NOT NULL,         -- track it lies on
  device VARCHAR NOT NULL,          -- device it ran on
  participant VARCHAR NOT NULL,     -- who took part: rank-3 where the number is known, else the host; with the device where several devices of a source take part
  rank BIGINT,                      -- number of the process, where known
  step BIGINT,                      -- number of the step during which it started
  kind VARCHAR NOT NULL,            -- all_reduce, all_gather, reduce_scatter, all_to_all, all_to_all_v (parts of different sizes), broadcast, reduce, gather, scatter, barrier, send, recv, send_recv, permute or unknown
  group_name VARCHAR,               -- process group with its ranks, tensor of Horovod, or op of the program; NULL where the recording tells none
  group_size BIGINT,                -- ranks of that group, where the recording tells how many
  sequence BIGINT NOT NULL,         -- the recorded number within the group; where there is none, the place among those of the group and step, from 0
  dtype VARCHAR,                    -- element type as recorded
  elements_in BIGINT,               -- elements that this rank gives
  elements_out BIGINT,              -- elements that it gets
  ts_ps BIGINT NOT NULL,            -- start, from the capture's origin
  dur_ps BIGINT NOT NULL,           -- duration
  matched_by VARCHAR NOT NULL,      -- what tells that others' rows are the same collective: sequence (recorded number), order (place within group and step), negotiation (Horovod's) or none
  match_id BIGINT,                  -- equal for all rows of one collective; NULL when matched by none
  seen BIGINT NOT NULL,             -- rows of the same collective with this one
  wait_ps BIGINT,                   -- time until the last rank arrives: how much longer than the shortest; NULL without others, or where ranks do not end together
  transfer_ps BIGINT,               -- the rest: duration of the shortest
  axis_ts_ps BIGINT,                -- start on the clock of clock_offset.axis_source_id; NULL where that is unknown
  late_ps BIGINT,                   -- how long after the first rank it arrives, by that clock; NULL where the clock of any rank is not aligned by ends
  path_ps BIGINT                    -- of the rank that arrives last, on the critical path: its time since the collective before it on the path; NULL off the path
);

-- How far a source's clock is from the one that all sources of its run are compared on. Made along with collective,
-- for sources with collectives where a run has several.
CREATE TABLE clock_offset (
  id BIGINT NOT NULL,               -- number of the row
  run_id VARCHAR NOT NULL,          -- run of the source
  host_id VARCHAR NOT NULL,         -- host of the source
  source_id BIGINT NOT NULL,        -- source whose clock it is
  axis_source_id BIGINT NOT NULL,   -- source whose clock is the axis
  aligned_by VARCHAR NOT NULL,      -- axis (this clock is it), ends (of collectives that end together), time_of_day (as the hosts' clocks say, error unknown) or unknown
  anchor_ps BIGINT,                 -- a moment of this clock, from the capture's origin
  offset_ps BIGINT,                 -- to be added at that moment; NULL when unknown
  drift_ppm DOUBLE,                 -- millionths of the time since then, to be added as well
  residual_ps BIGINT,               -- nine of ten ends are within this once aligned: the error bar of a time; NULL when unknown
  most_residual_ps BIGINT,          -- the same of all ends
  pairs BIGINT NOT NULL             -- ends that were compared
);

-- Memory that an allocator gave and took back. Made from allocations and graphs:
-- at ingest, or when first asked for.
CREATE TABLE buffer (
  id BIGINT NOT NULL,               -- number of the block
  LIKE of_source,
  allocator VARCHAR NOT NULL,       -- name of the allocator; '(from the graph)' when none recorded anything
  device VARCHAR NOT NULL,          -- device of the execution, where known
  op_run_id BIGINT,                 -- execution that asked for it
  op_name VARCHAR,                  -- op that asked for it; NULL for what was held before the recording
  op_type VARCHAR,                  -- type of that op
  kind VARCHAR NOT NULL,            -- output, temporary (gone when its op was done), persistent or unknown; in profiles of memory their own word, as gradient or buffer
  slot INTEGER,                     -- which output of the op
  dtype VARCHAR,                    -- element type, as DT_FLOAT
  shape VARCHAR,                    -- shape as JSON, [64,10]
  bytes BIGINT NOT NULL,            -- size
  born_ps BIGINT,                   -- when it was allocated; NULL: before the recording
  freed_ps BIGINT,                  -- when it was freed; NULL: not within the recording
  last_use_ps BIGINT,               -- when its last reader was done, by the graph that ran; NULL without one
  timeline_ps BIGINT,               -- when TensorFlow's Timeline would let it die
  readers BIGINT NOT NULL,          -- reads that the graph has
  at_peak BOOLEAN NOT NULL,         -- held when its allocator held most
  lane INTEGER,                     -- row to draw it on: blocks of one lane are never held at once; NULL: not drawn
  file VARCHAR,                     -- file in which the program made the op, where an op log or a Python stack has it
  line INTEGER,                     -- line in that file
  function VARCHAR                  -- function that contains that line
);

-- The line of the program that made an op: from the code traces of op logs.
CREATE TABLE op_line (
  id BIGINT NOT NULL,               -- number of the row
  run_id VARCHAR NOT NULL,          -- run whose ops these are
  host_id VARCHAR NOT NULL,         -- host of the run's first source
  source_id BIGINT NOT NULL,        -- the run's first source
  op_name VARCHAR NOT NULL,         -- node name
  file VARCHAR NOT NULL,            -- file of the innermost call outside the frameworks
  line INTEGER NOT NULL,            -- line in that file
  function VARCHAR,                 -- function that contains that line
  caller_file VARCHAR,              -- file of the call of that function, when it is the program's own too
  caller_line INTEGER,              -- line of that call
  caller_function VARCHAR,          -- function that contains that line
  told_by VARCHAR NOT NULL          -- op log that it was read from
);

-- A module that XLA compiled: of a dump, the last stage that could be read, which is what runs if it was dumped to its
-- end. From dump folders or single files of one, and from XPlanes, which keep the programs that ran.
CREATE TABLE hlo_module (
  LIKE row_of_source,
  program_id VARCHAR NOT NULL,      -- its number, as slices have it in program_id; empty when no file says it
  module VARCHAR NOT NULL,          -- name of the HLO module
  function VARCHAR NOT NULL,        -- function that it was compiled from
  compile BIGINT NOT NULL,          -- which compile of that function it is, from 1
  folder VARCHAR,                   -- folder of the dump, within the source
  file VARCHAR NOT NULL,            -- file that the figures are from
  stage VARCHAR,                    -- stage of that file; NULL after a pass, and for programs that XPlanes keep
  is_final BOOLEAN NOT NULL,        -- whether it is what runs: dumped to its end, or kept by an XPlane
  stages BIGINT NOT NULL,           -- whole stages that were dumped; 0 for programs that XPlanes keep
  passes BIGINT NOT NULL,           -- dumps after passes
  changing_passes BIGINT NOT NULL,  -- those that differ from the dump before
  parameters VARCHAR,               -- shapes of its parameters
  partitions BIGINT,                -- devices that it is split over: what runs is of one of them, and so are its figures
  computations BIGINT,              -- functions and bodies that it has
  LIKE contents,
  LIKE cost,
  LIKE memory
);

-- A stage of a compile, or what a pass left: one file of a dump. Where there is a proto and a text, the proto is read.
CREATE TABLE hlo_pass (
  LIKE row_of_source,
  module_id BIGINT NOT NULL,        -- row of hlo_module; in the order of the compile rows follow each other
  program_id VARCHAR NOT NULL,      -- number of the module; empty when no file says it
  module VARCHAR NOT NULL,          -- name of the HLO module
  stage VARCHAR,                    -- stage, or the pipeline that the pass belongs to
  pass_name VARCHAR,                -- the pass that had just run; NULL for a whole stage
  pass_number BIGINT,               -- its number among the dumps of the module
  next_pass VARCHAR,                -- the pass that came next
  equals_before BOOLEAN NOT NULL,   -- whether the file equals that of the row before byte for byte
  changed VARCHAR,                  -- opcodes that became more or fewer since the row before; NULL when none did
  file VARCHAR NOT NULL,            -- the file that was read
  file_bytes BIGINT NOT NULL,       -- its size
  unknown_fields BIGINT,            -- fields that this version does not know
  computations BIGINT,              -- functions and bodies that it has; NULL when it could not be read, as all figures
  LIKE contents,
  LIKE cost,
  LIKE memory
);

-- A computation of a program: the entry, a body or condition of a loop, what is fused, a function that a reduction applies.
CREATE TABLE hlo_computation (
  LIKE row_of_source,
  module_id BIGINT NOT NULL,        -- row of hlo_module
  pass_id BIGINT,                   -- row of hlo_pass; NULL for programs that XPlanes keep
  program_id VARCHAR NOT NULL,      -- number of the module; empty when no file says it
  module VARCHAR NOT NULL,          -- name of the HLO module
  stage VARCHAR,                    -- stage of the compile; NULL after a pass, and for programs that XPlanes keep
  name VARCHAR NOT NULL,            -- its name
  is_entry BOOLEAN NOT NULL,        -- whether the program begins with it
  instructions BIGINT NOT NULL,     -- its instructions
  root VARCHAR,                     -- the instruction whose value it returns
  times DOUBLE NOT NULL,            -- how often a run goes through it; 0 for what is fused or applied
  LIKE cost
);

-- An instruction of a program that XLA compiled: from the programs that XPlanes keep, and from dump folders. Of a dump
-- folder there are those of whole stages, and of the last pass where a compile was not dumped to its end.
CREATE TABLE hlo_instruction (
  LIKE row_of_source,
  module_id BIGINT NOT NULL,        -- row of hlo_module
  pass_id BIGINT,                   -- row of hlo_pass; NULL for programs that XPlanes keep
  program_id VARCHAR NOT NULL,      -- number of the program, as slices have it in program_id; empty when no file says it
  module VARCHAR NOT NULL,          -- name of the HLO module
  stage VARCHAR,                    -- stage of the compile; NULL after a pass, and for programs that XPlanes keep
  computation VARCHAR,              -- computation that it is in
  name VARCHAR NOT NULL,            -- name of the instruction, as slices have it in op_name
  opcode VARCHAR NOT NULL,          -- what it does
  is_root BOOLEAN,                  -- whether its computation returns its value
  shape VARCHAR,                    -- what it makes: f32[8,16]{1,0}
  shape_bytes DOUBLE,               -- size of that
  operands_json VARCHAR,            -- names of the instructions that it uses, as a JSON array
  calls_json VARCHAR,               -- names of the computations that it calls; a loop's body comes before its condition
  op_name VARCHAR,                  -- the framework's name of the op it was made of: jit(f)/layer/dot_general
  op_type VARCHAR,                  -- the framework's type of that op
  file VARCHAR,                     -- file of the innermost Python call that made it
  line INTEGER,                     -- line in that file
  function VARCHAR,                 -- function that contains that line
  stack_json VARCHAR,               -- all these calls as [[file, line, function], …], the outermost first
  fusion_kind VARCHAR,              -- of a fusion: kLoop, kInput, kOutput or kCustom
  target VARCHAR,                   -- what a custom call calls
  sharding VARCHAR,                 -- over which devices its value is spread
  trip_count DOUBLE,                -- how often a loop is known to go round
  times DOUBLE,                     -- how often it runs in a run of the program; 0 for what is fused or applied
  LIKE cost
);

-- A value in the memory of a compiled program.
CREATE TABLE hlo_buffer (
  LIKE row_of_source,
  module_id BIGINT NOT NULL,        -- row of hlo_module
  pass_id BIGINT,                   -- row of hlo_pass; NULL for programs that XPlanes keep
  program_id VARCHAR NOT NULL,      -- number of the module; empty when no file says it
  module VARCHAR NOT NULL,          -- name of the HLO module
  stage VARCHAR,                    -- stage of the compile; NULL for programs that XPlanes keep
  buffer BIGINT NOT NULL,           -- its number in the file
  bytes BIGINT NOT NULL,            -- its size
  instruction VARCHAR,              -- instruction that makes it
  shape_index VARCHAR NOT NULL,     -- which part of that instruction's tuple: 0,1; empty for all of it
  allocation BIGINT,                -- allocation that it lies in, as in hlo_allocation; NULL when it lies in none
  class VARCHAR,                    -- parameter, output, constant, thread_local or temp
  offset_bytes BIGINT,              -- where in the allocation it begins
  at_peak BOOLEAN NOT NULL          -- whether it is held when the heap needs most; always of parameters, outputs and constants
);

-- An allocation of a compiled program.
CREATE TABLE hlo_allocation (
  LIKE row_of_source,
  module_id BIGINT NOT NULL,        -- row of hlo_module
  pass_id BIGINT,                   -- row of hlo_pass; NULL for programs that XPlanes keep
  program_id VARCHAR NOT NULL,      -- number of the module; empty when no file says it
  module VARCHAR NOT NULL,          -- name of the HLO module
  stage VARCHAR,                    -- stage of the compile; NULL for programs that XPlanes keep
  allocation BIGINT NOT NULL,       -- its number in the file
  bytes BIGINT NOT NULL,            -- its size
  class VARCHAR NOT NULL,           -- parameter, output, constant, thread_local or temp
  is_aliased BOOLEAN NOT NULL,      -- whether the result takes over the memory of this parameter
  parameter BIGINT,                 -- number of the parameter
  space BIGINT NOT NULL,            -- memory space; 0 is the main memory
  buffers BIGINT NOT NULL,          -- values that lie in it, one after the other or side by side
  needed_bytes BIGINT,              -- of a heap: the most that is needed at once, where XLA simulated it
  peak_instruction VARCHAR          -- of a heap: the instruction at which that is
);

-- What speaks for a problem of a program in a dump folder and stands in no other table: to see it takes the operands
-- of instructions, their order in the schedule, the shapes of several compiles or the program's own log.
CREATE TABLE hlo_case (
  LIKE row_of_source,
  module_id BIGINT,                 -- row of hlo_module; NULL where a log does not say which program it means
  kind VARCHAR NOT NULL,            -- shapes or types (compiled again for others), mixed (several have its number), layout_copy, double, donor (not used), spill or collective (not hidden)
  instruction VARCHAR,              -- the instruction; as a log says it, a kernel or the shape of an argument
  what VARCHAR NOT NULL,            -- opcode, layouts, parameter, or what changed
  value DOUBLE NOT NULL,            -- bytes; of shapes, types and mixed, how many
  share DOUBLE,                     -- part of what the program moves or holds
  op_name VARCHAR,                  -- the framework's name of the op it was made of
  file VARCHAR,                     -- file of the Python call that made it, or the log
  line INTEGER                      -- line in that file
);

-- A line of a view of tfprof, with its figures, which are means when there are several steps. The table has every
-- line: none is left out, trimmed or hidden, and every type counts. In a lake it is made from the slices of each
-- run, at ingest for runs of up to 250,000 slices; otherwise from files or slices when first asked for. Runs that
-- are opened together without a lake share one tree, as in `stepscope tfprof`, which carries the first one's run_id.
CREATE TABLE tfprof_node (
  id BIGINT NOT NULL,               -- number of the line; lines have the order of their view
  run_id VARCHAR NOT NULL,          -- run of the first source
  host_id VARCHAR NOT NULL,         -- host of the first source
  source_id BIGINT NOT NULL,        -- first of the sources, which are counted together
  view VARCHAR NOT NULL,            -- scope, graph, op or code
  made_from VARCHAR NOT NULL,       -- files: graph, RunMetadata and op log, in whole microseconds; slices: a trace
  parent_id BIGINT,                 -- line above; NULL for the root of the view
  depth INTEGER NOT NULL,           -- levels below the root
  name VARCHAR NOT NULL,            -- name of a node, scope, op type or call; the root's is _TFProfRoot
  is_node BOOLEAN NOT NULL,         -- true for a node; false for a scope that is not a node
  op_types VARCHAR NOT NULL,        -- its types, or those of its nodes, joined by |
  devices VARCHAR NOT NULL,         -- where it ran, joined by |
  shape VARCHAR,                    -- shape of a variable, as 3x3x16
  self_runs BIGINT NOT NULL,        -- executions
  self_nodes BIGINT NOT NULL,       -- nodes, or scopes and nodes
  self_ps BIGINT NOT NULL,          -- time on accelerators and on devices that schedule ops, added up
  self_accelerator_ps BIGINT NOT NULL, -- time of kernels on accelerators
  self_cpu_ps BIGINT NOT NULL,      -- time on devices that schedule ops
  self_requested_bytes BIGINT NOT NULL, -- bytes asked for; in a trace, read and written
  self_peak_bytes BIGINT NOT NULL,  -- bytes held at most, added up over executions
  self_residual_bytes BIGINT NOT NULL, -- bytes still held at the end of the ops
  self_output_bytes BIGINT NOT NULL, -- bytes of outputs
  self_params BIGINT NOT NULL,      -- elements of variables
  self_float_ops BIGINT NOT NULL,   -- floating point operations
  total_runs BIGINT NOT NULL,       -- executions, with what is below; in the op view, with the types listed after it
  total_nodes BIGINT NOT NULL,      -- the same of nodes
  total_ps BIGINT NOT NULL,         -- the same of ps
  total_accelerator_ps BIGINT NOT NULL, -- the same of accelerator_ps
  total_cpu_ps BIGINT NOT NULL,     -- the same of cpu_ps
  total_requested_bytes BIGINT NOT NULL, -- the same of requested_bytes
  total_peak_bytes BIGINT NOT NULL, -- the same of peak_bytes
  total_residual_bytes BIGINT NOT NULL, -- the same of residual_bytes
  total_output_bytes BIGINT NOT NULL, -- the same of output_bytes
  total_params BIGINT NOT NULL,     -- the same of params
  total_float_ops BIGINT NOT NULL   -- the same of float_ops
);

-- A tensor of a checkpoint. Its values stay in the file until they are asked for.
CREATE TABLE checkpoint_tensor (
  id BIGINT NOT NULL,               -- number of the tensor
  LIKE of_source,
  name VARCHAR NOT NULL,            -- name
  dtype VARCHAR NOT NULL,           -- element type, as float32
  shape VARCHAR NOT NULL,           -- shape as JSON, [64,10]
  elements BIGINT,                  -- number of elements; NULL when it exceeds the range of the type
  bytes BIGINT,                     -- bytes in the checkpoint; NULL where only the values would show it
  slices BIGINT NOT NULL,           -- parts it was saved in; more than 1 for a partitioned variable, 0 where another tensor has its values
  role VARCHAR NOT NULL,            -- weight, statistic (a moving average), slot (of an optimizer), optimizer (what it keeps besides), counter, data (positions, masks) or copy (of another), judged by name and type
  weight VARCHAR                    -- of a slot: the weight it belongs to, where the checkpoint has it
);
