"""The SQL library: base views, analyses and findings, each one documented SELECT in a file. `header` has the
grammar of these files."""

import json
from functools import cache, lru_cache
from pathlib import Path

from stepscope.engines import NeededRows, Needs
from stepscope.errors import QueryError
from stepscope.library.header import Entry as Entry
from stepscope.library.header import HeaderError, Kind, parse

_FOLDERS: dict[Kind, str] = {"base": "base", "analysis": "analyses", "finding": "findings"}


def names(kind: Kind | None = None) -> tuple[str, ...]:
    """Names of the entries of a kind, or of all, in alphabetical order within their kind."""
    return tuple(name for name, found in _files().items() if kind in (None, found[0]))


def entry(name: str) -> Entry:
    """The entry called `name` (a finding also by its slug). KeyError when there is none."""
    name = name if name in _files() else name.replace("-", "_")
    kind, path = _files()[name]
    return _read(kind, path)


def named(name: str) -> Entry:
    """The analysis or finding that a user means by a name. QueryError with those that are near it."""
    known = names("analysis") + names("finding")
    if (same := name.replace("-", "_")) in known:
        return entry(same)
    from difflib import get_close_matches

    near = get_close_matches(name, known, 3)
    raise QueryError(
        f"The library has no analysis called {name}",
        seen=f"near it: {', '.join(near)}" if near else f"{len(known)} analyses and findings",
        todo=f"did you mean @{near[0]}? `stepscope docs analyses` lists them all"
        if near
        else "`stepscope docs analyses` lists them",
    )


def sql(name: str) -> str:
    """The SELECT of an entry."""
    return entry(name).sql


def entries(kind: Kind | None = None) -> tuple[Entry, ...]:
    """All entries of a kind, or of all kinds."""
    return tuple(entry(name) for name in names(kind))


@lru_cache(maxsize=1)
def views() -> tuple[Entry, ...]:
    """The base views in an order in which each one comes after those that it reads."""
    waiting = {found.name: found for found in entries("base")}
    ordered: list[Entry] = []
    while waiting:
        ready = [e for e in waiting.values() if not any(read in waiting for read in e.reads)]
        if not ready:
            raise HeaderError(f"base views read each other in a circle: {', '.join(sorted(waiting))}")
        for found in ready:
            ordered.append(waiting.pop(found.name))
    return tuple(ordered)


@lru_cache(maxsize=1)
def _files() -> dict[str, tuple[Kind, Path]]:
    found: dict[str, tuple[Kind, Path]] = {}
    for kind, folder in _FOLDERS.items():
        for path in sorted(path for here in __path__ for path in Path(here, folder).glob("*.sql")):
            if path.stem in found:
                raise HeaderError(f"{path.name}: a second entry of that name")
            found[path.stem] = (kind, path)
    return found


@cache
def _needs() -> dict[str, list[list[str]]]:
    text = Path(__file__).with_name("needs.json").read_text(encoding="utf-8")
    found: dict[str, list[list[str]]] = json.loads(text)
    return found


def needs(name: str) -> Needs:
    """Rows without which an analysis, a finding or a statement that Python runs has none, by its name.
    tests/library/needs.py finds them."""
    return frozenset(frozenset(map(_need, clause)) for clause in _needs().get(name, ()))


def _need(text: str) -> NeededRows:
    table, _, where = text.partition(" WHERE ")
    return NeededRows(table, where)


@cache
def _read(kind: Kind, path: Path) -> Entry:
    found = parse(kind, path.stem, path.read_text(encoding="utf-8"))
    return found._replace(needs=needs(path.stem))
