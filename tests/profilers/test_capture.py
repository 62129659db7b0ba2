"""stepscope capture: real servers of TensorFlow and JAX, and others that are down, slow, old or odd."""

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope import protobuf
from stepscope.cli import main
from stepscope.errors import UsageError
from stepscope.profilers import client, messages, recording
from stepscope.profilers.client import Address

grpc = pytest.importorskip("grpc", reason="grpcio is not installed: pip install 'stepscope[grpc]'")
PROGRAMS = Path(__file__).parent / "programs"
XSPACE = (Path(__file__).parents[1] / "samples" / "tf_data" / "map_py_function.xplane.pb").read_bytes()


@contextmanager
def down() -> Iterator[int]:
    """A port that is taken, and that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        yield int(one.getsockname()[1])


@contextmanager
def program(name: str) -> Iterator[int]:
    """A program with a profiler server; its port."""
    with subprocess.Popen(
        [sys.executable, str(PROGRAMS / name)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


Handler = Callable[[bytes, Any], bytes]


@contextmanager
def serving(handler: Handler, method: str = messages.METHOD) -> Iterator[int]:
    """A gRPC server that answers any bytes; its port."""
    service, name = method.strip("/").split("/")
    server = grpc.server(futures.ThreadPoolExecutor(2))
    handlers = {name: grpc.unary_unary_rpc_method_handler(handler)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield port
    finally:
        server.stop(None).wait()


def field(number: int, data: bytes) -> bytes:
    return protobuf.record(number, data)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is there may take long to say so."""
    monkeypatch.setattr(client, "CONNECT_SECONDS", 240.0)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch, _patient: None) -> None:
    """No server is there."""
    monkeypatch.setattr(client, "CONNECT_SECONDS", 0.5)


def rows(words: list[str], capsys: pytest.CaptureFixture[str], code: int = 0) -> list[dict[str, Any]]:
    """The rows that a capture prints."""
    assert main(["capture", *words, "--format", "json"]) == code
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["rows"]
    return found


@pytest.mark.repeats("a real TensorFlow and a real JAX, and when they are asked")
def test_tensorflow_and_jax_at_the_same_moment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "CONNECT_SECONDS", 5.0)
    pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
    pytest.importorskip("jax", reason="JAX is not installed")
    with program("tf_server.py") as tf, program("jax_server.py") as jax, down() as nobody:
        servers = [f"localhost:{tf}", f"localhost:{jax}", f"localhost:{nobody}"]
        out, lake = tmp_path / "job", tmp_path / "history"
        first, second, third = rows([*servers, "--for", "400ms", "-o", str(out)], capsys)
        assert (first["error"], second["error"]) == (None, None)
        assert "profiler-unreachable" in third["error"]
        assert third["path"] is None
        assert abs(first["sent_unix_ns"] - second["sent_unix_ns"]) < 200e6
        for one, port in ((first, tf), (second, jax)):
            path = out / "plugins" / "profile" / one["capture"] / f"localhost_{port}.xplane.pb"
            assert (Path(one["path"]), path.stat().st_size) == (path, one["bytes"])
        with stepscope.open(out) as trace:
            steps = dict(trace.query("SELECT host_id, count(*) FROM step GROUP BY host_id").rows())
            (span,) = trace.query("SELECT max(ts_ps) - min(ts_ps) FROM step").rows()
        # A step waits 5 ms and computes for less; on a busy machine there are fewer.
        assert set(steps) == {f"localhost_{tf}", f"localhost_{jax}"}
        assert all(2 <= number <= 80 for number in steps.values())
        assert 0 < span[0] < 10**12
        assert not list(out.rglob(".*"))
        # A history: two more captures, straight into a lake.
        repeated = ["capture", *servers[:2], "--for", "100ms", "--every", "300ms", "--times", "2"]
        assert main([*repeated, "--lake", str(lake)]) == 0
    with stepscope.open(lake) as trace:
        found = trace.query("SELECT DISTINCT run_id FROM source ORDER BY run_id").rows()
        origins = trace.query(
            "SELECT host_id, count(*), count(DISTINCT origin_unix_ns) FROM capture GROUP BY 1 ORDER BY 1"
        ).rows()
    begins = recording.run_name(client.addresses(servers[:2])) + "-20"
    assert len(found) == 2
    assert all(run.startswith(begins) for (run,) in found)
    assert [row[1:] for row in origins] == [(2, 2), (2, 2)]
    # Each is a recording of its own to `check`.
    capsys.readouterr()
    assert main(["check", "--history", str(lake)]) == 2
    assert "2 recordings: changes are looked for from 20 on" in " ".join(capsys.readouterr().out.split())


