"""Host, Origin, token, session: who may ask, and what everybody is told."""

import json

import pytest

from stepscope.server.access import MOST_SESSIONS, Access
from stepscope.server.app import API
from stepscope.server.headers import HEADERS
from stepscope.server.replies import Refused
from tests.server.asking import HOST, ORIGIN, PORT, Served

GOOD_HOSTS = (HOST, f"localhost:{PORT}", f"[::1]:{PORT}")
BAD_HOSTS = (
    *("127.0.0.1", "localhost", "[::1]", "::1", f"::1:{PORT}", "", " ", ":", f":{PORT}", "*", f"*:{PORT}"),
    *("0.0.0.0", f"0.0.0.0:{PORT}", f"0:{PORT}", f"127.1:{PORT}", f"127.0.1:{PORT}", f"127.0.0.2:{PORT}"),
    *(f"2130706433:{PORT}", f"0x7f000001:{PORT}", f"0177.0.0.1:{PORT}", f"017700000001:{PORT}"),
    *(f"127.0.0.1:{PORT + 1}", "127.0.0.1:80", "127.0.0.1:443", "127.0.0.1:0", "127.0.0.1:"),
    *(f"127.0.0.1:0{PORT}", f"127.0.0.1:+{PORT}", f"127.0.0.1:{PORT}0", f"127.0.0.1:{PORT}:{PORT}"),
    *(f"127.0.0.1 :{PORT}", f" 127.0.0.1:{PORT}", f"127.0.0.1:{PORT} ", f"127.0.0.1:{PORT}\t"),
    *(f"LOCALHOST:{PORT}", f"Localhost:{PORT}", f"localhost.:{PORT}", f"localhost.localdomain:{PORT}"),
    *(f"127.0.0.1.:{PORT}", f"127.0.0.1.nip.io:{PORT}", f"127-0-0-1.nip.io:{PORT}"),
    *(f"localtest.me:{PORT}", f"evil.example:{PORT}", "evil.example", f"localhost.evil.example:{PORT}"),
    *(f"evil.example#127.0.0.1:{PORT}", f"evil.example/127.0.0.1:{PORT}", f"127.0.0.1:{PORT}/"),
    *(f"127.0.0.1:{PORT}@evil.example", f"user@127.0.0.1:{PORT}", f"u:p@127.0.0.1:{PORT}"),
    *(f"127.0.0.1:{PORT},evil.example", f"evil.example,127.0.0.1:{PORT}", f"127.0.0.1:{PORT}?x", "null"),
    *(f"http://127.0.0.1:{PORT}", f"//127.0.0.1:{PORT}", f"127.0.0.1:{PORT}%00", f"127.0.0.1%2f:{PORT}"),
    *(f"[::]:{PORT}", f"[::ffff:127.0.0.1]:{PORT}", f"[0:0:0:0:0:0:0:1]:{PORT}", f"[::1%lo]:{PORT}"),
    *(f"[::1:{PORT}", f"::1]:{PORT}", f"[::1]{PORT}", "[::1]:", f"[127.0.0.1]:{PORT}", f"[::2]:{PORT}"),
    *(f"local\xadhost:{PORT}", f"\xa0127.0.0.1:{PORT}", f"127.0.0.1\\:{PORT}", f"127.0.0.1;{PORT}"),
)
BAD_ORIGINS = (
    *("null", "", "*", "http://127.0.0.1", "http://localhost", f"https://127.0.0.1:{PORT}", HOST),
    *(f"http://127.0.0.1:{PORT}/", f"http://127.0.0.1:{PORT + 1}", "http://evil.example", "file://"),
    *(f"http://evil.example:{PORT}", f"http://127.0.0.1:{PORT}.evil.example", f"HTTP://127.0.0.1:{PORT}"),
    *(
        f"http://evil.example@127.0.0.1:{PORT}",
        f"http://0.0.0.0:{PORT}",
        f"http://[::]:{PORT}",
        "about:blank",
    ),
    *(f"http://localhost:{PORT}", f"http://[::1]:{PORT}", f"http://127.0.0.1:{PORT} http://evil.example"),
    *(f"chrome-extension://127.0.0.1:{PORT}", f"ws://127.0.0.1:{PORT}", f"http://127.0.0.1:{PORT},null"),
)
"""Refused with the Host 127.0.0.1; two of them are ours with another Host."""


def test_there_are_enough_variants() -> None:
    assert len(set(BAD_HOSTS)) + len(set(BAD_ORIGINS)) >= 80


@pytest.mark.parametrize("path", ["/", "/api/schema"])
def test_our_own_names_are_served(served: Served, path: str) -> None:
    for host in GOOD_HOSTS:
        headers = [("Host", host), ("Cookie", served.cookie)]
        assert served.raw("GET", path, headers).status == 200
        assert served.raw("GET", path, [*headers, ("Origin", f"http://{host}")]).status == 200
        assert served.raw("GET", path, [*headers, ("Sec-Fetch-Site", "same-origin")]).status == 200


