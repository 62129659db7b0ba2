"""Turns rows into answers: sections, findings and sentences, as plain data that presenters display.

* parts.py says what a Report is made of.
* summary.py asks the library's questions of a trace; README.md lists the modules that write what it says.
* pipeline.py, memory.py, verification.py and tfprof.py do the same for what instruments find.
* document_keys.py holds the keys that the JSON of these verbs has beside the report's own.
"""

from __future__ import annotations

from stepscope.report.parts import (
    Change,
    Chart,
    Column,
    Diff,
    Edit,
    Note,
    Report,
    ReportFinding,
    Section,
    Share,
    SourceLine,
    Split,
    Table,
    Tree,
    TreeNode,
)
from stepscope.report.summary import build

__all__ = [
    "Change",
    "Chart",
    "Column",
    "Diff",
    "Edit",
    "Note",
    "Report",
    "ReportFinding",
    "Section",
    "Share",
    "SourceLine",
    "Split",
    "Table",
    "Tree",
    "TreeNode",
    "build",
]