def test_a_late_host_and_those_of_nonsense_cost_their_own_profile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left: list[float] = []

    def slow(_: bytes, context: Any) -> bytes:
        """What happens at the deadline, which the client has told, without waiting for it."""
        left.append(context.time_remaining())
        context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, "too late")
        raise AssertionError("abort raises")

    with (
        serving(lambda _, __: field(8, XSPACE)) as good,
        serving(slow) as late,
        serving(lambda _, __: b"\xff\xff\xff nonsense") as odd,
        serving(lambda _, __: field(8, b"no XSpace at all")) as other,
        serving(lambda _, __: b"\x38\x01") as empty,
        serving(lambda _, __: b"", "/some.Other/Service") as foreign,
        serving(lambda _, __: field(6, field(1, b"trace.json") + field(2, b"{}"))) as ancient,
    ):
        ports = (good, late, odd, other, empty, foreign, ancient)
        words = [f"127.0.0.1:{port}" for port in ports]
        found = rows([*words, "--for", "50ms", "--timeout", "200s", "-o", str(tmp_path)], capsys)
    assert 0 < left[0] < 210  # gRPC rounds it up
    slugs = ("", "late", "odd", "odd", "empty", "refused", "odd")
    for row, slug in zip(found, slugs, strict=True):
        assert (row["error"] is None) == (not slug)
        assert f"(profiler-{slug})" in (row["error"] or "(profiler-)")
    assert Path(found[0]["path"]).read_bytes() == XSPACE
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


