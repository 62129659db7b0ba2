-- Which stage of a host's input pipelines holds the program up most, and where is it written?
--
-- reads: iterator, user_stage
-- notes: Of several transformations on a line, the one whose kind of data set the stage is: TensorFlow makes several of
--   some, so that places differ from those that a capture counts. Of two that became one stage, the place counts.
-- parameters: run_id, host_id
-- columns:
--   branch_name, user_stage, user_position, spoken, file, line, function, transformation, args_json, step_without_ps
--   step_without_low_ps, step_without_high_ps
--   kept | ratio | the part of its elements that a filter right behind it keeps; NULL where none is
--   filter_line | int | line of that filter, where it is in the same file
--   drawn | ratio | elements that a shuffle right behind it draws for each that it hands on; NULL where none is
--   shuffle_line | int | line of that shuffle, where it is in the same file
SELECT
  columns!(i, branch_name, user_stage, user_position, spoken, file, line),
  columns!(u, function, transformation, args_json),
  columns!(i, step_without_ps, step_without_low_ps, step_without_high_ps),
  CASE WHEN f.name LIKE '%Filter' THEN share!(f.calls, i.calls) END AS kept,
  CASE WHEN f.file = i.file THEN f.line END AS filter_line,
  CASE
    WHEN f.name LIKE '%Shuffle' OR f.name LIKE '%ShuffleAndRepeat' THEN share!(i.calls, f.calls)
  END AS drawn,
  CASE WHEN f.file = i.file THEN f.line END AS shuffle_line
FROM iterator AS i
LEFT JOIN iterator AS f ON f.id = i.consumer_id
LEFT JOIN user_stage AS u ON u.run_id = i.run_id AND u.host_id = i.host_id AND u.file = i.file AND u.line = i.line
WHERE i.run_id = $run_id AND i.host_id = $host_id AND i.limits = 1
ORDER BY nulls_last!(
  i.wait_share DESC,
  i.id,
  CASE WHEN REPLACE(CONCAT(',', REPLACE(i.user_stage, '(', ',')), ',Parallel', ',') LIKE '%,' || u.dataset || '%'
    THEN 0 ELSE 1 END,
  CASE WHEN u.position = i.user_position THEN 0 ELSE 1 END,
  u.id
)
LIMIT 1
