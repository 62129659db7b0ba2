"""Text that comes from files, made safe to show: names in a recording may hold anything.

Control characters would move the cursor or set the title of a terminal; bidirectional marks would make
a name read as another one. Both are shown as escapes, so that what is seen is what is there.
"""

from __future__ import annotations

import re

from stepscope.patterns import late

_HIDDEN = late(
    "[\x00-\x1f\x7f-\x9f"  # C0 and C1: escape sequences, carriage returns, NUL
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"  # zero-width, line separators, bidirectional
    "\ud800-\udfff\ufff9-\ufffb"  # lone surrogates cannot be encoded
    "\U000e0000-\U000e007f]"  # tags: invisible text
)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    named = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"}.get(code)
    return named or (f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}")


def plain(text: str, most: int | None = None) -> str:
    """`text` on one line, hidden characters as escapes; cut in the middle to `most` characters."""
    # Cut before escaping: a name of many megabytes must not be copied twice.
    if most is not None and len(text) > most * 2 + 16:
        text = f"{text[:most]}…{text[-most:]}"
    # What can be printed hides nothing; nearly every name can.
    return shorten(text if text.isprintable() else _HIDDEN.sub(_escape, text), most)


def shorten(text: str, most: int | None) -> str:
    """`text`, cut in the middle with … to `most` characters: op names differ at both ends."""
    if most is None or len(text) <= most:
        return text
    if most <= 1:
        return "…"[:most]
    tail = (most - 1) * 2 // 5
    return f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"


def block(text: str) -> str:
    """Text of several lines: the line ends stay, every other hidden character becomes an escape."""
    return "\n".join(plain(line.rstrip("\r")).replace("\\t", "    ") for line in text.split("\n"))
