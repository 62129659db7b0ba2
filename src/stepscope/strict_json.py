"""The one reader of JSON: of what stepscope wrote itself (manifests, plans, marks, the cache, captures), of
what other programs wrote, and of texts in tables.

All of it lies where others can change it, so it is read as strangers'. Python's reader takes what is
not JSON (NaN, two equal keys), makes infinity of 1e400, reads UTF-16, and raises four kinds of errors; here
every oddity is OddJson, which the caller turns into an error of its own, or, where a text is one of many, a
value of the caller's.
"""

import functools
import json
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, UnionType
from typing import Any, NoReturn, TypeVar, get_args, get_origin, get_type_hints

MOST_BYTES = 64 << 20
"""Size of the largest file that is read; ours have a few KB."""
MOST_DEPTH = 64
"""Arrays and objects within each other; ours have five."""
MOST_FOREIGN_DEPTH = 256
"""The same in what other programs wrote: as deep as the core keeps arguments."""

_MAY_NOT_FIT = re.compile("[0-9]{19}")
"""Digits that every integer has which does not fit into 64 bits."""

T = TypeVar("T", bound=tuple[Any, ...])


class OddJson(ValueError):
    """Bytes that are not JSON as stepscope writes it; the message says why."""


def read(path: Path, most_bytes: int = MOST_BYTES) -> Any:
    """The value in a file. OddJson; OSError when it cannot be read. Never waits for a pipe to be filled."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OddJson("it is not a plain file")
        if status.st_size > most_bytes:
            raise OddJson(f"it has {status.st_size:,} bytes, more than {most_bytes:,}")
        return parse(file.read(most_bytes))


def parse(data: bytes, *, lenient: bool = False) -> Any:
    """The value of JSON text in UTF-8. OddJson when there is anything odd.

    lenient: for what a user's program had a part in. Numbers that do not fit into 64 bits, infinite ones
    and those that are none become None; half of a surrogate pair becomes U+FFFD; the last of equal keys
    counts.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise OddJson(f"byte {error.start:,} is not UTF-8") from None
    return _value(text, lenient, MOST_DEPTH)


def foreign(data: bytes) -> Any:
    """The value of JSON that another program wrote, as lenient as parse() can be. A byte order mark is passed
    over, and bytes that are not UTF-8 become U+FFFD. OddJson when it is no JSON or too deep."""
    return _value(data.decode("utf-8-sig", "replace"), True, MOST_FOREIGN_DEPTH)


def value(text: str | None) -> Any:
    """The value of a text that a recording or a table holds, read as foreign(); None where there is none, and
    where it is no JSON."""
    try:
        return _value(text, True, MOST_FOREIGN_DEPTH) if text else None
    except OddJson:
        return None


def leading(text: str) -> Any:
    """The value that a text begins with, whatever follows, read as value(); None where there is none."""
    try:
        return _lenient(text).raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None


def members(text: str | None) -> dict[str, Any]:
    """value() of an object; without members where it is anything else."""
    found = value(text)
    return found if isinstance(found, dict) else {}


def elements(text: str | None) -> list[Any]:
    """value() of an array; without elements where it is anything else."""
    found = value(text)
    return found if isinstance(found, list) else []


def _value(text: str, lenient: bool, depth: int) -> Any:
    try:
        found = (_lenient(text) if lenient else _STRICT).decode(text)
        if text.count("[") + text.count("{") > depth:
            _check_depth(found, depth)
        if "\\ud" in text or "\\uD" in text:
            found = _whole(found, lenient)
    except OddJson:
        raise
    except json.JSONDecodeError as error:
        raise OddJson(
            f"it is not JSON: {error.msg} (byte {len(error.doc[: error.pos].encode('utf-8', 'replace')):,})"
        ) from None
    except RecursionError:
        raise OddJson("it is nested too deeply") from None
    return found


def sealed(content: Mapping[str, Any]) -> bytes:
    """The text of an object, with a digest of what it says, so that damage does not become an answer."""
    return (json.dumps({**content, "digest": _digest(content)}, indent=1, sort_keys=True) + "\n").encode()


