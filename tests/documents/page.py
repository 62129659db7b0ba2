"""Writes `docs/five-documents.md` from the items: `python -m tests.documents.page`."""

from pathlib import Path

from . import bigquery_article, tfdata_guide, tfprof_readme, timeline_article, xla_methods
from .item import Item

PAGE = Path(__file__).parents[2] / "docs" / "five-documents.md"
DOCUMENTS = (bigquery_article, tfdata_guide, timeline_article, tfprof_readme, xla_methods)

_HEAD = """\
# The five documents, item by item

stepscope does what five documents describe. Each row is one thing that a document describes, the command that
does it, and a piece of the answer. All commands are run by the tests, on the samples in `tests/samples`.
"""
_COLUMNS = ("| | What it describes | Command | Answer |", "|--:|---|---|---|")


def page() -> str:
    """The page, one table for each document."""
    parts = [_HEAD]
    for document in DOCUMENTS:
        rows = [_row(number, item) for number, item in enumerate(document.ITEMS, 1)]
        parts += [
            f"## {document.TITLE}\n",
            "| | What it describes | Command | Answer |",
            "|--:|---|---|---|",
            *rows,
            "",
        ]
    return "\n".join(parts)


def _row(number: int, item: Item) -> str:
    command = "<br>".join(f"`{_cell(line)}`" for line in item.command.strip().splitlines() if line.strip())
    answer = " … ".join(_cell(piece).replace("<", "&lt;") for piece in item.says)
    return f"| {number} | {_cell(item.asks)} | {command} | {answer} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
