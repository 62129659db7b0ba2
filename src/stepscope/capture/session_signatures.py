"""Which runs of sessions are alike: by what they fetch, and whether the graph has grown in between."""

import weakref
from typing import Any, Dict, Iterator, Optional, Set, Tuple

from .loops import Site

MOST_SIGNATURES = 1000
"""Most different sets of fetches that are remembered for a session."""


class Sessions:
    """Numbers of sessions. One that runs what a closed one ran before goes on with its steps: an Estimator
    makes a session for each call of `train`."""

    def __init__(self) -> None:
        self._numbers: weakref.WeakKeyDictionary[Any, Dict[str, int]] = weakref.WeakKeyDictionary()
        self._latest: Dict[str, Tuple[Any, int]] = {}
        """A reference to the last session that began to run it, and its number."""
        self._next = 0

    def number(self, session: Any, asked: str) -> int:
        """The number of a session that runs something. asked: names of what is fetched."""
        try:
            known = self._numbers.setdefault(session, {})
        except TypeError:  # a session of the program's own kind
            return id(session)
        if asked not in known:
            if len(known) >= MOST_SIGNATURES or len(self._latest) >= MOST_SIGNATURES:
                return id(session)
            self._next += 1
            known[asked] = self._number_before(asked) or self._next
            self._latest[asked] = weakref.ref(session), known[asked]
        return known[asked]

    def _number_before(self, asked: str) -> Optional[int]:
        """The number of the session that ran it before, if that is closed."""
        if asked not in self._latest:
            return None
        reference, number = self._latest[asked]
        before = reference()
        return number if before is None or getattr(before, "_closed", False) else None


class Graphs:
    """Which runs make a session prepare its graph: for values that were not asked for before, or because
    the graph has grown."""

    def __init__(self) -> None:
        self._seen: weakref.WeakKeyDictionary[Any, Tuple[int, Set[str]]] = weakref.WeakKeyDictionary()
        self._lines: weakref.WeakKeyDictionary[Any, Dict[Site, Tuple[Set[str], str]]] = (
            weakref.WeakKeyDictionary()
        )
        """What the first run of a line fetched, by name, and its signature."""

    def asked(self, session: Any, fetches: Any, site: Site) -> str:
        """The signature of a run: where the graph has grown since the last one, that of the first run of the
        same line, if both fetch some of the same. A program that makes ops in its loop runs its step with
        them, and no run is like another."""
        whole = signature(fetches)
        try:
            before = self._seen.get(session, (None, None))[0]
            grown = before is not None and int(session.graph.version) != before
            lines = self._lines.setdefault(session, {})
        except (TypeError, AttributeError):  # a session of the program's own kind
            return whole
        if site not in lines:
            if len(lines) < MOST_SIGNATURES:
                lines[site] = set(_names(fetches)), whole
            return whole
        first, asked = lines[site]
        return whole if not grown or first.isdisjoint(_names(fetches)) else asked

    def prepared(self, session: Any, fetches: Any, feed_dict: Any) -> Tuple[Optional[int], bool, int]:
        """After a run: how many ops the graph had at the run before, whether it was prepared, and how many it
        has now."""
        try:
            before, known = self._seen.get(session, (None, set()))
            ops = int(session.graph.version)
            fed = signature(sorted(feed_dict, key=signature)) if feed_dict else ""
            asked = f"{signature(fetches)} {fed}"
            new = asked not in known
            if new and len(known) < MOST_SIGNATURES:
                known.add(asked)
            self._seen[session] = ops, known
        except (TypeError, AttributeError):  # a session of the program's own kind
            return None, False, 0
        return before, new or ops != before, ops


def _names(fetches: Any) -> Iterator[str]:
    """The names of all that is fetched."""
    if isinstance(fetches, (list, tuple)):
        for fetch in fetches:
            yield from _names(fetch)
    elif isinstance(fetches, dict):
        yield from _names(list(fetches.values()))
    else:
        yield signature(fetches)


def signature(fetches: Any) -> str:
    """Names of what is fetched, the same for the same fetches."""
    if isinstance(fetches, (list, tuple)):
        return "[" + ",".join(map(signature, fetches)) + "]"
    if isinstance(fetches, dict):
        return "{" + ",".join(signature(fetches[name]) for name in fetches) + "}"
    if isinstance(fetches, str):
        return fetches
    try:
        return str(fetches.name)
    except Exception:  # noqa: BLE001  a fetch of the program's own kind: its type will do
        return type(fetches).__name__
