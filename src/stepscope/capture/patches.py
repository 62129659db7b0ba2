"""Wrappers around functions of a framework, which can be taken off again."""

import functools
from typing import Any, Callable, List, Tuple


class Patches:
    """The replaced attributes, and their replacements."""

    def __init__(self) -> None:
        self._done: List[Tuple[Any, str, Any, Any]] = []

    def wrap(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Replaces owner.name by make(owner.name). AttributeError when it does not exist."""
        original = getattr(owner, name)
        wrapper = functools.wraps(original)(make(original))
        setattr(owner, name, wrapper)
        self._done.append((owner, name, original, wrapper))

    def put(self, owner: Any, name: str, value: Any) -> None:
        """Replaces owner.name by a value."""
        original = getattr(owner, name)
        setattr(owner, name, value)
        self._done.append((owner, name, original, value))

    def undo(self) -> None:
        """Restores the originals. Later wrappers of others stay, and those inside them only pass calls on."""
        while self._done:
            owner, name, original, wrapper = self._done.pop()
            if getattr(owner, name, None) is wrapper:
                setattr(owner, name, original)
