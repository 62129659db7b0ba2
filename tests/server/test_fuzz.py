"""Anything may be asked: an answer comes, errors have three parts, and none is the server's own fault."""

import json
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepscope.server import graphs, model, whatif
from stepscope.server.app import API
from tests.server.asking import HOST, ORIGIN, Answer, Served
from tests.tiers import cases

GETS = [path for method, path, _ in API if method == "GET"]
POSTS = [path for method, path, _ in API if method == "POST"]
numbers = st.one_of(
    st.integers(-(2**65), 2**65).map(str),
    st.sampled_from(["", "-0", "00", "1e3", "NaN", "0x10", " 1", "1 ", "-9223372036854775808", "٣"]),
    st.integers(-5, 10**13).map(str),
)
listed = st.lists(st.integers(-1, 40), max_size=8).map(lambda one: ",".join(map(str, one)))
texts = st.one_of(numbers, st.text(max_size=40), listed)
SQL = """SELECT FROM slice track name dur_ps , ( ) * 1 'x' AS a WHERE = AND OR NOT NULL count(*) GROUP BY
ORDER LIMIT 5 JOIN USING id OVER PIVOT ON EXPLAIN DESCRIBE WITH ; -- /* $1 ? " ' UNION ALL UPDATE
EXTENSIONS COPY TO"""
WORDS = tuple(SQL.split())
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "HEAD", "X")
NAMES = ("Host", "Origin", "Cookie", "X-Stepscope", "Content-Type", "Content-Length", "Range")
fuzzy = settings(
    max_examples=cases(10, 80),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def check(answer: Answer) -> None:
    """The answer is one, and not the server's fault."""
    assert 200 <= answer.status < 500, answer
    if answer.status >= 400:
        assert answer.slug
        assert b"Traceback" not in answer.body


@fuzzy
@given(
    path=st.sampled_from(GETS),
    id_=texts,
    given_=st.dictionaries(
        st.sampled_from(["from", "to", "px", "tracks", "q", "limit", "graph", "a", "b", "x"]),
        texts,
        max_size=6,
    ),
)
def test_any_query_string(served: Served, path: str, id_: str, given_: dict[str, str]) -> None:
    query = "&".join(f"{key}={quote(value, errors='replace')}" for key, value in given_.items())
    check(served.get(f"{path.replace('{id}', quote(id_, errors='replace'))}?{query}"))


@fuzzy
@given(
    path=st.sampled_from(["timeline", "range", "counters"]),
    first=st.integers(-(2**63), 2**63 - 1),
    until=st.integers(-(2**63), 2**63 - 1),
    px=st.integers(1, 16_384),
    tracks=st.lists(st.integers(0, 9), min_size=1, unique=True),
)
def test_any_window(served: Served, path: str, first: int, until: int, px: int, tracks: list[int]) -> None:
    listed = ",".join(map(str, tracks))
    answer = served.get(f"/api/{path}?from={first}&to={until}&px={px}&tracks={listed}")
    check(answer)
    assert (answer.status == 200) == (first < until)


@fuzzy
@given(text=st.text(min_size=1, max_size=60))
def test_any_search(served: Served, text: str) -> None:
    check(served.get(f"/api/search?limit=5&q={quote(text, errors='replace')}"))


@pytest.mark.repeats("values of each key are drawn beside it")
@fuzzy
@given(query=st.binary(max_size=80), path=st.sampled_from(GETS))
def test_any_bytes_as_a_query_string(served: Served, query: bytes, path: str) -> None:
    check(served.get(f"{path.replace('{id}', '1')}?{query.decode('latin-1')}"))


@fuzzy
@given(
    path=st.sampled_from(POSTS),
    body=st.one_of(
        st.binary(max_size=200),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(st.sampled_from(["sql", "form", "token", "x"]), inner, max_size=4)
            ),
            max_leaves=8,
        ).map(lambda value: json.dumps(value).encode()),
    ),
)
def test_any_body(served: Served, path: str, body: bytes) -> None:
    headers = [("Host", HOST), ("Origin", ORIGIN), ("X-Stepscope", "1"), ("Cookie", served.cookie)]
    check(served.raw("POST", path, [*headers, ("Content-Type", "application/json")], body))


