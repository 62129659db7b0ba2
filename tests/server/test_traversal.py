"""No request reads a file: routes take numbers and names from a list, and nothing is joined to a path."""

import itertools

import pytest

from stepscope.server import assets
from tests.server.asking import HOST, Served

UPS = (
    *("../", "..\\", "..;/", "....//", "....\\\\", "%2e%2e/", "%2e%2e%2f", "..%2f", "..%5c", "%2e%2e%5c"),
    *("%252e%252e%252f", "..%252f", "%c0%ae%c0%ae/", "%c0%ae%c0%ae%c0%af", "..%c0%af", "..%c1%9c"),
    *("%uff0e%uff0e%u2215", "..%00/", ".%2e/", "%2e./", "..%0d%0a/", "..//", "./../", "/../", "\\..\\", "~/"),
)
TARGETS = (
    "etc/passwd",
    "pyproject.toml",
    "src/stepscope/server/access.py",
    "proc/self/environ",
    "C:/boot.ini",
)
ABSOLUTE = (
    *(
        "/etc/passwd",
        "//etc/passwd",
        "///etc/passwd",
        "file:///etc/passwd",
        "/%2fetc/passwd",
        "/%2e/etc/passwd",
    ),
    *(
        "//evil.example/share",
        "\\\\evil.example\\share",
        "/\\evil.example",
        "/proc/self/environ",
        "/dev/stdin",
    ),
    *("/index.html/../../app.py", "/index.html%00.js", "/index.html/", "/INDEX.HTML", "/index.html;a=b"),
    *("/assets/", "/assets/index.html", "/__init__.py", "/app.py", "/assets/../app.py", "/.git/config"),
    *("/.", "/..", "/...", "/%2e", "/%2e%2e", "/%252e%252e", "/%00", "/%0a", "/ ", "/%20", "/*", "/?"),
    *("/con", "/nul", "/aux.js", "/index.html::$DATA", "/%ff", "/%c0%80", "/‮", "/\x00", "/a\nb"),
)
PAYLOADS = tuple(
    dict.fromkeys([*(up * n + to for up, to, n in itertools.product(UPS, TARGETS, (1, 8))), *ABSOLUTE])
)
PLACES = ("/{}", "/api/{}", "/api/slice/{}", "/api/report/{}", "/api/names/{}", "/api/catalog?run={}")
PLACES += (
    "/api/timeline?from=0&to=1&px=1&tracks={}",
    "/api/search?limit=1&q={}",
    "/api/range?from={}&to=1&tracks=0",
)
SIGNS = (b"root:x:", b"[build-system]", b"class StepscopeError", b"[boot loader]", b"HOME=")


def test_there_are_enough() -> None:
    assert len(PAYLOADS) >= 250


@pytest.mark.parametrize("place", PLACES)
def test_no_payload_reads_a_file(served: Served, place: str) -> None:
    page = served.get("/").body
    for payload in PAYLOADS:
        target = place.format(payload).encode("utf-8").decode("latin-1")
        answer = served.get(target)
        assert answer.status in (200, 400, 401, 403, 404), (target, answer.status)
        assert not any(sign in answer.body for sign in SIGNS), target
        if answer.status == 200:
            assert answer.body == page or (place.startswith("/api/search") or "?run=" in place), target


def test_the_manifest_has_the_files_of_the_folder_and_no_others(tmp_path) -> None:
    folder = tmp_path / "assets"
    folder.mkdir()
    (tmp_path / "secret.js").write_text("secret")
    (folder / "index.html").write_text("<p>page")
    (folder / "app.js").write_text("run()")
    (folder / "app.css").write_text("p{}")
    (folder / "notes.txt").write_text("not of the page")
    (folder / "link.js").symlink_to(tmp_path / "secret.js")
    found = assets.manifest(folder)
    assert set(found) == {"/", "/index.html", "/app.js", "/app.css"}
    assert found["/"] == found["/index.html"]
    assert found["/app.js"].media_type.startswith("text/javascript")
    known = found["/app.js"].tag
    assert known != found["/app.css"].tag
    (folder / "app.js").write_text("run(1)")
    assert assets.manifest(folder)["/app.js"].tag != known


def test_without_a_built_page_there_is_one_that_says_so(tmp_path) -> None:
    found = assets.manifest(tmp_path / "nothing")
    assert set(found) == {"/"}
    assert b"The page is not built" in found["/"].content


def test_the_page_is_served_without_a_session(served: Served) -> None:
    for path, asset in served.assets.items():
        answer = served.raw("GET", path, [("Host", HOST)])
        assert answer.status == 200
        assert answer.body == asset.content
        assert answer.header("content-type") == asset.media_type


def test_browsers_keep_the_files_and_ask_whether_they_changed(served: Served) -> None:
    for path, asset in served.assets.items():
        first = served.raw("GET", path, [("Host", HOST)])
        assert first.header("cache-control") == "no-cache"
        tag = first.header("etag")
        for known in (tag, f'"another", W/{tag}', "*"):
            again = served.raw("GET", path, [("Host", HOST), ("If-None-Match", known)])
            assert (again.status, again.body, again.header("etag")) == (304, b"", tag)
            assert again.header("cache-control") == "no-cache"
            assert again.header("content-security-policy")
        changed = served.raw("GET", path, [("Host", HOST), ("If-None-Match", '"another"')])
        assert (changed.status, changed.body) == (200, asset.content)