@pytest.mark.parametrize("path", ["/", "/api/schema", "/nothing"])
def test_other_hosts_are_refused_before_routing(served: Served, path: str) -> None:
    for host in BAD_HOSTS:
        answer = served.raw("GET", path, [("Host", host), ("Cookie", served.cookie)])
        assert (answer.status, answer.slug) == (403, "request-refused"), host


@pytest.mark.parametrize(
    "hosts", [[], [HOST, HOST], [HOST, "evil.example"], ["evil.example", HOST], [HOST, ""]]
)
def test_there_is_one_host_header(served: Served, hosts: list[str]) -> None:
    headers = [("Host", host) for host in hosts]
    assert served.raw("GET", "/", [*headers, ("Cookie", served.cookie)]).status == 403
    assert served.raw("GET", "/", [("X-Forwarded-Host", HOST), ("Forwarded", f"host={HOST}")]).status == 403


def test_other_origins_are_refused(served: Served) -> None:
    for origin in BAD_ORIGINS:
        for method, path, headers in (
            ("GET", "/api/schema", []),
            ("GET", "/", []),
            ("POST", "/api/sql", [("X-Stepscope", "1"), ("Content-Type", "application/json")]),
        ):
            sent = [("Host", HOST), ("Origin", origin), ("Cookie", served.cookie), *headers]
            answer = served.raw(method, path, sent, b'{"sql":"SELECT 1"}')
            assert (answer.status, answer.slug) == (403, "request-refused"), origin
    twice = [("Host", HOST), ("Origin", ORIGIN), ("Origin", ORIGIN), ("Cookie", served.cookie)]
    assert served.raw("GET", "/", twice).status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "none, cross-site", "SAME-ORIGIN"])
def test_other_sites_get_no_data(served: Served, site: str) -> None:
    sent = [("Host", HOST), ("Sec-Fetch-Site", site), ("Cookie", served.cookie)]
    assert served.raw("GET", "/api/schema", sent).status == 403
    assert served.raw("GET", "/", sent).status == 200  # a link that is clicked leads to the page


@pytest.mark.parametrize(
    "missing", [("Origin", ORIGIN), ("X-Stepscope", "1"), ("Content-Type", "application/json")]
)
def test_what_is_no_get_needs_everything(served: Served, missing: tuple[str, str]) -> None:
    every = [
        ("Host", HOST),
        ("Origin", ORIGIN),
        ("X-Stepscope", "1"),
        ("Content-Type", "application/json"),
        ("Cookie", served.cookie),
    ]
    body = b'{"sql":"SELECT 1 AS a"}'
    assert served.raw("POST", "/api/sql", every, body).json["rows"] == [[1]]
    left = [one for one in every if one != missing]
    assert served.raw("POST", "/api/sql", left, body).status in (403, 415)
    for value in ("0", "2", "true", "1, 1", ""):
        if missing[0] == "X-Stepscope":
            assert served.raw("POST", "/api/sql", [*left, ("X-Stepscope", value)], body).status == 403


@pytest.mark.parametrize(
    "target", ["http://127.0.0.1:7391/", "http://evil.example/", "*", "127.0.0.1:7391", ""]
)
def test_targets_are_paths(served: Served, target: str) -> None:
    answer = served.raw("GET", target, [("Host", HOST), ("Cookie", served.cookie)])
    assert answer.status == 403


def test_every_route_needs_a_session(served: Served) -> None:
    """And what is no route does, too: strangers learn nothing of what there is."""
    asked = [(method, path.replace("{id}", "1")) for method, path, _ in API if path != "/api/session"]
    asked += [("GET", "/api/nothing"), ("GET", "/nothing"), ("POST", "/api/catalog"), ("PUT", "/api/sql")]
    asked += [("DELETE", "/api/slice/1"), ("OPTIONS", "/api/catalog"), ("HEAD", "/api/catalog")]
    other = served.access.cookie.replace(str(PORT), str(PORT + 1))
    value = served.cookie.partition("=")[2]
    cookies = [
        [],
        [("Cookie", "")],
        [("Cookie", f"{served.access.cookie}=")],
        [("Cookie", f"{served.access.cookie}={served.access.token}")],
        [("Cookie", f"{served.access.cookie}={value[:-1]}")],
        [("Cookie", f"{served.access.cookie}={value}x")],
        [("Cookie", f"{other}={value}")],
        [("Cookie", f"{served.cookie}; {served.cookie}")],
        [("Cookie", served.cookie), ("Cookie", f"{served.access.cookie}=x")],
        [("Authorization", f"Bearer {served.access.token}")],
    ]
    assert len(asked) >= 20
    for method, path in asked:
        for cookie in cookies:
            sent = [("Host", HOST), ("Origin", ORIGIN), ("X-Stepscope", "1"), *cookie]
            answer = served.raw(method, path, sent, b"{}")
            assert (answer.status, answer.slug) == (401, "no-session"), (method, path, cookie)
    assert served.raw("GET", f"/api/catalog?token={served.access.token}", [("Host", HOST)]).status == 401