KEYS: dict[str, tuple[str, ...]] = {
    "/api/session": ("token",),
    "/api/graph": graphs.LEVEL_KEYS,
    "/api/reload": (),
    "/api/add": ("number",),
    "/api/export": (),
    "/api/pipeline/whatif": whatif.KEYS,
    "/api/model": model.KEYS,
    "/api/sql": ("sql",),
    "/api/sql/download": ("sql", "form"),
}
"""What each route takes, so that odd values get past the look at the keys."""
values = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.sampled_from(["scope", "graph", "csv", "a/b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["number", "width", "work", "max_depth", "select", "order_by", "-x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


def test_the_keys_of_every_route_are_known() -> None:
    assert set(KEYS) == set(POSTS)


@fuzzy
@given(path=st.sampled_from(POSTS), data=st.data())
def test_any_value_of_a_key(served: Served, path: str, data: st.DataObject) -> None:
    check(served.post(path, {key: data.draw(values, label=key) for key in KEYS[path]}))


@fuzzy
@given(
    path=st.sampled_from(["search", "way"]), text=st.text(min_size=1, max_size=40), other=st.text(max_size=9)
)
def test_any_name_of_a_node(served: Served, path: str, text: str, other: str) -> None:
    given_ = {"q": text} if path == "search" else {"from": text, "to": other}
    query = "&".join(f"{key}={quote(value, errors='replace')}" for key, value in given_.items())
    check(served.get(f"/api/graph/{path}?graph=0&{query}"))


@fuzzy
@given(
    sql=st.one_of(
        st.text(max_size=80),
        st.lists(
            st.sampled_from(
                [
                    "SELECT",
                    "FROM",
                    "slice",
                    "track",
                    "name",
                    "dur_ps",
                    ",",
                    "(",
                    ")",
                    "*",
                    "1",
                    "'x'",
                    "AS",
                    "a",
                    "WHERE",
                    "=",
                    "AND",
                    "OR",
                    "NOT",
                    "NULL",
                    "count(*)",
                    "GROUP",
                    "BY",
                    "ORDER",
                    "LIMIT",
                    "5",
                    "JOIN",
                    "USING",
                    "id",
                    "OVER",
                    "PIVOT",
                    "ON",
                    "EXPLAIN",
                    "DESCRIBE",
                    "WITH",
                    ";",
                    "--",
                    "/*",
                    "$1",
                    "?",
                    '"',
                    "'",
                    "UNION",
                    "ALL",
                ]
            ),
            max_size=14,
        ).map(" ".join),
    ),
    form=st.sampled_from([None, "csv", "json", "parquet", "x"]),
)
def test_any_sql(served: Served, sql: str, form: str | None) -> None:
    if form is None:
        check(served.post("/api/sql", {"sql": sql}))
    else:
        check(served.post("/api/sql/download", {"sql": sql, "form": form}))


@fuzzy
@given(
    method=st.sampled_from(
        ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "HEAD", "X"]
    ),
    target=st.text(st.characters(max_codepoint=255), max_size=60),
    headers=st.lists(
        st.tuples(
            st.sampled_from(NAMES),
            st.text(st.characters(max_codepoint=255), max_size=60) | st.sampled_from([HOST, ORIGIN, "1"]),
        ),
        max_size=8,
    ),
)
def test_any_request(served: Served, method: str, target: str, headers: list[tuple[str, str]]) -> None:
    check(served.raw(method, target, headers))
    check(served.raw(method, f"/{target}", [("Host", HOST), ("Cookie", served.cookie), *headers]))
