"""Snapshots of PyTorch's CUDA memory, made as PyTorch makes them, of which every byte is known."""

import contextlib
import copyreg
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope import _core
from stepscope.cli import main
from stepscope.errors import StepscopeError
from tests.asked import ask

KIB = 1024
STATE_BYTES = 4 * KIB - 100
"""What an optimizer asked for; its block is larger."""
NATIVE = {"name": "at::empty_cuda(c10::ArrayRef<long>)", "filename": "??", "line": 0}


def frame(file: str, line: int, name: str) -> dict[str, Any]:
    return {"name": name, "filename": file, "line": line}


LOOP = frame("/home/me/train.py", 40, "main")
FORWARD = [NATIVE, frame("/usr/lib/python3/site-packages/torch/nn/modules/linear.py", 125, "forward"),
           frame("/home/me/model.py", 12, "forward"), NATIVE, LOOP]  # fmt: skip
STATE = [NATIVE, frame("/home/me/adam.py", 7, "step"), LOOP]
COMPILED = [
    NATIVE,
    frame("/tmp/torchinductor_me/ab/cabc.py", 88, "call"),
    frame("/home/me/loss.py", 3, "loss"),
    LOOP,
]


def change(action: str, at_us: int, address: int, size: int, frames: list[dict[str, Any]]) -> dict[str, Any]:
    return {"action": action, "addr": address, "size": size, "stream": 0, "time_us": at_us, "frames": frames}


def snapshot() -> dict[str, Any]:
    """Almost 4 KiB of an optimizer are there from the start and stay; 1 KiB is given back. The program
    asks for 8 KiB and gives them back, then for 2 KiB, which it keeps. Peak: 4 + 1 + 8."""
    trace = [
        change("segment_alloc", 1000, 0, 64 * KIB, FORWARD),
        change("alloc", 1000, 4096, 8 * KIB, FORWARD),
        change("free_requested", 1500, 1, 1 * KIB, []),
        change("free_completed", 1500, 1, 1 * KIB, []),
        change("free_completed", 1500, 4096, 8 * KIB, []),
        change("alloc", 2000, 4096, 2 * KIB, COMPILED),
    ]
    blocks = [
        {
            "address": 0,
            "size": 4 * KIB,
            "requested_size": STATE_BYTES,
            "state": "active_allocated",
            "frames": STATE,
        },
        {"address": 4096, "size": 2 * KIB, "state": "active_allocated", "frames": COMPILED},
        {"address": 6144, "size": 58 * KIB, "state": "inactive", "frames": []},
    ]
    segment = {"device": 0, "address": 0, "total_size": 64 * KIB, "stream": 0, "blocks": blocks}
    return {"segments": [segment], "device_traces": [trace, []], "allocator_settings": {}}


