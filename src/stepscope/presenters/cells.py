"""Columns of a terminal: how wide text is, and the one way in which tables are laid out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from stepscope.presenters.plain import shorten

Paint = Callable[[int, str], str]
"""Gives the text of a column (its number) a style."""


SENTENCE_WIDTH = 110
"""Columns of a sentence: longer lines are hard to read."""


def cells(text: str) -> int:
    """Columns that `text` takes on a terminal: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    from wcwidth import wcswidth, wcwidth

    width = wcswidth(text)
    # Below 0 where a character is none to show.
    return width if width >= 0 else sum(max(wcwidth(letter), 0) for letter in text)


_JOB, _REPLICA = "/job:", "/replica:0/"
_CALLS = ("StatefulPartitionedCall/", "PartitionedCall/")
"""A prefix that TensorFlow gives to the names of all ops of a function, and that distinguishes none of
them."""


def shorten_cells(text: str, most: int) -> str:
    """`text` cut in the middle to `most` columns. The calls around an op give way before its name does, and
    in names of devices what all of them have before the number of the process does."""
    if cells(text) <= most:
        return text
    if text.startswith(_JOB) and _REPLICA in text:
        return shorten_cells(text.replace(_REPLICA, "/", 1).replace("/device:", "/", 1), most)
    if text.startswith(_CALLS):
        return shorten_cells("…/" + text.partition("/")[2], most)
    length = most
    while length > 0 and cells(cut := shorten(text, length)) > most:
        length -= 1
    return cut if length > 0 else ""


_AROUND = 12
"""Characters that are shown before a change, where a line is too long to be shown whole."""


def cut_around_change(before: str, after: str, most: int) -> tuple[str, str]:
    """Two versions of a line, each cut to `most` columns so that what differs is shown."""
    if max(cells(before), cells(after)) <= most:
        return before, after
    pairs = enumerate(zip(before, after, strict=False))
    same = next((at for at, (old, new) in pairs if old != new), min(len(before), len(after)))
    begin = max(same - max(min(_AROUND, most // 4), 1), 0)
    return _cut_from(before, begin, most), _cut_from(after, begin, most)


def _cut_from(text: str, begin: int, most: int) -> str:
    """`text` from a character on, and from there as much as finds room; an ellipsis where something is left
    out."""
    shown = ("…" if begin else "") + text[begin:]
    if cells(shown) <= most:
        return shown
    while shown and cells(shown) >= most:
        shown = shown[:-1]
    return f"{shown}…"


def fit(widths: Sequence[int], room: int, least: Sequence[int]) -> list[int]:
    """Widths of the columns that fit into `room` with two blanks between them: the widest give way
    first, none below its least width; the columns at the end that still find no room are left out."""
    least = [min(pair) for pair in zip(widths, least, strict=True)]
    fitted = [max(least[i], min(w, room)) for i, w in enumerate(widths)]
    while len(fitted) > 1 and sum(least[: len(fitted)]) + 2 * (len(fitted) - 1) > room:
        fitted.pop()
    excess = sum(fitted) + 2 * (len(fitted) - 1) - room
    while excess > 0:
        spare = [w - least[i] for i, w in enumerate(fitted)]
        if not any(spare):
            break
        widest = max(w for i, w in enumerate(fitted) if spare[i])
        fitted[next(i for i, w in enumerate(fitted) if w == widest and spare[i])] -= 1
        excess -= 1
    return fitted


def room_of_name(room: int) -> int:
    """Cells that the first column of a row keeps: it says what the row is about, and the last give way."""
    return room // 4


def wrap(text: str, width: int, *, cut: bool = True) -> list[str]:
    """`text` on lines of at most `width` columns, broken at blanks. Words that are longer are cut, or stick
    out."""
    lines, line, used = [], "", 0
    for word in filter(None, text.split(" ")):
        size = cells(word)
        if line and used + 1 + size <= width:
            line, used = f"{line} {word}", used + 1 + size
            continue
        lines += [line] if line else []
        while cut and size > width:
            at = len(word)
            while at > 1 and cells(word[:at]) > width:
                at -= max((cells(word[:at]) - width) // 2, 1)
            lines.append(word[: max(at, 1)])
            word = word[max(at, 1) :]
            size = cells(word)
        line, used = word, size
    return [*lines, line] if line or not lines else lines


class Grid:
    """Columns of known widths, two blanks apart. right: those whose text ends at their right edge."""

    def __init__(self, widths: Sequence[int], right: Sequence[bool]) -> None:
        self.widths, self._right = list(widths), list(right)

    @classmethod
    def fitting(cls, rows: Sequence[Sequence[str]], right: Sequence[bool]) -> Grid:
        """Columns as wide as their widest text."""
        return cls([max(map(cells, column)) for column in zip(*rows, strict=True)], right)

    @property
    def width(self) -> int:
        """Cells of a whole row."""
        return sum(self.widths) + 2 * (len(self.widths) - 1)

    def row(self, texts: Sequence[str], paint: Paint | None = None, *, cut: bool = True) -> str:
        """A line; text that is too long is cut in its middle, or sticks out. Texts beyond the last column
        are left out."""
        parts = []
        for i, width in enumerate(self.widths):
            text = shorten_cells(texts[i], width) if cut else texts[i]
            blank = " " * (width - cells(text))
            shown = paint(i, text) if paint is not None else text
            parts.append(blank + shown if self._right[i] else shown + blank)
        return "  ".join(parts).rstrip()

    def lines(self, texts: Sequence[str], paint: Paint | None = None) -> Iterator[str]:
        """A row whose texts are wrapped within their columns."""
        columns = [wrap(text, width) for text, width in zip(texts, self.widths, strict=False)]
        for k in range(max(map(len, columns), default=0)):
            yield self.row([column[k] if k < len(column) else "" for column in columns], paint)
