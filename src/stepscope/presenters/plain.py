"""Text from files, made safe to show and cut to a length: names in a recording may hold anything."""

from stepscope import kernel_names
from stepscope.escapes import escaped
from stepscope.kernel_names import shorten as shorten


def plain(text: str, most: int | None = None) -> str:
    """`text` on one line, hidden characters as escapes; cut to `most` characters, as shorten() does."""
    if most is not None:
        text = kernel_names.shortened(text, most) or text
    # Cut before escaping: a name of many megabytes must not be copied twice.
    if most is not None and len(text) > most * 2 + 16:
        text = f"{text[:most]}…{text[-most:]}"
    return shorten(escaped(text), most)


def block(text: str) -> str:
    """Text of several lines: the line ends stay, every other hidden character becomes an escape."""
    return "\n".join(plain(line.rstrip("\r")).replace("\\t", "    ") for line in text.split("\n"))
