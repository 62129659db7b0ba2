"""Folders of `stepscope record`: found as one, read whole, damaged in every way."""

import json
import zipfile
from pathlib import Path

import pytest

from stepscope import protobuf
from stepscope.formats import _model, capture
from stepscope.session import trace
from tests.asked import ask
from tests.corpus import SAMPLES
from tests.formats.capture_folder import SMALL, STARTED_NS, held, line, write
from tests.later import proto


def test_a_folder_is_one_run_on_one_host_and_nothing_in_it_is_unknown(tmp_path: Path) -> None:
    folder = write(tmp_path / "mine")
    with trace.open(folder, cache=False) as opened:
        assert opened.skipped == ()
        rows = opened.query("SELECT format, run_id, host_id, complete, events_lost FROM source").rows()
    assert [tuple(row) for row in rows] == [
        ("capture", "mine", "vm", True, 0),
        ("xplane", "mine", "vm", True, 0),
    ]
    # Naming its mark names the folder.
    assert len(ask(folder / "capture.json", "SELECT 1 FROM source")) == 2


def test_run_metadata_is_of_the_host_that_the_capture_names(tmp_path: Path) -> None:
    folder = write(tmp_path / "mine", xplane=False)
    (folder / "run_metadata").mkdir(exist_ok=True)
    recorded = SAMPLES / "run_metadata" / "input_only.pb"
    (folder / "run_metadata" / "step_3.pb").write_bytes(recorded.read_bytes())
    rows = ask(folder, "SELECT format, run_id, host_id FROM source ORDER BY format")
    assert rows == [("capture", "mine", "vm"), ("run_metadata", "mine", "vm")]
    assert ask(folder, "SELECT count(*) FROM host") == [(1,)]


def test_what_the_model_says_becomes_rows(tmp_path: Path) -> None:
    rows = ask(
        write(tmp_path / "c"),
        "SELECT name, num_elements, processing_ps, ratio, consumer_node, gap_ps, cpu_budget, ts_ps, elements "
        "FROM iterator_model ORDER BY id",
    )
    assert rows[0] == ("Iterator::Root", 10, 10**9, 1.0, None, 5 * 10**9, 2, 10**12, 10)
    assert rows[3][:5] == ("Iterator::Root::Prefetch::BatchV2::Map", 80, 320 * 10**9, 1.0, 3)


def test_the_call_that_marks_a_step_is_timed_apart(tmp_path: Path) -> None:
    """Of steps with a profiler and without; a step that was traced for RunMetadata is neither."""
    second = 10**9
    timed = b"".join(
        line(step=i, begin_unix_ns=STARTED_NS + i * second, call_unix_ns=STARTED_NS + i * second + 7,
             end_unix_ns=STARTED_NS + i * second + 10 + i, how="own", recorded=i == 1, **more)
        for i, more in enumerate(({}, {}, {"run_metadata": True}))
    )  # fmt: skip
    without = line(step=9, begin_unix_ns=5, end_unix_ns=9)
    folder = write(tmp_path / "c", **{"steps.ndjson": timed + without})
    calls = "FROM counter WHERE name = 'duration of the call in a step'"
    found = ask(folder, f"SELECT series, ts_ps, value {calls} ORDER BY ts_ps")
    assert [(series, value) for series, _, value in found] == [("untraced_ns", 3), ("traced_ns", 4)]
    assert found[1][1] - found[0][1] == second * 1000


def test_steps_of_which_nothing_shows_where_they_spend_their_time_are_in_no_average(tmp_path: Path) -> None:
    """Without a profiler, stacks are sampled in steps that it records. The first one sets everything up."""
    steps = b"".join(
        line(
            step=i, begin_unix_ns=STARTED_NS + begin, end_unix_ns=STARTED_NS + end, how="own", recorded=i > 0
        )
        for i, (begin, end) in enumerate([(0, 900), (900, 910), (910, 920)])
    )
    sampled = line(begin_unix_ns=STARTED_NS + 900)
    averaged = "SELECT averaged FROM step ORDER BY step"
    folder = write(tmp_path / "c", xplane=False, **{"steps.ndjson": steps, "stacks.ndjson": sampled})
    assert ask(folder, averaged) == [(False,), (True,), (True,)]
    (folder / "stacks.ndjson").unlink()
    assert ask(folder, averaged) == [(True,)] * 3