def test_the_token_is_exchanged_for_a_cookie(served: Served) -> None:
    answer = served.post("/api/session", {"token": served.access.token})
    assert answer.status == 200
    cookie = answer.header("set-cookie")
    name, _, rest = cookie.partition("=")
    assert name == f"stepscope_{PORT}"
    value, *flags = rest.split("; ")
    assert sorted(flags) == ["HttpOnly", "Path=/", "SameSite=Strict"]
    assert len(value) >= 43
    assert served.access.token not in cookie + answer.body.decode()
    sent = [("Host", HOST), ("Cookie", f"other=1; {name}={value} ; more=2")]
    assert served.raw("GET", "/api/schema", sent).status == 200


@pytest.mark.parametrize(
    "given", [None, "", 1, True, [], {}, "x", "é" * 43, "\ud800", ["token"], {"token": 1}, "A" * 10_000]
)
def test_nothing_else_is_a_token(served: Served, given: object) -> None:
    answer = served.post("/api/session", {"token": given})
    assert (answer.status, answer.slug) in ((401, "no-session"), (400, "request-odd"))
    assert not [one for one in answer.headers if one[0] == "set-cookie"]
    near = served.access.token[:-1] + ("A" if served.access.token[-1] != "A" else "B")
    assert served.post("/api/session", {"token": near}).status == 401


def test_tokens_and_sessions_are_random_and_sessions_are_few() -> None:
    made = {Access(PORT).token for _ in range(50)}
    assert len(made) == 50
    assert min(map(len, made)) >= 43  # 256 bits
    access = Access(PORT)
    sessions = [access.exchange(access.token) for _ in range(MOST_SESSIONS + 1)]
    assert len(set(sessions)) == len(sessions)

    def works(value: str) -> bool:
        try:
            access.need_session({"headers": [(b"cookie", f"{access.cookie}={value}".encode())]})
        except Refused:
            return False
        return True

    assert [works(one) for one in sessions] == [False] + [True] * MOST_SESSIONS


def test_every_answer_has_the_headers(served: Served) -> None:
    wanted = {key.decode(): value.decode() for key, value in HEADERS}
    assert "default-src 'none'" in wanted["content-security-policy"]
    assert "unsafe" not in wanted["content-security-policy"]
    answers = [served.get(path.replace("{id}", "1")) for _, path, _ in API]
    answers += [served.get(path) for path in ("/", "/nothing", "/api/timeline?x=1", "//", "/%2e%2e")]
    answers += [
        served.raw("GET", "/", [("Host", "evil.example")]),
        served.raw("GET", "/api/names", [("Host", HOST)]),
    ]
    answers += [
        served.sql("SELECT 1 AS a"),
        served.sql("nonsense"),
        served.post("/api/session", {"token": ""}),
    ]
    answers += [served.post("/api/sql/download", {"sql": "SELECT 1 AS a", "form": "csv"})]
    assert {answer.status for answer in answers} >= {200, 400, 401, 403, 404, 405}
    for answer in answers:
        for name, value in wanted.items():
            assert answer.header(name) == value
        tagged = any(name == "etag" for name, _ in answer.headers)
        assert answer.header("cache-control") == ("no-cache" if tagged else "no-store")
        assert not [name for name, _ in answer.headers if name.startswith("access-control-")]
        assert served.access.token.encode() not in answer.body


def test_methods_and_routes_that_are_none(served: Served) -> None:
    known = {(method, path) for method, path, _ in API}
    for method, path, _ in API:
        other = "POST" if method == "GET" else "GET"
        if (other, path) in known:
            continue
        headers = [("Host", HOST), ("Origin", ORIGIN), ("X-Stepscope", "1"), ("Cookie", served.cookie)]
        assert served.raw(other, path.replace("{id}", "1"), headers).status == 405
    assert served.get("/api/report/nothing").status == 404
    assert served.get("/api/catalog/").status == 404


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[]", b"1", b"null", b'{"sql":1}', b'{"sql":""}', b'{"sql":"SELECT 1","more":1}'),
        *(b'{"sql":"a","sql":"b"}', b"[" * 100_000, b'{"sql":NaN}', b'{"sql":"\\ud800"}', b" " * (2 << 20)),
        b"\xff",
    ],
    ids=range(14),
)
def test_odd_bodies_are_refused(served: Served, body: bytes) -> None:
    headers = [
        ("Host", HOST),
        ("Origin", ORIGIN),
        ("X-Stepscope", "1"),
        ("Content-Type", "application/json"),
        ("Cookie", served.cookie),
    ]
    answer = served.raw("POST", "/api/sql", headers, body)
    assert answer.status in (400, 413)
    assert answer.slug == "request-odd"
    assert json.loads(answer.body)
