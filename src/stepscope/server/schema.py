"""What SQL can ask for: tables with their comments, and the statements of the library."""

from __future__ import annotations

from typing import Any

from stepscope import library
from stepscope.lake.schema import schema


def tell() -> dict[str, Any]:
    """Tables, views, analyses and findings."""
    views = [view for view in library.views() if not view.private]
    return {
        "tables": [
            {
                "name": table.name,
                "comment": table.about,
                "columns": [
                    {"name": one.name, "type": one.type, "comment": one.about} for one in table.columns
                ],
            }
            for table in schema().tables
        ]
        + [
            {
                "name": view.name,
                "comment": view.question,
                "columns": [
                    {"name": one.name, "type": one.unit, "comment": one.about} for one in view.columns
                ],
            }
            for view in views
        ],
        "analyses": [
            {"name": one.name, "title": one.title, "question": one.question, "sql": one.sql}
            for kind in ("analysis", "finding")
            for one in library.entries(kind)
        ],
    }
