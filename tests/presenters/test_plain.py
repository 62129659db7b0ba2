"""Names from recordings cannot move the cursor, hide themselves or fill the memory."""

from hypothesis import given
from hypothesis import strategies as st

from stepscope.presenters.plain import block, plain, shorten


def test_what_is_hidden_is_shown() -> None:
    assert plain("a\x1b[31mb\x00\r\n") == "a\\x1b[31mb\\x00\\r\\n"
    assert plain("\u202eevil\u2066") == "\\u{202e}evil\\u{2066}"
    assert plain("a\ud800b") == "a\\u{d800}b"
    assert plain("Größe 名前 👩‍🔬") == "Größe 名前 👩\u200d🔬"


@given(st.text(st.characters()))
def test_plain_text_is_one_line_that_can_be_encoded(text: str) -> None:
    shown = plain(text)
    shown.encode()
    assert len(shown.splitlines()) <= 1
    assert plain(shown) == shown


@given(st.text(), st.integers(min_value=1, max_value=30))
def test_a_cut_text_keeps_both_ends(text: str, most: int) -> None:
    shown = plain(text, most)
    assert len(shown) <= most
    if len(plain(text)) > most > 4:
        assert "…" in shown
        assert shown[0] == plain(text)[0]


def test_a_megabyte_is_cut_before_it_is_looked_at() -> None:
    assert len(plain("x" * 10_000_000, 100)) == 100
    assert shorten("abcdef", 4) == "ab…f"


def test_a_block_keeps_its_lines() -> None:
    assert block("SELECT\n\t1\r\n\x1b") == "SELECT\n    1\n\\x1b"
