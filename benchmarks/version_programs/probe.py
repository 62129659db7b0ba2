"""What readers find in a capture, as JSON: rows of each kind, the cause that is named, and what was noted."""

import json
import sys

import stepscope
from stepscope.instruments.causes import ranking

ROWS = {
    "slices": "SELECT COUNT(*) FROM slice",
    "steps": "SELECT COUNT(*) FROM step WHERE recovered_from <> 'whole_capture'",
    "op_types": "SELECT COUNT(DISTINCT op_type) FROM rollup_op WHERE op_type IS NOT NULL",
    "stages": "SELECT COUNT(*) FROM iterator",
    "lines_of_stages": "SELECT COUNT(*) FROM iterator WHERE file IS NOT NULL",
    "models": "SELECT COUNT(*) FROM iterator_model",
    "lines_of_ops": "SELECT (SELECT COUNT(*) FROM op_line)"
    " + (SELECT COUNT(*) FROM hlo_instruction WHERE file IS NOT NULL)",
    "stacks": "SELECT COUNT(*) FROM stack_sample",
    "compilations": "SELECT COUNT(*) FROM compilation",
}
with stepscope.open(sys.argv[1]) as trace:
    found = {name: trace.query(sql).rows()[0][0] for name, sql in ROWS.items()}
    judged = ranking.judge(trace.query)
    notes = trace.query(
        "SELECT detail FROM source_note WHERE effect IN ('recorder', 'lost', 'missing') ORDER BY detail"
    ).rows()
print(
    json.dumps(
        {
            "rows": found,
            "cause": judged[0].cause if judged else "unknown",
            "notes": [detail for (detail,) in notes],
        }
    )
)
