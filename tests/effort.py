"""How many cases a test tries that could try any number.

An ordinary run tries enough to notice what usually breaks. `make test-long`, which runs every night, tries
more.
"""

from __future__ import annotations

import os

LONG = os.environ.get("STEPSCOPE_TEST_LONG", "") not in ("", "0")


def cases(few: int, many: int) -> int:
    """`few` in an ordinary run, `many` in a long one."""
    return many if LONG else few
