"""The checks of a gate as JUnit XML, which CI systems list beside the tests.

A check that failed is a failure; one that could not be judged is skipped. Without a verdict the suite has an
error, so that nobody takes it for a pass.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from stepscope.presenters.plain import plain
from stepscope.report import Report

_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONGEST = 1000
_COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}
"""Attributes of a suite, and the elements that each counts."""


def render(report: Report) -> str:
    """The report as one test suite."""
    checks: list[Mapping[str, Any]] = list(report.document.get("checks", ()))
    unknown = report.document.get("verdict") == "unknown"
    outcomes = [_outcome(check, unknown) for check in checks]
    cases = [case for check, outcome in zip(checks, outcomes, strict=True) for case in _case(check, outcome)]
    counts = {"tests": len(checks), **{name: outcomes.count(kind) for name, kind in _COUNTED.items()}}
    attributes = " ".join(f'{name}="{number}"' for name, number in counts.items())
    head = "\n".join(map(_text, report.headline))
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {attributes}>",
        f'  <testsuite name="stepscope check" {attributes}>',
        *cases,
        f"    <system-out>{head}</system-out>",
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _outcome(check: Mapping[str, Any], unknown: bool) -> str:
    """The element that says how a check ended."""
    if check["status"] == "failed":
        return "failure"
    if unknown and check["group"] == "verdict":
        return "error"
    return "skipped" if check["status"] == "skipped" else "system-out"


def _case(check: Mapping[str, Any], outcome: str) -> Iterable[str]:
    group = _attribute(f"stepscope.{check['group']}")
    head = f"    <testcase classname={group} name={_attribute(check['name'])}"
    if outcome == "system-out":
        return (f"{head}>", f"      <system-out>{_text(check['message'])}</system-out>", "    </testcase>")
    return (f"{head}>", f"      <{outcome} message={_attribute(check['message'])}/>", "    </testcase>")


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", plain(text, _LONGEST))


def _text(text: str) -> str:
    return escape(_clean(text))


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))
