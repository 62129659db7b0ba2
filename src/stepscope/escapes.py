"""Characters that a terminal acts on instead of showing, and text in which they are escapes.

Control characters move the cursor or set the title of a terminal; bidirectional marks make a name read as
another one; some characters cannot be seen at all. Files and pipes get them as they are, since data must
survive a round trip. A terminal gets escapes. What no encoder takes is replaced (`printable`).

hidden_characters.txt lists these characters, for the page as well.
"""

import re
from pathlib import Path
from typing import Any, TextIO

_LISTED = Path(__file__).with_name("hidden_characters.txt").read_text(encoding="ascii").splitlines()
_CHARACTERS = "".join(
    "-".join(chr(int(end, 16)) for end in line.split(" ")[0].split("-")) for line in _LISTED
)
_HIDDEN = re.compile(f"[{_CHARACTERS}]")
_LINES = re.compile(f"(?:\n|\r\n|\t)|([{_CHARACTERS}])")
_STYLED = re.compile(f"(?:\n|\r\n|\t|\x1b\\[[0-9;]*m)|([{_CHARACTERS}])")


def printable(text: str) -> str:
    """Text that any encoder takes: names of files may hold bytes that are not UTF-8."""
    return (
        text.encode("utf-8", "surrogateescape")
        .decode("utf-8", "replace")
        .replace("\x00", "\N{REPLACEMENT CHARACTER}")
    )


def escaped(text: str) -> str:
    r"""`text` on one line: hidden characters as \n, \x1b or \u{202e}."""
    # What can be printed hides nothing; nearly every name can.
    return text if text.isprintable() else _HIDDEN.sub(lambda found: _escape(found.group()), text)


def escaped_lines(text: str, *, styles: bool = False) -> str:
    """`text` of several lines: line ends and tabs stay, and with `styles` the colours of ANSI as well."""
    return (_STYLED if styles else _LINES).sub(
        lambda found: _escape(found[1]) if found[1] else found[0], text
    )


def escaped_json(text: str) -> str:
    r"""JSON whose hidden characters are \u escapes; it is still JSON, with the same values."""
    return _LINES.sub(lambda found: _json_escape(found) if found[1] else found[0], text)


def _escape(character: str) -> str:
    code = ord(character)
    named = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"}.get(code)
    return named or (f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}")


def _json_escape(found: re.Match[str]) -> str:
    units = found.group().encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2))


class Visible:
    """A terminal's stream that gets escapes. styles: whether ANSI colours pass, for text that we colour."""

    def __init__(self, stream: TextIO, *, styles: bool) -> None:
        self._stream, self._styles = stream, styles

    def write(self, text: str) -> int:
        """Writes the text, hidden characters escaped."""
        self._stream.write(escaped_lines(text, styles=self._styles))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
