-- Memory grows with every step
--
-- question: Which variable of the program holds more arrays after every step, and which line puts them there?
-- reads: _held_array
-- severity: high where what is free lasts for less than 10,000 steps, medium for less than 1,000,000, else low
-- impact: `{holder}` holds {step_bytes} more after each step, {each}: {bytes} after {steps} steps.
--   {place}{left}.
-- action: Keep numbers instead of arrays: float(loss) or loss.item(); or keep the last few only, as
--   collections.deque(maxlen=…) does.
-- action_pytorch: Keep numbers instead of tensors: loss.item(); or loss.detach().cpu(), because a tensor with a
--   gradient also keeps what autograd needs for it; or keep the last few only, as collections.deque(maxlen=…) does.
-- weakened_by: held-arrays-cut
-- reasoning: What a variable holds cannot be freed. If each step adds to it, the program eventually runs out of host
--   or device memory, and slows down long before that if memory has to be moved.
-- formula: The recorder lists the arrays that the program's variables hold as the recording begins, after ten
--   steps, and as it ends. Reported where a variable held more at every look than at the one before, over five steps
--   or more, by at least one array for each step or at three moments or more, and by at least 1 KiB a step; impact = 0,
--   because what it costs is no time of a step. Steps until the memory is used up = memory that was free at the last
--   look / bytes of a step, of arrays on the host.
-- columns:
--   impact_ps | ps | Time | 0: it is no time of a step
--   run_id, host_id
--   holder | text | Variable | variable, with attributes of what it holds
--   step_bytes | bytes | More each step | by how much it grew for each step
--   each | text | Arrays each step | how many arrays that are
--   bytes | bytes | Held | what it held at the last look
--   steps | int | Steps | steps that there had been by then
--   place | text | Where | the line that puts them there
--   left | text | Lasts | for how many more steps memory lasts
--   device | text | Device | where the arrays are
--   file | text | File | file of the program
--   line | int | Line | line that puts them there
--   function | text | Function | function of that line
WITH spans AS (
  SELECT
    h.source_id AS of_source,
    h.holder AS of_holder,
    h.in_file AS of_file,
    h.device AS of_device,
    h.array_kind AS of_kind,
    MIN(CASE WHEN h.was_steps IS NULL THEN h.steps ELSE h.was_steps END) AS first_steps,
    MIN(CASE WHEN h.was_steps IS NULL THEN h.bytes ELSE h.was_bytes END) AS first_bytes,
    MIN(CASE WHEN h.was_steps IS NULL THEN h.arrays ELSE h.was_arrays END) AS first_arrays,
    MAX(h.look) AS last_look,
    sum_where!(h.was_bytes >= h.bytes, 1) AS shrunk,
    sum_where!(h.was_bytes < h.bytes, 1) AS grown
  FROM _held_array AS h
  WHERE h.holder IS NOT NULL
  GROUP BY columns!(h, source_id, holder, in_file, device, array_kind)
),

grown AS (
  SELECT
    columns!(h, run_id, host_id, source_id, holder, bytes, steps, device, available, file, line, function, puts),
    h.steps - s.first_steps AS more_steps,
    h.bytes - s.first_bytes AS more_bytes,
    h.arrays - s.first_arrays AS more_arrays
  FROM _held_array AS h
  INNER JOIN spans AS s
    ON s.of_source = h.source_id
    AND s.of_holder = h.holder
    AND s.of_file = h.in_file
    AND s.of_device = h.device
    AND s.of_kind = h.array_kind
    AND s.last_look = h.look
  WHERE
    h.is_last
    AND s.shrunk = 0
    AND s.grown >= 1
    AND (s.grown >= 2 OR h.arrays - s.first_arrays >= h.steps - s.first_steps)
),

rated AS (
  SELECT
    columns!(g, run_id, host_id, source_id, holder, bytes, steps, device, file, line, function, puts),
    mean!(g.more_bytes, g.more_steps) AS rate,
    whole!(CAST(g.more_arrays AS DOUBLE) / g.more_steps + 0.5) AS arrays_rate,
    CASE
      WHEN g.available IS NULL OR NOT (LOWER(g.device) LIKE '%cpu%' OR g.device = 'host') THEN NULL
      ELSE whole!(CAST(g.available AS DOUBLE) / g.more_bytes * g.more_steps)
    END AS lasts
  FROM grown AS g
  WHERE g.more_steps >= 5 AND g.more_bytes >= 1024 * g.more_steps
)

SELECT
  CASE WHEN r.lasts >= 1000000 THEN 'low' WHEN r.lasts >= 10000 THEN 'medium' ELSE 'high' END AS severity,
  CAST(0 AS BIGINT) AS impact_ps,
  columns!(r, run_id, host_id, holder),
  r.rate AS step_bytes,
  CASE
    WHEN r.arrays_rate < 1 THEN 'in arrays that get larger'
    WHEN r.arrays_rate = 1 THEN 'in one more array'
    ELSE 'in ' || CAST(r.arrays_rate AS VARCHAR) || ' more arrays'
  END AS each,
  columns!(r, bytes, steps),
  CASE
    WHEN r.file IS NULL OR r.line IS NULL THEN 'Which line keeps them is not known'
    ELSE
      r.file || ':' || CAST(r.line AS VARCHAR) || ' `' || COALESCE(r.function, '') || '` '
      || CASE WHEN r.puts THEN 'keeps them' ELSE 'sets it' END
  END AS place,
  CASE
    WHEN r.lasts IS NULL OR r.lasts >= 1000000 THEN ''
    ELSE ', and the memory that is free now lasts for '
      || CASE
        WHEN r.lasts >= 10000 THEN CAST(mean!(r.lasts, 1000) AS VARCHAR) || ' thousand'
        ELSE CAST(r.lasts AS VARCHAR)
      END
      || ' more steps'
  END AS left,
  columns!(r, device, file, line, function)
FROM rated AS r
ORDER BY nulls_last!(r.rate DESC, r.run_id, r.host_id, r.holder, r.device, r.source_id, r.bytes DESC)
