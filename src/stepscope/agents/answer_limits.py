"""Answers that fit the window of an agent: at most 4 kB of JSON, and how to get the rest."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from stepscope.server.console.rows import cell

MOST_BYTES = 4096
"""Of an answer, as UTF-8."""
_SHORTER = (1000, 400, 160, 60, 24)
"""Characters of a text, tried one after the other when a single item does not fit."""


def text(answer: Mapping[str, Any]) -> str:
    """An answer as JSON on one line. Whole numbers that a double would round are text; NaN is null."""
    return cell(dict(answer))


def size(answer: Mapping[str, Any]) -> int:
    """Bytes of an answer."""
    return len(text(answer).encode("utf-8", "surrogatepass"))


def fitted(
    answer: Mapping[str, Any],
    key: str,
    items: Sequence[Any],
    *,
    total: int | None,
    offset: int = 0,
    more: Callable[[int], str],
) -> dict[str, Any]:
    """The answer with as many of the items under `key` as have room.

    total: items that there are, from 0 on; None when that is not known. offset: the place of the first one.
    more: how to ask for those from a place on. `truncated` says that something is missing, `more` how to get
    it. Texts of a single item that is too large are cut, and end with "…".
    """

    def built(shown: Sequence[Any], cut: bool) -> dict[str, Any]:
        end = offset + len(shown)
        missing = total is None or end < total
        found: dict[str, Any] = {**answer, "total": total, "offset": offset, key: list(shown)}
        found["truncated"] = missing or cut
        if missing and shown:
            found["more"] = more(end)
        elif cut:
            found["more"] = "texts that end with … are cut; query parts of them with substr()"
        return found

    low, high = 0, len(items)
    while low < high:  # the most items that fit
        middle = (low + high + 1) // 2
        if size(built(items[:middle], False)) <= MOST_BYTES:
            low = middle
        else:
            high = middle - 1
    if low or not items:
        return built(items[:low], False)
    for most in _SHORTER:
        found = built([shortened(items[0], most)], True)
        if size(found) <= MOST_BYTES:
            return found
    return built([], True)


def shortened(value: Any, most: int) -> Any:
    """A value whose texts have at most so many characters."""
    if isinstance(value, str):
        return value if len(value) <= most else value[: most - 1] + "…"
    if isinstance(value, Mapping):
        return {shortened(str(key), most): shortened(item, most) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [shortened(item, most) for item in value[: max(1, most)]]
    return value


def shorten_texts(answer: dict[str, Any], most: int) -> dict[str, Any]:
    """The answer with shorter texts where its head alone is large."""
    for characters in (400, 200, 80, 30):
        if size(answer) <= most:
            return answer
        answer = {key: old if key == "handle" else shortened(old, characters) for key, old in answer.items()}
        answer["truncated_head"] = True
    return answer