def test_a_busy_process_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def busy(_: bytes, context: Any) -> bytes:
        context.abort(grpc.StatusCode.INTERNAL, "Another profiling session active.")
        raise AssertionError("abort raises")

    with serving(busy) as port:
        assert main(["capture", f"127.0.0.1:{port}", "--for", "1ms", "-o", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "Another profiling session active." in said
    assert "docs profiler-refused" in said
    assert not list(tmp_path.rglob("*.pb"))
    assert not list(tmp_path.glob("out/plugins/profile/*"))


def test_an_older_server_saves_the_profile_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file is taken where it can be seen; else the message names it."""

    def saves(data: bytes, _: Any) -> bytes:
        told = {
            number: bytes(body) for number, wire, body, _ in protobuf.fields(memoryview(data)) if wire == 2
        }
        path = Path(told[5].decode(), told[6].decode(), told[7].decode() + ".xplane.pb")
        path.write_bytes(XSPACE)
        return b""

    with serving(saves) as shared, serving(lambda _, __: b"") as far:
        words = [f"127.0.0.1:{shared}", f"localhost:{far}"]
        here, there = rows([*words, "--for", "1ms", "-o", str(tmp_path)], capsys)
    assert here["bytes"] == len(XSPACE)
    assert "(profiler-saved-elsewhere)" in there["error"]
    assert str(tmp_path / "plugins" / "profile" / there["capture"] / "localhost.xplane.pb") in there["error"]


def test_a_reply_that_is_too_large(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "MOST_REPLY_BYTES", 1000)
    with serving(lambda _, __: field(8, bytes(2000))) as port:
        assert main(["capture", f"127.0.0.1:{port}", "--for", "1ms", "-o", str(tmp_path)]) == 2
    assert "docs profiler-odd" in capsys.readouterr().err


@pytest.mark.usefixtures("quick")
def test_nothing_but_servers_that_are_down(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with down() as one, down() as other:
        words = [f"127.0.0.1:{one}", f"127.0.0.1:{other}"]
        assert main(["capture", *words, "--lake", str(tmp_path / "lake"), "--run", "job"]) == 2
    said = capsys.readouterr().err
    assert "No profiler server answered with a profile" in said
    assert "docs profiler-unreachable" in said
    assert not (tmp_path / "lake").exists()


@pytest.mark.usefixtures("quick")
def test_a_port_of_something_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A server that takes connections and says nothing, as one behind a firewall."""
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        port = mute.getsockname()[1]
        assert main(["capture", f"127.0.0.1:{port}", "-o", str(tmp_path)]) == 2
    assert "docs profiler-unreachable" in capsys.readouterr().err


@pytest.mark.repeats("it waits until a deadline has passed")
def test_a_server_that_never_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    over = threading.Event()

    def slow(_: bytes, __: Any) -> bytes:
        over.wait()
        return b""

    with serving(slow) as late:
        words = [f"127.0.0.1:{late}", "--for", "50ms", "--timeout", "5s", "-o", str(tmp_path)]
        assert main(["capture", *words]) == 2
        over.set()
    assert "docs profiler-late" in capsys.readouterr().err


class Clock:
    """The time of a capture that is asked for again and again: it passes where somebody says so."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, wait_s: float) -> None:
        self.now_s += wait_s


def test_overdue_captures_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    calls: list[float] = []

    def sluggish(_: bytes, __: Any) -> bytes:
        calls.append(clock.now_s)
        clock.now_s += 0.7 if len(calls) == 1 else 0
        return field(8, XSPACE)

    monkeypatch.setattr("stepscope.cli.capture.time", clock)
    with serving(sluggish) as port:
        words = [f"127.0.0.1:{port}", "--for", "10ms", "--every", "300ms", "--times", "3"]
        assert main(["capture", *words, "-o", str(tmp_path)]) == 0
    # The capture that was due after 300 ms and that after 600 ms are left out.
    assert calls == pytest.approx([0, 0.9, 1.2])
    assert "2 captures left out" in capsys.readouterr().err
    assert len(list(tmp_path.rglob("*.xplane.pb"))) == 3


def test_addresses() -> None:
    words = ["worker-0:6009", "[::1]:6009", "worker-0:6009", "worker-0:6010"]
    found = client.addresses(words)
    assert found == [Address("worker-0", 6009), Address("::1", 6009), Address("worker-0", 6010)]
    assert [str(one) for one in found] == ["worker-0:6009", "[::1]:6009", "worker-0:6010"]
    assert client.names_of(found) == ["worker-0_6009", "--1", "worker-0_6010"]
    assert recording.run_name(found) == recording.run_name(found[:1] + found[:0:-1])
    assert recording.run_name(found) != recording.run_name(found[:2])


@pytest.mark.parametrize(
    "word",
    ["worker", "worker:", ":6009", "worker:0", "worker:70000", "a b:1", "http://h:1", "h/x:1", "::1:6009"],
)
def test_what_is_no_address(word: str) -> None:
    with pytest.raises(UsageError):
        client.addresses([word])


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["h:1", "--for", "2"],
        ["h:1", "--for", "2h"],
        ["h:1", "--times", "3"],
        ["h:1", "--every", "1s"],
        ["h:1", "--run", "x"],
        ["h:1", "--every", "1m", "--times", "0"],
        ["h:1", "--spreadsheet"],
    ],
)
def test_odd_command_lines(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["capture", *words]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_without_grpcio(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "grpc", None)
    assert main(["capture", "h:1", "-o", str(tmp_path / "out")]) == 2
    assert "docs no-grpc" in capsys.readouterr().err
    assert not list(tmp_path.glob("out/plugins/profile/*"))
