"""Notes on sources, each with the smallest recording that produces it."""

import json
import re
from pathlib import Path

import pytest

from stepscope.messages import NOTES
from tests.asked import ask
from tests.formats.pprof_reference import wire, write

STEP = '{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}'


def events(*texts: str) -> bytes:
    return ('{"traceEvents":[' + ",".join((STEP, *texts)) + "]}").encode()


def event(**facts: object) -> str:
    return json.dumps({"ph": "X", "name": "b", "pid": 1, "tid": 1, "ts": 5, "dur": 1, **facts})


def without(key: str) -> str:
    return json.dumps({k: v for k, v in json.loads(event()).items() if k != key})


CPU = [("samples", "count"), ("cpu", "nanoseconds")]
RECORDINGS: dict[str, bytes] = {
    "args-too-deep": events(event()[:-1] + ',"args":{"x":' + "[" * 300 + "]" * 300 + "}}"),
    "bad-escape": events(event(name="b\\q").replace("\\\\q", "\\q")),
    "bad-time": events(event(ts="soon")),
    "control-character": events(event(name="b\tc").replace("\\t", "\t")),
    "counter-without-value": events(event(ph="C", args={})),
    "damaged-bytes": events("\x01\x02{{{ no json"),
    "damaged-line": b"main;step 1\n" * 900 + b"main;load many\n",
    "duplicate-key": events(event()[:-1] + ',"name":"c"}'),
    "empty-event": events("{}"),
    "end-without-begin": events(event(ph="E", tid=7)),
    "invalid-utf8": events(event(name="bÿ")).replace(b"\\u00ff", b"\xff"),
    "lone-surrogate": events(event(name="b\ud800")),
    "missing-comma": events(event()).replace(b"},{", b"}{"),
    "missing-duration": events(without("dur")),
    "missing-end": events(event())[:-2],
    "missing-phase": events(without("ph")),
    "missing-time": events(without("ts")),
    "unread-beside-events": events()[:-1] + b', "samples": [{"ts": 1, "sf": 1}]}',
    "names-alone": b'{"traceEvents":[{"ph":"M","name":"process_name","pid":1,"args":{"name":"a"}}]}',
    "negative-duration": events(event(dur=-3)),
    "not-a-number": events(event(args={"x": float("nan")})),
    "not-an-event": events("7"),
    "not-time": json.dumps(
        {
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "shared": {"frames": [{"name": "a"}]},
            "profiles": [
                {"type": "sampled", "name": "p", "unit": unit, "startValue": 0, "endValue": 1,
                 "samples": [[0]], "weights": [1]}
                for unit in ("seconds", "bytes")
            ],
        }
    ).encode(),
    "other-values": write([("wall", "ns"), ("cpu", "ns")], [("main", [1, 2], {})]),
    "samples-without-times": write(CPU, [("main", [1, 9], {})]),
    "spans-elsewhere": events(
        event(), *(event(ph=ph, id=1, cat="c", ts=at) for ph, at in (("b", 90), ("e", 99)))
    ),
    "times-between-events": events(event(pid="CPU functions"), event(pid="CUDA functions")),
    "trailing-bytes": events(event()) + b" and more",
    "trailing-comma": events(event()[:-1] + ",}"),
    "truncated": events(event())[:-9],
    "unclosed-begin": events(event(ph="B")),
    "unknown-phase": events(event(ph="?")),
    "unnamed-metadata": write(CPU, []) + wire(2, wire(1, [9]) + wire(2, [1, 9])),
}  # fmt: skip


@pytest.mark.parametrize("slug", sorted(RECORDINGS))
def test_the_smallest_recording_with_a_note(slug: str, tmp_path: Path) -> None:
    assert slug in NOTES
    path = tmp_path / "recording"
    path.write_bytes(RECORDINGS[slug])
    told = dict(ask(path, "SELECT slug, detail FROM source_note"))
    assert slug in told
    assert re.search(r"\w", told[slug])
    assert "_" not in told[slug].split()[0]