def written(path: Path, value: Any, protocol: int = 4) -> Path:
    path.write_bytes(pickle.dumps(value, protocol))
    return path


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_who_holds_the_peak(protocol, tmp_path, capsys):
    path = written(tmp_path / "snapshot.pickle", snapshot(), protocol)
    assert main(["memory", str(path), "--format", "json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["allocators"]
    assert told["allocator"] == "cuda:0"
    assert told["peak_bytes"] == STATE_BYTES + 9 * KIB
    assert {row["name"]: row["bytes"] for row in told["at_peak"]["by_code"]} == {
        "/home/me/model.py:12 forward": 8 * KIB,
        "/home/me/adam.py:7 step": STATE_BYTES,
        "(line not known)": 1 * KIB,
    }
    assert [row["code"]["file"] for row in told["never_freed"]] == ["/home/me/adam.py", "/home/me/loss.py"]


def test_what_is_held_in_the_end(tmp_path):
    path = written(tmp_path / "snapshot.pickle", snapshot())
    with stepscope.open(path, cache=False) as trace:
        last = trace.query("SELECT args_json FROM instant ORDER BY ts_ps DESC LIMIT 1").rows()
        calls = trace.query("SELECT DISTINCT name FROM slice ORDER BY name").rows()
        notes = trace.query("SELECT slug, events FROM source_note WHERE slug = 'memory-before'").rows()
    assert json.loads(last[0][0])["Total Allocated"] == STATE_BYTES + 2 * KIB
    assert ("/home/me/loss.py(3): loss",) in calls
    assert notes == [("memory-before", 2)]


def test_times_that_lack_are_told(tmp_path):
    value = snapshot()
    value["device_traces"][0][1].pop("time_us")
    lost = ask(written(tmp_path / "old.pickle", value), "SELECT events_lost FROM source")
    assert lost == [(1,)]


def test_an_allocation_that_failed_comes_first(tmp_path, capsys):
    """PyTorch writes what was asked, and what the device had left; a program may go on, and fail again."""
    value = snapshot()
    failed = {
        "action": "oom",
        "size": 6 * KIB,
        "device_free": KIB,
        "stream": 0,
        "time_us": 2500,
        "frames": FORWARD,
    }
    value["device_traces"][0].append(failed)
    path = written(tmp_path / "failed.pickle", value)
    sentence = (
        "Out of memory: 6.00 KiB were asked of cuda:0, which had 1.00 KiB left, in model.py:12 `forward`"
    )
    for verb in ([], ["memory"]):
        main([*verb, str(path), "--no-cache"])
        lines = " ".join(capsys.readouterr().out.split())
        assert f"{sentence}. The peak" in lines
    value["device_traces"][0].append({**failed, "frames": []})
    with stepscope.open(written(tmp_path / "twice.pickle", value), cache=False) as trace:
        assert trace.summary().headline[0] == f"{sentence}; the first of 2 times."
        assert trace.query("SELECT slug, events FROM source_note").rows()[0] == ("out-of-memory", 2)


def test_a_snapshot_without_history_tells_no_times(tmp_path, capsys):
    value = snapshot()
    value["device_traces"] = [[]]
    path = written(tmp_path / "only_held.pickle", value)
    main(["memory", str(path), "--no-cache"])
    screen = capsys.readouterr().out
    assert "5.90 KiB was held when the snapshot was taken.\n" in screen
    assert "peak" not in screen
    assert "Over the changes" not in screen
    main([str(path), "--no-cache"])
    screen = capsys.readouterr().out
    assert " events from 1 source" in screen
    assert "cuda:0 held 5.90 KiB when the snapshot was taken" in screen


def test_changes_without_times_keep_their_order(tmp_path, capsys):
    """PyTorch 2.0 writes none: the peak lies where the order of changes puts it."""
    value = snapshot()
    trace = value["device_traces"][0]
    trace[:] = [
        change("alloc", 900, 1 << 20, KIB, FORWARD),
        *trace,
        change("free_completed", 2100, 1 << 20, KIB, []),
    ]
    for entry in trace:
        entry.pop("time_us")
    path = written(tmp_path / "old.pickle", value)
    with stepscope.open(path, cache=False) as trace:
        lost = trace.query("SELECT events_lost FROM source").rows()
        notes = trace.query("SELECT detail FROM source_note WHERE slug = 'memory-without-times'").rows()
    assert lost == [(0,)]
    assert notes == [("6 changes of GPU 0 without times: shown 1 µs apart, in their order",)]
    assert main(["memory", str(path), "--format", "json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["allocators"]
    assert told["peak_bytes"] == STATE_BYTES + 10 * KIB
    main(["memory", str(path), "--no-cache"])
    screen = capsys.readouterr().out
    assert "The peak is 13.9 KiB, first reached with change 2 of 6." in screen
    assert "Over the changes" in screen


class Runs:
    """What would run a program when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (print, ("it ran",))


def test_nothing_of_a_pickle_is_run(tmp_path, capsys):
    for value in (Runs(), copyreg.pickle):
        path = written(tmp_path / "evil.pickle", {"segments": [value]})
        assert main([str(path)]) == 2
        told = capsys.readouterr()
        assert "it ran" not in told.out
        assert "no pickle of plain values" in told.err


VALUES: list[Any] = [
    None, True, False, 0, 255, 256, 65535, 65536, -1, 2**31 - 1, 2**31, -(2**31), 2**63, -(2**100), 0.1, -0.0,
    "", "ä" * 300, b"", b"x" * 300, (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [], [1], list(range(2000)), {},
    {"a": 1}, {str(n): n for n in range(2000)}, {1: "x", None: [({},)]},
]  # fmt: skip


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_plain_values_are_what_pickle_makes_of_them(protocol):
    shared = {"one": [1, 2]}
    for value in [*VALUES, VALUES, [shared, shared, (shared,)]]:
        if protocol == 2 and b"c__builtin__" in pickle.dumps(value, 2).replace(b"c_codecs", b"c__builtin__"):
            continue  # bytes are calls in this protocol
        found = _core.unpickle(pickle.dumps(value, protocol))
        assert repr(found) == repr(value)
    first, second, _ = _core.unpickle(pickle.dumps([shared, shared, (shared,)], protocol))
    assert first is second


def test_damage_ends_in_a_result_or_an_error_of_ours(tmp_path):
    data = pickle.dumps(snapshot(), 4)
    path = tmp_path / "damaged.pickle"
    for at in range(0, len(data), 7):
        for damaged in (data[:at], data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]):
            path.write_bytes(damaged)
            with contextlib.suppress(StepscopeError):  # which says what was seen
                stepscope.open(path, cache=False).close()


@pytest.mark.parametrize(
    "data",
    [b"", b"\x80\x04", b"\x80\x04(", b"\x80\x04e.", b"\x80\x04h\x00.", b"\x80\x04\x87.",
     b"\x80\x04}]Ns.", b"\x80\x04X\xff\xff\xff\xff.", b"\x80\x04(0.", b"\x80\x04\x94.", b"\x80\x04Na."],
)  # fmt: skip
def test_damaged_pickles_are_refused(data):
    with pytest.raises(_core.CoreError):
        _core.unpickle(data)
