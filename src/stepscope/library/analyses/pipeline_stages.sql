-- Stages of the input pipeline
--
-- question: Which stages does the tf.data pipeline have, and which of them holds up the program?
-- reads: iterator
-- notes: Stages in the order in which they hold up the program: by how much shorter a step would be without
--   their work. No stage has a rank where none limits the steps. A stage that works ahead has threads of its
--   own; its calls are waiting, its work is its function. Work is per step; a stage needs its work divided by its
--   threads. A stage may need more time and still hold up less, beside others that together need longer. From
--   the events of the trace and, in a capture, tf.data's own model: see `stepscope pipeline`.
-- weakened_by: lost, capped, truncated, no-steps
-- chart: bar x=stage y=service_ps
-- columns:
--   limits | int | Rank | 1 for the stage that holds the program up most
--   stage | text | Stage | as TensorFlow ran it, with the branch of a zip or a mixture
--   user_stage | text | Written as | as the user wrote it, with its place in the chain; NULL when TensorFlow added it
--   file | text | File | file in which the user wrote it, where a capture knows it
--   line | int | Line | line in that file
--   calls | int | Calls | calls of GetNext
--   service_ps | ps | It needs | time it needs for a step: its work divided by its threads
--   work_ps | ps | Work | its work for a step, all threads added up
--   width | int | Threads | threads its work is divided by
--   works_ahead | bool | Ahead | it works ahead of its consumer, on threads of its own
--   in_waits_ps | ps | In waits | its work, divided by its threads, while the program waited
--   queue_ps | ps | Queued | its function waiting for a thread of the pool
--   pipeline | int | Pipeline | number of its pipeline; 0 is the one the program waits for most
--   run_id, host_id
--   wait_share | ratio | Waits | waiting for input as part of the step time
--   verdict | text | Verdict | input_bound, partly_input_bound, not_input_bound or unknown
SELECT
  i.limits,
  i.branch_name AS stage,
  columns!(i,
    user_stage, file, line, calls, service_ps, work_ps, width, works_ahead, in_waits_ps, queue_ps, pipeline, run_id,
    host_id, wait_share, verdict
  )
FROM iterator AS i
ORDER BY nulls_last!(i.limits, i.wait_share DESC, i.run_id, i.host_id, i.id)
