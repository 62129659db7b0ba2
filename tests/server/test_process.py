"""The command as a user runs it: a process, a socket, a browser that is not there."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from stepscope.cli import main
from stepscope.server.headers import HEADERS
from stepscope.server.run import PORT, can_show, handed_over
from tests.corpus import SAMPLES
from tests.server.asking import RECORDINGS

URL = re.compile(r"http://127\.0\.0\.1:(\d+)/#t=([A-Za-z0-9_-]{43,})\n")


class Command(NamedTuple):
    """A running `stepscope serve`."""

    process: subprocess.Popen[str]
    port: int
    token: str

    def ask(self, method: str, path: str, body: Any = None, cookie: str = "") -> tuple[int, Any, bytes]:
        """Status, headers and body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=240)
        headers = {"Cookie": cookie} if cookie else {}
        if method == "POST":
            headers |= {"Origin": f"http://127.0.0.1:{self.port}", "X-Stepscope": "1"}
            headers["Content-Type"] = "application/json"
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        told = answer.status, answer.headers, answer.read()
        connection.close()
        return told

    def session(self) -> str:
        """The cookie for the token."""
        status, headers, _ = self.ask("POST", "/api/session", {"token": self.token})
        assert status == 200
        return str(headers["Set-Cookie"]).partition(";")[0]

    def raw(self, data: bytes) -> bytes:
        """What comes back for bytes that need not be HTTP."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=240) as connection:
            parts = []
            with contextlib.suppress(OSError):  # it may hang up before it has read all
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionResetError):
                while part := connection.recv(65536):
                    parts.append(part)
        return b"".join(parts)


def start(*words: str, stdin: Any = subprocess.DEVNULL, **environment: str) -> Command:
    """Runs the command until it has printed its URL."""
    process = subprocess.Popen(
        [sys.executable, "-m", "stepscope", "serve", *words],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "DISPLAY": "", "WAYLAND_DISPLAY": "", **environment},
    )
    line = process.stdout.readline()
    found = URL.fullmatch(line)
    if found is None:
        process.kill()
        _, talk = process.communicate()
        raise AssertionError((line, talk))
    return Command(process, int(found[1]), found[2])


def stop(command: Command, with_: signal.Signals = signal.SIGINT) -> tuple[int, str, str]:
    """Ends it: exit code, what else was on stdout, and what was on stderr."""
    command.process.send_signal(with_)
    out, talk = command.process.communicate(timeout=240)
    return command.process.returncode, out, talk


@pytest.fixture(scope="module")
def command() -> Iterator[Command]:
    running = start(*RECORDINGS)
    yield running
    if running.process.poll() is None:
        running.process.kill()
        running.process.communicate()


def test_from_the_url_to_an_answer_and_no_token_anywhere(tmp_path: Path) -> None:
    running = start(*RECORDINGS, "--no-open")
    seen: list[bytes] = []
    try:
        status, headers, body = running.ask("GET", "/")
        assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert running.ask("GET", "/api/catalog")[0] == 401
        cookie = running.session()
        for path in ("catalog", "names", "schema", "report/summary", "report/pipeline", "report/memory"):
            status, headers, body = running.ask("GET", f"/api/{path}", cookie=cookie)
            assert status == 200, body
            assert json.loads(body)
            seen += [body, str(headers).encode()]
        rows = json.loads(
            running.ask("POST", "/api/sql", {"sql": "SELECT count(*) AS n FROM slice"}, cookie)[2]
        )
        assert rows["columns"] == ["n"]
        assert rows["total"] == 1
        status, _, body = running.ask("POST", "/api/session", {"token": "wrong"})
        assert status == 401
        seen += [body, running.raw(f"GET /{running.token} HTTP/1.1\r\nHost: x\r\n\r\n".encode())]
        command_lines = list(_command_lines())
        environments = [Path(f"/proc/{running.process.pid}/environ").read_bytes()]
    finally:
        code, out, talk = stop(running)
    assert code == 130
    assert out == ""  # the URL is all that is on stdout
    assert f"ssh -N -L {running.port}:127.0.0.1:{running.port} " in talk
    assert "Ctrl-C" in talk
    assert "Traceback" not in talk
    for text in [*seen, talk.encode(), *command_lines, *environments]:
        assert running.token.encode() not in text
        assert cookie.partition("=")[2].encode() not in text


def _command_lines() -> Iterator[bytes]:
    """Those of all processes but of such as end meanwhile."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            yield path.read_bytes()


