"""The names that SQL can use: tables with their comments, and the library's statements."""

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
                    {"name": column.name, "type": column.type, "comment": column.about}
                    for column in table.columns
                ],
            }
            for table in schema().tables
        ]
        + [
            {
                "name": view.name,
                "comment": view.question,
                "columns": [
                    {"name": column.name, "type": column.unit, "comment": column.about}
                    for column in view.columns
                ],
            }
            for view in views
        ],
        "analyses": [
            {"name": entry.name, "title": entry.title, "question": entry.question, "sql": entry.sql}
            for kind in ("analysis", "finding")
            for entry in library.entries(kind)
        ],
    }
