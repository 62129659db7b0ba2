"""Regular expressions that are compiled when they are first used.

A command looks at a file with a handful of the sixty that its modules have; compiling them all would take
longer than looking.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Late:
    def __init__(self, text: Any, flags: int) -> None:
        self._made = (text, flags)

    def __getattr__(self, name: str) -> Any:
        # Called for what is not there yet: a method is looked up once and then found like any other.
        found = getattr(re.compile(*self._made), name)
        setattr(self, name, found)
        return found


def late(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """`re.compile(text, flags)` that waits until a method of the pattern is called.

    A mistake in `text` shows then, as re.error.
    """
    return cast("re.Pattern[AnyStr]", _Late(text, flags))
