-- Dropout runs, and nothing computes gradients
--
-- question: Does PyTorch drop values out although nothing in the recording computes gradients?
-- reads: slice, rollup_op, step_window
-- severity: medium from a quarter of the window, low from a fiftieth
-- impact: {calls} {calls:call|calls} of dropout {calls:takes|take} {impact_ps}, {share} of the window, and nothing in
--   the recording computes gradients. Dropout is for training: it makes what a model predicts random.
-- action: If the program only predicts, put the model into evaluation mode with model.eval(), and call it within
--   torch.inference_mode().
-- notes: Only of dropout that drops something: in evaluation mode the op is called, and returns its input.
-- weakened_by: lost, capped, truncated
-- reasoning: A module is in training mode until model.eval() is called. Until then each Dropout draws random numbers
--   and multiplies by them, and fast paths of layers, as that of TransformerEncoder, are not taken.
-- formula: impact = within the window, ops of dropout that draw random numbers in them; share = impact / window.
--   Reported from 0.02, of hosts where no function of autograd ran.
-- columns:
--   impact_ps | ps | In dropout | time of these calls within the window
--   run_id, host_id
--   calls | int | Calls | how many
--   share | ratio | Share of window | those calls as part of the window
WITH trained AS (
  SELECT r.run_id AS of_run, r.host_id AS of_host, COUNT(*) AS functions
  FROM rollup_op AS r
  WHERE r.name LIKE 'autograd::engine::evaluate_function:%' OR r.name LIKE '%Backward%'
  GROUP BY r.run_id, r.host_id
),

drawing AS (
  SELECT columns!(r, id, name)
  FROM rollup_op AS r
  WHERE r.name IN ('aten::bernoulli_', 'aten::native_dropout', 'aten::_fused_dropout')
),

calls AS (
  SELECT
    columns!(s, run_id, host_id, source_id),
    COALESCE(a.ts_ps, s.ts_ps) AS begin_ps,
    COALESCE(a.ts_ps + a.dur_ps, s.ts_ps + s.dur_ps) AS end_ps
  FROM slice AS s
  INNER JOIN drawing AS r ON r.id = s.rollup_id
  LEFT JOIN slice AS a
    ON
      a.id = s.parent_id
      AND a.name IN (
        'aten::dropout', 'aten::dropout_', 'aten::feature_dropout', 'aten::feature_dropout_', 'aten::alpha_dropout',
        'aten::alpha_dropout_'
      )
  WHERE a.id IS NOT NULL OR r.name <> 'aten::bernoulli_'
),

cut AS (
  SELECT
    columns!(c, run_id, host_id),
    greatest!(c.begin_ps, w.open_ps) AS from_ps,
    least!(c.end_ps, w.close_ps) AS to_ps
  FROM calls AS c
  INNER JOIN step_window AS w ON w.source_id = c.source_id
),

sums AS (
  SELECT columns!(c, run_id, host_id), COUNT(*) AS number, SUM(c.to_ps - c.from_ps) AS within_ps
  FROM cut AS c
  WHERE c.to_ps > c.from_ps
  GROUP BY columns!(c, run_id, host_id)
),

windows AS (
  SELECT w.run_id AS of_run, w.host_id AS of_host, SUM(w.window_ps) AS all_ps
  FROM step_window AS w
  GROUP BY w.run_id, w.host_id
)

SELECT
  CASE WHEN s.within_ps * 4 >= w.all_ps THEN 'medium' ELSE 'low' END AS severity,
  CAST(s.within_ps AS BIGINT) AS impact_ps,
  columns!(s, run_id, host_id),
  CAST(s.number AS BIGINT) AS calls,
  share!(s.within_ps, w.all_ps) AS share
FROM sums AS s
INNER JOIN windows AS w ON w.of_run = s.run_id AND w.of_host = s.host_id
LEFT JOIN trained AS t ON t.of_run = s.run_id AND t.of_host = s.host_id
WHERE t.functions IS NULL AND s.within_ps * 50 >= w.all_ps
ORDER BY nulls_last!(s.within_ps DESC, s.run_id, s.host_id)
