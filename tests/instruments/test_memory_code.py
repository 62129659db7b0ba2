"""Lines of the program in `stepscope memory`: op logs as TensorFlow reads them, and Python stacks."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stepscope
from stepscope.cli import main
from stepscope.code_lines import CodeLine, innermost
from stepscope.formats import _op_log
from tests import corpus
from tests.asked import ask
from tests.later import proto

TWO_SERVERS = corpus.SAMPLES / "run_metadata" / "two_servers.pb"


def message_of(entries: dict[str, list[tuple[str, int, str]]], *, numbered: bool = True) -> Any:
    """An op log of these traces, outermost call first."""
    log_pb2 = proto("core.profiler.tfprof_log_pb2")
    log = log_pb2.OpLogProto()
    numbers: dict[str, int] = {}
    for name, frames in entries.items():
        entry = log.log_entries.add(name=name)
        for file, line, function in frames:
            if numbered:
                entry.code_def.traces.add(
                    file_id=numbers.setdefault(file, len(numbers) + 1), lineno=line,
                    function_id=numbers.setdefault(function, len(numbers) + 1),
                )  # fmt: skip
            else:
                # As TensorFlow wrote them before texts had numbers: file is field 1, function field 3.
                older = b"".join(bytes([tag, len(text)]) + text for tag, text in
                                 ((0x0A, file.encode()), (0x1A, function.encode())))  # fmt: skip
                entry.code_def.traces.add(lineno=line).MergeFromString(older)
    for text, number in numbers.items():
        log.id_to_string[number] = text
    return log


FRAMES = st.lists(
    st.tuples(
        st.sampled_from(["train.py", "/v/site-packages/tensorflow/ops.py", "/home/me/é.py", "<frozen x>"]),
        st.integers(0, 2**31 - 1),
        st.sampled_from(["main", "build", "<module>"]),
    ),
    max_size=5,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.text("abc/", min_size=1), FRAMES, max_size=6), st.booleans())
def test_drawn_op_logs(entries: dict[str, list[tuple[str, int, str]]], numbered: bool) -> None:
    read = _op_log.read(message_of(entries, numbered=numbered).SerializeToString())
    wanted = {}
    for name, frames in entries.items():
        own = [one for one in frames if one[0] in ("train.py", "/home/me/é.py")]
        if frames:
            caller = CodeLine(*own[-2]) if len(own) > 1 else None
            wanted[name] = _op_log.OpOrigin(CodeLine(*(own or frames)[-1]), caller)
    assert read == wanted


@given(st.binary(max_size=200), st.integers(0, 400))
def test_any_bytes(noise: bytes, cut: int) -> None:
    whole = message_of({"a": [("f.py", 3, "g")], "b": [("h.py", 4, "i")]}).SerializeToString()
    for data in (noise, whole[:cut], whole[: cut // 4] + noise):
        for name, made in _op_log.read(data).items():
            assert isinstance(name, str)
            assert made.line.file


def is_own(file: str) -> bool:
    return "site-packages" not in file and not file.startswith("<")


@pytest.mark.repeats("reads recordings that do not ship")
def test_lines_of_a_recorded_op_log() -> None:
    path = corpus.path("tf1/resnet14_ref/run_meta_0005.pb")
    log_pb2 = proto("core.profiler.tfprof_log_pb2")
    log = log_pb2.OpLogProto.FromString((path.parent / "oplog_custom" / "tfprof_log").read_bytes())
    wanted = {}
    for entry in log.log_entries:
        own = [one for one in entry.code_def.traces if is_own(log.id_to_string[one.file_id])]
        if own:
            last = own[-1]
            wanted[entry.name] = (
                log.id_to_string[last.file_id],
                last.lineno,
                log.id_to_string[last.function_id],
            )
    with stepscope.open(path, cache=False) as opened:
        rows = opened.query(
            "SELECT op_name, file, line, function FROM buffer WHERE op_name IS NOT NULL"
        ).rows()
        told = opened.query("SELECT DISTINCT told_by FROM op_line").rows()
    assert len(rows) > 200
    assert all(tuple(row[1:]) == wanted[row[0]] for row in rows)
    assert [Path(one).name for (one,) in told] == ["tfprof_log"]


def holders_by_line(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, int]:
    assert main(["memory", str(path), "--format", "json", "--no-cache"]) == 0
    found: dict[str, int] = {}
    for one in json.loads(capsys.readouterr().out)["allocators"]:
        for row in one["at_peak"]["by_code"]:
            found[row["name"]] = found.get(row["name"], 0) + row["bytes"]
    return found


@pytest.mark.repeats("another form")
def test_an_op_log_beside_the_file_and_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(TWO_SERVERS, tmp_path / "run_meta.pb")
    bare = holders_by_line(tmp_path / "run_meta.pb", capsys)
    assert bare.keys() == {"(line not known)"}
    assert main(["memory", str(tmp_path / "run_meta.pb"), "--no-cache", "--all"]) == 0
    assert "are unknown: `stepscope record`" in " ".join(capsys.readouterr().out.split())
    with stepscope.open(tmp_path, cache=False) as opened:
        ops = [name for (name,) in opened.query("SELECT DISTINCT op_name FROM buffer").rows()]
        held = dict(
            opened.query(
                "SELECT op_name, CAST(sum(bytes) AS BIGINT) FROM buffer WHERE at_peak GROUP BY op_name"
            ).rows()
        )
    log = message_of({name: [("train.py", 10 + at, "main")] for at, name in enumerate(ops)})
    (tmp_path / "oplog").mkdir()
    (tmp_path / "oplog" / "tfprof_log").write_bytes(log.SerializeToString())
    lines = holders_by_line(tmp_path / "run_meta.pb", capsys)
    assert lines == {f"train.py:{10 + ops.index(name)} main": size for name, size in held.items()}
    assert main(["memory", str(tmp_path / "run_meta.pb"), "--no-cache"]) == 0
    assert "By line of the program, at the peak" in capsys.readouterr().out
    # A lake outlives the op log, and is told what of it was not read.
    (tmp_path / "oplog" / "tfprof_log.old").write_bytes(b"")
    lake = tmp_path.with_name("lake")
    stepscope.ingest([tmp_path], lake)
    shutil.rmtree(tmp_path)
    assert holders_by_line(lake, capsys) == lines
    ((_, _, empty),) = notes_on(lake)
    assert empty.endswith("tfprof_log.old: no op in it")


def notes_on(folder: Path) -> list[tuple[Any, ...]]:
    return ask(
        folder,
        "SELECT events, first_offset, detail FROM source_note WHERE slug = 'op-log-unread' ORDER BY detail",
    )


def test_op_logs_that_are_not_read_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(TWO_SERVERS, tmp_path / "run_meta.pb")
    log = message_of({"a": [("train.py", 1, "main")], "b": [("train.py", 2, "main")]}).SerializeToString()
    one, two = tmp_path / "tfprof_log", tmp_path / "tfprof_log.old"
    one.write_bytes(log)
    assert notes_on(tmp_path) == []
    one.write_bytes(log[:-3])
    two.write_bytes(b"")
    ((_, _, empty), (events, offset, cut)) = notes_on(tmp_path)
    assert (events, empty) == (1, f"{two}: no op in it")
    assert 0 < offset < len(log)
    assert cut.startswith(f"{one}: it is damaged, or no op log: ")
    assert main(["memory", str(tmp_path), "--no-cache"]) == 0
    assert f"{one}: it is damaged" in capsys.readouterr().err
    monkeypatch.setattr(_op_log, "MOST_BYTES", 5)
    two.unlink()
    ((_, _, large),) = notes_on(tmp_path)
    assert large == f"{one}: more than 5 bytes in {one}"
    one.unlink()
    one.symlink_to(tmp_path / "nowhere")
    assert notes_on(tmp_path) == []  # nothing is there
    one.unlink()
    for number in range(53):
        (tmp_path / f"tfprof_log.{number:02}").write_bytes(log[:4])
    monkeypatch.undo()
    *_, (events, _, beyond) = sorted(notes_on(tmp_path))
    assert (events, beyond) == (3, f"{tmp_path}/tfprof_log.50: one of 3 op logs beyond 50")


def test_the_innermost_line_of_the_program() -> None:
    frames = [CodeLine("train.py", 1, "<module>"), CodeLine("torch/nn/modules/linear.py", 134, "forward")]
    assert innermost(frames) == frames[0]


def test_stacks_of_pytorch(tmp_path: Path) -> None:
    """An allocation belongs to the program's own line that is innermost where it happens."""
    begin = {"ph": "X", "pid": 1, "tid": 1, "cat": "python_function"}
    memory = {"ph": "i", "pid": 1, "tid": 1, "s": "t", "cat": "cpu_instant_event", "name": "[memory]"}

    def args(size: int, address: int) -> dict[str, int]:
        return {"Bytes": size, "Addr": address, "Device Type": 0, "Device Id": -1, "Total Allocated": 0}

    events = [
        {**begin, "ts": 0, "dur": 100, "name": "train.py(1): <module>"},
        {**begin, "ts": 10, "dur": 50, "name": "train.py(7): step"},
        {**begin, "ts": 20, "dur": 30, "name": "torch/nn/functional.py(9): linear"},
        {**begin, "ts": 25, "dur": 10, "cat": "cpu_op", "name": "aten::mm"},
        {**memory, "ts": 30, "args": args(64, 1)},
        {**memory, "ts": 80, "args": args(32, 2)},
        {**memory, "tid": 2, "ts": 85, "args": args(16, 3)},
    ]
    (tmp_path / "t.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    rows = ask(tmp_path / "t.json", "SELECT bytes, op_name, file, line FROM buffer ORDER BY bytes DESC")
    assert rows == [
        (64, "aten::mm", "train.py", 7),
        (32, "train.py(1): <module>", "train.py", 1),
        (16, None, None, None),
    ]