def test_runs_of_a_session_in_a_step_are_counted(tmp_path: Path) -> None:
    """Only of steps that were recorded, and where a step has several."""
    second = 10**9
    counted = (
        {"recorded": False, "runs": 3},
        {"recorded": True, "runs": 61},
        {"recorded": True},
        {"recorded": True, "runs": 1, "fed_bytes": 900, "fetched_bytes": 4},
    )
    timed = b"".join(
        line(step=i, begin_unix_ns=STARTED_NS + i * second, call_unix_ns=STARTED_NS + i * second,
             end_unix_ns=STARTED_NS + (i + 1) * second, how="session_run", **more)
        for i, more in enumerate(counted)
    )  # fmt: skip
    folder = write(tmp_path / "c", **{"steps.ndjson": timed})
    asked = "SELECT series, value FROM counter WHERE name = 'runs of a session in a step'"
    assert ask(folder, asked) == [("runs", 61)]
    asked = "SELECT series, value FROM counter WHERE name = 'bytes of a session in a step' ORDER BY value"
    assert ask(folder, asked) == [("fetched", 4), ("fed", 900)]


def test_what_was_traced_of_a_step_is_one_step(tmp_path: Path) -> None:
    """However many runs of a session it made."""
    samples = SAMPLES / "tf1" / "later"
    both = b"".join((samples / f"run_meta_{number}.pb").read_bytes() for number in (1, 2))
    times = {"begin_unix_ns": STARTED_NS, "call_unix_ns": STARTED_NS, "end_unix_ns": STARTED_NS + 9}
    told = {"how": "session_run", "recorded": False, "run_metadata": True, "runs": 3, "traced_runs": 2}
    folder = write(tmp_path / "c", xplane=False, **{"steps.ndjson": line(step=3, **times, **told)})
    (folder / "run_metadata").mkdir(exist_ok=True)
    (folder / "run_metadata" / "step_3.pb").write_bytes(both)
    assert ask(folder, "SELECT step FROM step WHERE recovered_from = 'file'") == [(3,)]
    asked = "SELECT series, value FROM counter WHERE name = 'runs of a session in a traced step' ORDER BY 1"
    assert ask(folder, asked) == [("traced", 2), ("untraced", 1)]


def test_what_an_estimator_does_between_steps_is_in_no_average(tmp_path: Path) -> None:
    steps = b"".join(
        line(
            step=i, begin_unix_ns=STARTED_NS + begin, end_unix_ns=STARTED_NS + begin + 10, how="session_run",
            recorded=True, phase="train",
        )
        for i, begin in enumerate((0, 90))
    )  # fmt: skip
    times = {"begin_unix_ns": STARTED_NS + 10, "end_unix_ns": STARTED_NS + 90}
    phases = line(phase="eval", runs=40, **times) + line(phase="other", runs=1, **times) + line(phase="eval")
    folder = write(tmp_path / "c", xplane=False, **{"steps.ndjson": steps, "phases.ndjson": phases})
    asked = "SELECT kind, recovered_from, averaged, ts_ps, dur_ps, step FROM step ORDER BY ts_ps"
    assert ask(folder, asked) == [
        ("train", "recorder", True, 0, 10_000, 0),
        ("eval", "estimator", False, 10_000, 80_000, 2),
        ("train", "recorder", True, 90_000, 10_000, 1),
    ]
    (reason,) = ask(folder, "SELECT reason FROM step WHERE kind = 'eval'")
    assert reason == ("an Estimator ran sessions 40 times for it, between two steps",)
    lost = ask(folder, "SELECT detail FROM source_note WHERE slug = 'damaged-piece'")
    assert ("phases.ndjson: 2 of its lines could not be used",) in lost


