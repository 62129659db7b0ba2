"""What a recorder drew that knows no ops is drawn, wherever it is shown: it may sleep as well as compute."""

import json

from stepscope import library
from stepscope.library.statements import statement
from stepscope.report import summary
from stepscope.session.trace import open as open_trace


def test_drawn_time_is_called_so_everywhere(tmp_path):
    spans = [{"name": "doze", "ph": "X", "pid": 1, "tid": 1, "ts": 10 * at, "dur": 9} for at in range(2000)]
    path = tmp_path / "spans.json"
    path.write_text(json.dumps({"traceEvents": spans}))
    with open_trace(path, cache=False) as trace:
        report = summary.build(trace)
        drawn = {row[0]: row[1] for row in trace.query(statement("page_names")).rows()}
        types = {row[0]: row[7] for row in trace.ask(library.named("op_types")).rows()}
    assert drawn["doze"] == types["doze"] == "other"
    (parts,) = [section for section in report.sections if section.name == "step_parts"]
    assert {share.word for share in parts.splits[0].shares} == {"drawn", "unknown"}
    assert report.headline[0].startswith("What was drawn covers 90.0 % of the 20.0 ms recorded")
    answer = report.document["answer"]
    assert answer["confidence"] == "low"
    assert answer["because"][0] == "what was drawn: 90.0 % of the recording"
    assert not any("compute" in text or "ops" in text for text in (*report.headline, *answer["because"]))
