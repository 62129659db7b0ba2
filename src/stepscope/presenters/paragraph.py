"""A sentence over several lines of a terminal."""

from __future__ import annotations

import io

from stepscope.presenters.cells import cells
from stepscope.presenters.plain import plain


def paragraph(
    text: str, out: io.StringIO, width: int, first: str, rest: str, used: int | None = None
) -> None:
    """Writes words that fit into `width` cells: the first line after `first`, later ones after `rest`.

    used: the cells of `first`, when it holds more than it shows (colours).
    """
    line, room = first, cells(first) if used is None else used
    is_empty = True
    for word in plain(text).split(" "):
        if not is_empty and room + 1 + cells(word) > width:
            out.write(line + "\n")
            line, room, is_empty = rest, cells(rest), True
        line += word if is_empty else f" {word}"
        room += cells(word) + (0 if is_empty else 1)
        is_empty = False
    out.write(line + "\n")
