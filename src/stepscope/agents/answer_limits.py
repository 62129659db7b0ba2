"""Answers that fit the window of an agent: at most 4 kB of JSON, and how to get the rest."""

from bisect import bisect_right
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
    rows: Sequence[Any],
    *,
    offset: int = 0,
    limit: int | None = None,
    complete: bool = True,
    more: Callable[[int], str],
) -> dict[str, Any]:
    """The answer with as many of the rows under `key`, from `offset` on and up to `limit`, as have room.

    complete: whether there are no rows but these. more: how to ask for those from a place on. `truncated`
    says that something is missing, `more` how to get it. Texts of a single row that is too large are cut, and
    end with "…".
    """
    items = rows[offset:] if limit is None else rows[offset : offset + limit]
    total = len(rows) if complete else None

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

    counts = range(1, len(items) + 1)
    fit = bisect_right(counts, MOST_BYTES, key=lambda count: size(built(items[:count], False)))
    if fit or not items:
        return built(items[:fit], False)
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
