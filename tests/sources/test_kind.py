"""What a file that is no recording is called in the list of what was passed over."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.sources.head import kind

JSON = "JSON file without trace events"

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(values) | st.dictionaries(st.text(max_size=4), values),
    st.sampled_from([None, 1]),
    st.integers(0, 2000),
)
def test_every_json_document_is_one_however_it_is_cut(document: object, indent: int | None, cut: int) -> None:
    text = json.dumps(document, indent=indent, allow_nan=False) if _finite(document) else "[]"
    assert kind(text.encode()[: max(cut, 1)], "x.txt") == JSON


def _finite(document: object) -> bool:
    try:
        json.dumps(document, allow_nan=False)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    "text",
    [
        "[tool.ruff]\nline-length = 110\n",
        "[[bin]]\nname = 'graph'\n",
        '["quoted".key]\nx = 1\n',
        "[section]\nkey=value\n",
        "[2026-11-21 15:33:24] started\n",
        "{% if x %}\n",
        "[x](link) is markdown\n",
    ],
)
def test_other_texts_that_begin_with_a_bracket_are_texts(text: str) -> None:
    assert kind(text.encode(), "pyproject.toml") == "text file"