def unsealed(found: Any) -> dict[str, Any]:
    """The object without its digest. OddJson when it does not say what was written."""
    if not isinstance(found, dict):
        raise OddJson(f"{_shown(found)} instead of an object")
    content = {key: value for key, value in found.items() if key != "digest"}
    if found.get("digest") != _digest(content):
        raise OddJson("it does not say what was written")
    return content


def _digest(content: Mapping[str, Any]) -> str:
    import hashlib

    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def record(kind: type[T], found: object, parts: Mapping[str, object] = MappingProxyType({})) -> T:
    """A NamedTuple from an object with exactly its fields, each of the type that the annotation names.

    parts: fields that the caller has made already. OddJson when it is something else. Integers fit into 64
    bits and are not negative.
    """
    if not isinstance(found, dict):
        raise OddJson(f"{_shown(found)} instead of an object")
    wanted = _types_of(kind)
    if found.keys() != wanted.keys():
        name = sorted(found.keys() ^ wanted.keys())[0]
        raise OddJson(f"{name!r} is {'missing' if name in wanted else 'not a known field'}")
    for name, types in wanted.items():
        if name not in parts and not any(_is(found[name], fitting) for fitting in types):
            raise OddJson(f"{name!r} is {_shown(found[name])}")
    return kind(**{**found, **parts})


@functools.cache
def _types_of(kind: type) -> dict[str, tuple[type, ...]]:
    """The types that each field of a NamedTuple may have."""
    found = {}
    for name, hint in get_type_hints(kind).items():
        every = get_args(hint) if isinstance(hint, UnionType) else (hint,)
        found[name] = tuple(get_origin(type_) or type_ for type_ in every)
    return found


def _is(value: object, kind: type) -> bool:
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63
    return isinstance(value, kind)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


def _integer(text: str) -> int:
    number = int(text) if len(text) <= 20 else 1 << 64
    if not -(1 << 63) <= number < 1 << 64:
        raise OddJson(f"the number {text[:20]}… does not fit into 64 bits")
    return number


def _real(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise OddJson(f"the number {text[:40]} is too large")
    return number


def _constant(text: str) -> NoReturn:
    raise OddJson(f"{text} is not JSON")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise OddJson("a key appears twice")
    return found


def _real_or_none(text: str) -> float | None:
    try:
        return _real(text)
    except OddJson:
        return None


def _integer_or_none(text: str) -> int | None:
    try:
        return _integer(text)
    except OddJson:
        return None


_STRICT = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_float=_real, parse_int=_integer, parse_constant=_constant
)
_FITTING = json.JSONDecoder(parse_float=_real_or_none, parse_constant=lambda text: None)
_LENIENT = json.JSONDecoder(
    parse_float=_real_or_none, parse_int=_integer_or_none, parse_constant=lambda text: None
)


def _lenient(text: str) -> json.JSONDecoder:
    """The decoder of a stranger's text. One that looks at each integer takes twice as long: a profile has
    millions."""
    return _FITTING if _MAY_NOT_FIT.search(text) is None else _LENIENT


def _check_depth(found: Any, most: int) -> None:
    level = [found]
    for _ in range(most):
        inner = [value.values() if isinstance(value, dict) else value for value in level]
        level = [value for values in inner for value in values if isinstance(value, (dict, list))]
        if not level:
            return
    raise OddJson(f"it is nested deeper than {most} levels")


def _whole(value: Any, lenient: bool) -> Any:
    """The value with whole texts. Names of files that are not UTF-8 have their bytes as U+DC80 to U+DCFF."""
    if isinstance(value, str):
        try:
            value.encode("utf-8", "strict" if lenient else "surrogateescape")
        except UnicodeEncodeError:
            if not lenient:
                raise OddJson("a text has half of a surrogate pair") from None
            return _replaced(value)
        return value
    if isinstance(value, list):
        return [_whole(item, lenient) for item in value]
    if isinstance(value, dict):
        return {_whole(key, lenient): _whole(item, lenient) for key, item in value.items()}
    return value


def _replaced(text: str) -> str:
    return "".join("\N{REPLACEMENT CHARACTER}" if "\ud800" <= char <= "\udfff" else char for char in text)