@pytest.mark.parametrize("ended", [True, False])
def test_a_program_starts_takes_steps_and_ends(tmp_path: Path, ended: bool) -> None:
    """Outside of the time that was recorded, which it does not make longer. Of 9 s from the first step on, 4
    lie between steps; the recorder took one of these."""
    second = 10**9
    steps = b"".join(
        line(
            step=i,
            begin_unix_ns=STARTED_NS + begin * second,
            end_unix_ns=STARTED_NS + end * second,
            how="own",
        )
        for i, (begin, end) in enumerate([(1, 3), (5, 8), (6, 7), (10, 10)])
    )
    folder = write(tmp_path / "c", **{"steps.ndjson": steps})
    whole = ask(folder, "SELECT dur_ps FROM capture ORDER BY source_id")
    record = json.loads((folder / "capture.json").read_bytes())
    ran = {"started_unix_ns": STARTED_NS - 20 * second}
    record["program"] = {**ran, "ended_unix_ns": STARTED_NS + 90 * second if ended else None}
    record["cost"] = {"profiler_start_ns": second // 4, "graph_ns": second - second // 4, "stacks_ns": second}
    (folder / "capture.json").write_text(json.dumps(record))
    sql = "SELECT series, CAST(value / 1e9 AS INTEGER) FROM counter WHERE name = 'program' ORDER BY id"
    end = [("end_ns", 90)] if ended else []
    assert ask(folder, sql) == [
        ("start_ns", -20), ("first_step_ns", 1), *end, ("stepping_ns", 9), ("between_ns", 3),
    ]  # fmt: skip
    assert ask(folder, "SELECT dur_ps FROM capture ORDER BY source_id") == whole


def test_chain_machine_and_notes(tmp_path: Path) -> None:
    folder = write(tmp_path / "c")
    assert ask(folder, "SELECT position, transformation, file, line, args_json FROM user_stage")[1] == (
        1, "map", "train.py", 11, '{"count": 1}',
    )  # fmt: skip
    told = ask(folder, "SELECT name, series, count(*), avg(value) FROM counter GROUP BY ALL ORDER BY ALL")
    assert ("core busy", "1", 10, 1.0) in told
    assert {("process cpu", "cores", 9, 1.0), ("children cpu", "cores", 9, 2.0)} <= set(told)
    assert ("recorder-error", "No op log. a function. nothing") in ask(
        folder, "SELECT slug, detail FROM source_note"
    )


def test_collections_are_counters(tmp_path: Path) -> None:
    """Each at its begin; those of other threads apart. What is no collection is left out."""
    lines = [
        {"begin_unix_ns": STARTED_NS + 5, "end_unix_ns": STARTED_NS + 9, "generation": 2, "main": True},
        {"begin_unix_ns": STARTED_NS + 6, "end_unix_ns": STARTED_NS + 7, "generation": 0, "main": False},
        {"begin_unix_ns": STARTED_NS + 9, "end_unix_ns": STARTED_NS + 8, "generation": 0, "main": True},
        {"begin_unix_ns": STARTED_NS, "end_unix_ns": STARTED_NS + 8, "generation": "x", "main": True},
    ]
    folder = write(tmp_path / "c", **{"garbage.ndjson": b"".join(line(**values) for values in lines)})
    asked = "SELECT name, series, ts_ps, value FROM counter WHERE name LIKE 'garbage%' ORDER BY id"
    assert ask(folder, asked) == [
        ("garbage collection", "generation 2", 5000, 4.0),
        ("garbage collection of another thread", "generation 0", 6000, 1.0),
    ]


def test_what_a_live_recording_adds_is_noted(tmp_path: Path) -> None:
    """The stacks of a program that hung, and looks at its memory that did not come to an end."""
    memory = held().replace(b'"cut": false', b'"cut": true').replace(b'"cut":false', b'"cut":true')
    stacks_of_all = b"No step ended for 31 s.\nThread 1\n"
    folder = write(tmp_path / "c", **{"hang-1.txt": stacks_of_all, "memory.ndjson": memory})
    found = dict(ask(folder, "SELECT slug, detail FROM source_note WHERE effect = 'info'"))
    assert found["program-hung"] == "No step ended for 31 s. hang-1.txt has the stacks of all threads."
    assert "held-arrays-cut" in found


def test_steps_come_from_the_recorder_where_the_trace_has_none(tmp_path: Path) -> None:
    alone = ask(write(tmp_path / "a", xplane=False), "SELECT step, recovered_from, ts_ps, dur_ps FROM step")
    assert alone[2] == (2, "recorder", 2 * 10**12, 10**12)
    both = ask(write(tmp_path / "b"), "SELECT DISTINCT recovered_from FROM step")
    assert both == [("marker",)]


def test_steps_of_the_recorder_fit_into_a_trace_without_marks() -> None:
    from stepscope.instruments.recorder_steps import RecordedSpan, recorder_steps

    told = [(i, 1000 + 10 * i, 1010 + 10 * i, i != 2) for i in range(5)]
    found = recorder_steps(told, RecordedSpan(1000, 0, 45_000), [])
    assert [(step.number, step.ts_ps, step.end_ps) for step in found] == [
        (0, 0, 10_000), (1, 10_000, 20_000), (3, 30_000, 40_000),
    ]  # fmt: skip
    assert recorder_steps(told, RecordedSpan(None, 0, 45_000), []) == []


def test_archives_hold_captures_too(tmp_path: Path) -> None:
    folder = write(tmp_path / "c")
    packed = tmp_path / "c.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    sql = "SELECT count(*), sum(processing_ps) FROM iterator_model"
    assert ask(packed, sql) == ask(folder, sql) != [(0, None)]
    assert len(ask(packed, "SELECT DISTINCT run_id, host_id FROM source")) == 1


@pytest.mark.repeats("lake/test_lake.py compares them for every table")
def test_a_lake_and_the_cache_hold_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_CACHE", str(tmp_path / "cache"))
    folder = write(tmp_path / "c")
    trace.ingest([folder], tmp_path / "lake", run="c")
    tables = ("iterator_model", "user_stage", "counter", "step_stored", "iterator")
    for table in tables:
        sql = f"SELECT * EXCLUDE (id, source_id, track_id) FROM {table}" if table == "counter" else ""
        sql = sql or f"SELECT count(*), count(DISTINCT run_id) FROM {table}"
        fresh = ask(folder, sql)
        assert ask(tmp_path / "lake", sql) == fresh
        assert ask(folder, sql, cache=True) == fresh
    # A piece that changes is seen, although capture.json did not.
    (folder / "machine.ndjson").write_bytes(line(unix_ns=STARTED_NS, cores=[0.25]))
    assert ask(folder, "SELECT value FROM counter WHERE name = 'core busy'", cache=True) == [(0.25,)]


@pytest.mark.parametrize("name", ["pipeline__model_0_0.pb", "pipeline__datasets_json", "machine.ndjson"])
def test_a_damaged_piece_costs_its_own_rows_and_is_told(tmp_path: Path, name: str) -> None:
    whole = SMALL if name.endswith(".pb") else None
    for bad in (whole[:-3] if whole else b'{"iterator": ', b"\xff\xfe\x00", b"[[[[" * 9000):
        folder = write(tmp_path / str(len(bad)), **{name: bad})
        told = ask(folder, "SELECT slug, effect FROM source_note WHERE slug = 'damaged-piece'")
        assert told == [("damaged-piece", "lost")]
        seen, stored, lost = ask(
            folder, "SELECT events_seen, events_stored, events_lost FROM source WHERE format = 'capture'"
        )[0]
        assert seen == stored + lost  # type: ignore[operator]
        assert lost
        kept = "user_stage" if name.endswith(".pb") else "iterator_model"
        assert ask(folder, f"SELECT count(*) > 0 FROM {kept}") == [(True,)]


def test_a_capture_that_was_never_ended_says_so(tmp_path: Path) -> None:
    folder = write(tmp_path / "c", ended=False)
    assert ask(folder, "SELECT 1 FROM source_note WHERE slug = 'unfinished-capture'") == [(1,)]
    assert ask(folder, "SELECT complete FROM source WHERE format = 'capture'") == [(True,)]


def test_a_mark_that_is_no_json_is_a_source_with_an_error(tmp_path: Path) -> None:
    folder = write(tmp_path / "c", capture_json=b'{"recorder": "stepscope 0.1", ')
    rows = ask(folder, "SELECT format, error IS NULL FROM source ORDER BY format")
    assert rows == [("capture", False), ("xplane", True)]


def test_numbers_that_cannot_be_are_left_out(tmp_path: Path) -> None:
    odd = line(unix_ns=2**80, cores=[0.5]) + line(unix_ns=STARTED_NS, cores=["x", None, True, 0.5])
    folder = write(tmp_path / "c", **{"machine.ndjson": odd + b'{"unix_ns": 1, "cores": [NaN, 1e999]}\n'})
    assert ask(folder, "SELECT series, value FROM counter WHERE name = 'core busy'") == [("3", 0.5)]


def test_the_sniffer_wants_the_recorders_name() -> None:
    assert capture.sniff(b' {"format": 1, "recorder": "stepscope 0.1"', "capture.json")
    assert not capture.sniff(b'{"traceEvents": []}', "capture.json")


def test_the_model_is_read_as_protobuf_reads_it() -> None:
    pb2 = proto("core.framework.model_pb2")
    theirs = pb2.ModelProto.FromString(SMALL)
    assert theirs.nodes[4].name == "Map"
    theirs.nodes[4].inputs.extend([7, 2**62])
    theirs.nodes[4].processing_time = -1
    theirs.gap_times.extend([2**63, 0])
    packed = theirs.SerializeToString()
    ours = _model.read(packed)
    assert ours.nodes.keys() == set(theirs.nodes.keys())
    for key, one in ours.nodes.items():
        other = theirs.nodes[key]
        assert (one.name, one.inputs, one.ratio) == (other.name, list(other.inputs), other.ratio)
        assert (one.num_elements, one.processing_ns) == (other.num_elements, other.processing_time)
        assert one.node_class == pb2.NodeClass.Name(other.node_class)
    assert (ours.gaps_us, ours.cpu_budget) == (list(theirs.gap_times), 2)


def test_a_real_capture_says_what_was_written_where() -> None:
    folder = SAMPLES / "capture" / "slow_map"
    places = ask(folder, "SELECT position, transformation, file, line FROM user_stage ORDER BY position")
    assert places == [
        (0, "range", "train.py", 14), (1, "map", "train.py", 15), (2, "batch", "train.py", 16),
        (3, "prefetch", "train.py", 17),
    ]  # fmt: skip
    stages = ask(folder, "SELECT name, line, work_from, model_work_ps > 0 FROM iterator WHERE limits = 1")
    assert stages == [("Iterator::Root::Prefetch::MapAndBatch", 15, "model", True)]
    samples = ask(folder, "SELECT count(DISTINCT sample), max(num_elements) FROM iterator_model")
    assert samples[0][0] == 4
    assert ask(folder, "SELECT count(*) FROM source_note WHERE effect <> 'info'") == [(0,)]


def test_every_cut_of_a_model_is_damage_or_a_model() -> None:
    for end in range(len(SMALL)):
        try:
            _model.read(SMALL[:end])
        except protobuf.DamagedMessage:
            continue
        assert end in (len(SMALL), len(SMALL) - 4, len(SMALL) - 4 - 10)  # between fields behind the root


def test_a_model_with_a_circle_is_walked_once() -> None:
    from tests.formats.capture_folder import model, node

    read = _model.read(model(node(1, "Root", (2, 1)), node(2, "Map", (1, 2, 9))))
    assert [name for _, _, name in read.walk()] == ["Iterator::Root", "Iterator::Root::Map"]


def test_json_may_be_anything(tmp_path: Path) -> None:
    for i, odd in enumerate(("[]", '"x"', "[1, 2]", '[{"chain": 3}]', '[{"chain": [1]}]')):
        folder = write(tmp_path / str(i), pipeline__datasets_json=odd.encode())
        assert ask(folder, "SELECT count(*) FROM user_stage") == [(0,)]
    assert json.loads(ask(write(tmp_path / "z"), "SELECT inputs_json FROM user_stage")[1][0]) == [0]  # type: ignore[arg-type]


def test_switches_that_slow_steps_are_noted(tmp_path: Path) -> None:
    """Whatever else the list holds is no switch."""
    asked = "SELECT detail, events FROM source_note WHERE slug = 'debugging-switches'"
    for number, (switches, noted) in enumerate(
        (
            (["jax_debug_nans", 7, "jax_disable_jit"], [("jax_debug_nans, jax_disable_jit", 2)]),
            ([], []),
            ("x", []),
        )
    ):
        folder = write(tmp_path / str(number))
        facts = json.loads((folder / "capture.json").read_text())
        (folder / "capture.json").write_text(json.dumps(facts | {"switches": switches}))
        assert ask(folder, asked) == noted


def test_a_program_without_the_interpreters_lock_is_noted(tmp_path: Path) -> None:
    """Recordings of before do not say."""
    asked = "SELECT count(*) FROM source_note WHERE slug = 'free-threaded'"
    for number, told in enumerate(({}, {"free_threaded": False}, {"free_threaded": True})):
        folder = write(tmp_path / str(number))
        facts = json.loads((folder / "capture.json").read_text())
        (folder / "capture.json").write_text(json.dumps(facts | told))
        assert ask(folder, asked) == [(number == 2,)]


def test_what_was_recorded_is_told() -> None:
    told = ask(
        SAMPLES / "capture" / "slow_map",
        "SELECT effect, detail FROM source_note WHERE slug = 'recorded-program'",
    )
    assert [effect for effect, _ in told] == ["info"]
    assert "train.py" in told[0][1]
