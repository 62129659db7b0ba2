-- Which DataLoaders, and which data sets behind them, did programs of PyTorch use?
--
-- reads: user_stage
-- columns:
--   run_id, host_id
--   iterator | int | number of the loader within the capture
--   is_loader | int | 1 of the loader, 0 of the data set that it draws from
--   transformation | text | DataLoader, or the method that makes an element
--   dataset | text | class
--   file | text | file where it is made, or the method stands
--   line
--   function | text | function there
--   args_json | text | arguments of the loader, as a JSON object
WITH loaders AS (
  SELECT u.source_id AS in_source, u.iterator AS loader_number
  FROM user_stage AS u
  WHERE u.transformation = 'DataLoader'
  GROUP BY u.source_id, u.iterator
)

SELECT
  columns!(u, run_id, host_id, iterator),
  CASE WHEN u.transformation = 'DataLoader' THEN 1 ELSE 0 END AS is_loader,
  columns!(u, transformation, dataset, file, line, function, args_json)
FROM user_stage AS u
INNER JOIN loaders AS l ON l.in_source = u.source_id AND l.loader_number = u.iterator
ORDER BY nulls_last!(u.run_id, u.host_id, u.iterator, u.id)