@pytest.mark.parametrize(
    "data",
    [
        b"\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET  /  HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx",
        b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /%ff%fe HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
    ids=range(17),
)
def test_bytes_that_are_no_request_of_ours(command: Command, data: bytes) -> None:
    """An answer with our headers, or none; and the server goes on."""
    answer = command.raw(data)
    if answer:
        head = answer.partition(b"\r\n\r\n")[0].lower()
        assert re.match(rb"http/1\.1 4\d\d ", head), head
        for name, value in HEADERS:
            assert name + b": " + value.lower() in head
        assert b"server:" not in head
    assert command.ask("GET", "/")[0] == 200


def test_the_real_rebinding_shape_is_refused(command: Command) -> None:
    for host in ("evil.example", f"evil.example:{command.port}", "127.0.0.1", f"127.0.0.2:{command.port}"):
        answer = command.raw(f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        assert answer.startswith(b"HTTP/1.1 403 ")
    good = f"GET / HTTP/1.1\r\nHost: localhost:{command.port}\r\nConnection: close\r\n\r\n"
    assert command.raw(good.encode()).startswith(b"HTTP/1.1 200 ")


def test_only_the_loopback_address_listens(command: Command) -> None:
    listening = [
        line.split()[1]
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
        if line.split()[3] == "0A" and line.split()[1].endswith(f":{command.port:04X}")
    ]
    assert listening == [f"0100007F:{command.port:04X}"]


def test_clients_that_do_not_read_hold_up_nobody(command: Command) -> None:
    cookie = command.session()
    catalog = json.loads(command.ask("GET", "/api/catalog", cookie=cookie)[2])
    tracks = ",".join(str(track["track"]) for track in catalog["tracks"])
    path = f"/api/timeline?from={catalog['start_ps']}&to={catalog['end_ps']}&px=16384&tracks={tracks}"
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{command.port}\r\nCookie: {cookie}\r\n\r\n".encode()
    deaf = []
    try:
        for _ in range(60):
            one = socket.socket()
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.connect(("127.0.0.1", command.port))
            one.sendall(request)
            deaf.append(one)
        status, _, body = command.ask("GET", path, cookie=cookie)
        assert status == 200
        assert len(body) > 1 << 16  # more than what the kernel takes for a client that reads nothing
    finally:
        for one in deaf:
            one.close()
    assert command.ask("GET", "/api/names", cookie=cookie)[0] == 200


def test_many_slow_connections_hold_up_nobody(command: Command) -> None:
    slow = [socket.create_connection(("127.0.0.1", command.port), timeout=240) for _ in range(200)]
    try:
        for one in slow:
            one.sendall(b"GET / HTTP/1.1\r\nX-Slow: ")
        assert command.ask("GET", "/")[0] == 200
    finally:
        for one in slow:
            one.close()


def test_nothing_is_left_when_it_is_killed(tmp_path: Path) -> None:
    """Neither processes of the console nor files."""
    running = start(RECORDINGS[0], "--no-cache", TMPDIR=str(tmp_path))
    cookie = running.session()
    assert running.ask("POST", "/api/sql", {"sql": "SELECT 1 AS a"}, cookie)[0] == 200
    children = [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/stat")
        if _parent(path) == running.process.pid
    ]
    assert children
    running.process.kill()
    running.process.communicate()
    while any(Path(f"/proc/{child}").exists() and _alive(child) for child in children):
        time.sleep(0.05)  # pytest-timeout says so if a process of the console lives on
    again = start(RECORDINGS[0], "--no-cache", TMPDIR=str(tmp_path / "other"), **_made(tmp_path / "other"))
    assert stop(again)[0] == 130
    assert list((tmp_path / "other").iterdir()) == []


def _made(folder: Path) -> dict[str, str]:
    folder.mkdir()
    return {}


def _parent(path: Path) -> int:
    try:
        return int(path.read_text().rpartition(")")[2].split()[1])
    except OSError:
        return -1


def _alive(child: int) -> bool:
    try:
        return Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.repeats("a process of its own")
def test_standard_input_is_a_recording(tmp_path: Path) -> None:
    with (SAMPLES / "chrome" / "kineto_cuda.json").open("rb") as file:
        running = start("-", "--no-open", stdin=file, TMPDIR=str(tmp_path))
    try:
        cookie = running.session()
        assert json.loads(running.ask("GET", "/api/catalog", cookie=cookie)[2])["tracks"]
        assert running.ask("POST", "/api/sql", {"sql": "SELECT count(*) AS n FROM slice"}, cookie)[0] == 200
    finally:
        code, *_ = stop(running, signal.SIGINT)
    assert code == 130
    assert [one for one in tmp_path.iterdir() if one.name.startswith("stepscope-")] == []


def refused(capsys: pytest.CaptureFixture[str], words: Sequence[str]) -> str:
    """What is said of a command that cannot run."""
    assert main(list(words)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "seen:" in captured.err
    assert "to do:" in captured.err
    return captured.err


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        said = refused(capsys, ["serve", RECORDINGS[3], "--no-open", "--port", str(port)])
    assert f"Port {port} is taken" in said
    assert "stepscope docs port-taken" in said


@pytest.mark.parametrize("port", ["65536", "-1", "x", "1e3", "٣", ""])
def test_ports_that_are_none(capsys: pytest.CaptureFixture[str], port: str) -> None:
    assert "port" in refused(capsys, ["serve", RECORDINGS[3], "--port", port])


@pytest.mark.repeats("a process of its own")
def test_without_a_port_any_free_one_is_taken() -> None:
    first = start(RECORDINGS[3])
    second = start(RECORDINGS[3])
    try:
        assert first.port != second.port
        assert PORT in (first.port, second.port) or first.port > 1023
    finally:
        stop(first)
        stop(second)


def test_paths_that_hold_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "nothing-found" in refused(capsys, ["serve", str(tmp_path)])
    assert "no file or folder" in refused(capsys, ["open", str(tmp_path / "missing")])
    assert "stepscope serve PATH" in refused(capsys, ["serve"])


def test_the_extra_that_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [
        name for name in sys.modules if name.startswith(("stepscope.server", "starlette", "uvicorn"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "starlette", None)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    said = refused(capsys, ["serve", RECORDINGS[3]])
    assert "pip install 'stepscope[serve]'" in said
    assert "stepscope docs no-server" in said


def test_a_browser_gets_the_url_from_a_file_that_only_the_user_can_read() -> None:
    url = "http://127.0.0.1:1/#t=secret"
    with handed_over(url) as path:
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700
        assert url in path.read_text()
        assert "secret" not in path.as_uri()
    assert not path.parent.exists()


def test_no_browser_is_opened_where_nobody_sits() -> None:
    assert can_show({"DISPLAY": ":0"})
    assert not can_show({"DISPLAY": ":0", "SSH_CONNECTION": "1.2.3.4 5 6.7.8.9 22"})
    assert not can_show({}) or sys.platform == "darwin"
