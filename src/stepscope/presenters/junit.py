"""The checks of a gate as JUnit XML, which CI systems list beside the tests.

A check that failed is a failure; one that could not be judged is skipped. Without a verdict the suite has an
error, so that nobody takes it for a pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from stepscope.presenters.plain import plain
from stepscope.report import Report

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONGEST = 1000


def render(report: Report) -> str:
    """The report as one test suite."""
    checks: list[Mapping[str, Any]] = list(report.document.get("checks", ()))
    unknown = report.document.get("verdict") == "unknown"
    cases = [case for check in checks for case in _case(check, unknown)]
    counts = {
        "tests": len(checks),
        "failures": sum(check["status"] == "failed" for check in checks),
        "errors": sum(unknown and check["group"] == "verdict" for check in checks),
        "skipped": sum(
            check["status"] == "skipped" and not (unknown and check["group"] == "verdict") for check in checks
        ),
    }
    told = " ".join(f'{name}="{number}"' for name, number in counts.items())
    head = "\n".join(map(_text, report.headline))
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {told}>",
        f'  <testsuite name="stepscope check" {told}>',
        *cases,
        f"    <system-out>{head}</system-out>",
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _case(check: Mapping[str, Any], unknown: bool) -> Iterable[str]:
    group = _attribute(f"stepscope.{check['group']}")
    head = f"    <testcase classname={group} name={_attribute(check['name'])}"
    message = _attribute(check["message"])
    if check["status"] == "failed":
        return (f"{head}>", f"      <failure message={message}/>", "    </testcase>")
    if unknown and check["group"] == "verdict":
        return (f"{head}>", f"      <error message={message}/>", "    </testcase>")
    if check["status"] == "skipped":
        return (f"{head}>", f"      <skipped message={message}/>", "    </testcase>")
    return (f"{head}>", f"      <system-out>{_text(check['message'])}</system-out>", "    </testcase>")


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", plain(text, _LONGEST))


def _text(text: str) -> str:
    return escape(_clean(text))


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))
