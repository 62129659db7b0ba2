"""Rows on stdout, in the form that was asked for: all of them for programs, what fits for people."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from stepscope import units
from stepscope.cli.console import Console

if TYPE_CHECKING:
    from stepscope.report.listing import Listing

ROWS_ON_SCREEN = 200
"""Rows of a table that a terminal is given; --all gives it all."""


def write_rows(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    console: Console,
    form: str,
    *,
    everything: bool = False,
    spreadsheet: bool = False,
    right: Sequence[bool] | None = None,
) -> None:
    """Writes rows in a form, and says what does not fit a terminal. everything: all rows, even there.
    spreadsheet: as in write_csv. right: columns that are aligned to the right."""
    from stepscope.presenters import rows as presenter

    rows = iter(rows)
    if form != "table":
        presenter.write(form, columns, rows, console.data, spreadsheet=spreadsheet)
        return
    most = ROWS_ON_SCREEN if console.is_terminal and not everything else None
    styles = {"heading": "1", "rule": "2", "null": "2"}

    def style(kind: str, text: str) -> str:
        return f"\x1b[{styles[kind]}m{text}\x1b[0m" if console.color and kind in styles else text

    width = console.width if console.is_terminal else None
    shown = presenter.write_table(
        columns, rows, console.out, width=width, most=most, right=right, style=style
    )
    console.out.flush()
    left_out = []
    if most is not None and next(rows, None) is not None:
        left_out.append(f"only the first {most:,} rows; --all shows the rest")
    if shown.columns_left_out:
        columns = units.count(shown.columns_left_out, "column")
        left_out.append(f"{columns} found no room; --format csv has all of them")
    if left_out:
        console.say(f"({'. '.join(left_out)})")


def is_for_people(options: argparse.Namespace) -> bool:
    """Whether rows are read as they are, so that some columns and rows may be left out."""
    return options.format in ("table", "md")


def most_rows(options: argparse.Namespace, most: int) -> int | None:
    """How many rows people are given who do not ask for all; programs are given all."""
    return None if options.all or not is_for_people(options) else most


def write_listing(listing: Listing, options: argparse.Namespace, console: Console) -> None:
    """Writes the rows, all of them for programs and the readable part for people, then the sentences."""
    from stepscope.presenters.answers import readable

    titles: Sequence[str] = listing.columns
    rows: Iterable[Sequence[Any]] = ([row[name] for name in titles] for row in listing.rows)
    right = None
    if is_for_people(options):
        titles, rows, right = readable(listing, cut=options.format == "table")
    if titles:
        everything: bool = getattr(options, "all", False)
        write_rows(
            titles,
            rows,
            console,
            options.format,
            everything=everything,
            spreadsheet=options.spreadsheet,
            right=right,
        )
    for sentence in listing.sentences:
        console.say(sentence)
