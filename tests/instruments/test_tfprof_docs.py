"""The how-to page of tfprof lists the options, columns and orders that the engine has, in its words."""

from __future__ import annotations

import re
from pathlib import Path

from stepscope.instruments import tfprof

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "tfprof.md"


def test_the_page_lists_what_the_engine_does() -> None:
    page = PAGE.read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `(-?\w+)` \| (.+) \|$", page, re.MULTILINE))
    engine = {
        f"-{one.name}": f"{f'`{one.default}`' if one.default else 'none'} | {one.meaning}"
        for one in tfprof.options()
    }
    engine |= {name: meaning.replace("|", "\\|") for name, meaning in tfprof.columns().items()}
    assert told == engine
    assert "`-order_by` takes " + ", ".join(f"`{name}`" for name in tfprof.orders()) + "." in page
