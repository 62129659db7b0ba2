"""Turns rows into answers: sections, findings and sentences, as plain data that presenters display."""

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
