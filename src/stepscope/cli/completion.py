"""Completion for the prompt: tables, columns of the tables in the statement, keywords, the library."""

import re
from collections.abc import Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from stepscope import library
from stepscope.lake.schema import Schema

# fmt: off
KEYWORDS = (
    "SELECT", "FROM", "WHERE", "GROUP", "BY", "ORDER", "LIMIT", "OFFSET", "HAVING", "JOIN", "LEFT",
    "INNER", "ON", "USING", "AS", "AND", "OR", "NOT", "IN", "IS", "NULL", "LIKE", "ILIKE",
    "BETWEEN", "CASE", "WHEN", "THEN", "ELSE", "END", "DISTINCT", "UNION", "ALL", "WITH", "OVER",
    "PARTITION", "ROWS", "ASC", "DESC", "NULLS", "LAST", "FIRST", "CAST", "COUNT", "SUM", "AVG",
    "MIN", "MAX", "MEDIAN", "QUANTILE_CONT", "COALESCE", "DESCRIBE", "SUMMARIZE", "EXPLAIN",
)
# fmt: on

_WORD = re.compile(r"(?:@[\w-]*|[\w.]*)$")


class SqlCompleter(Completer):
    """Offers what may come next. Columns of tables in the statement come first."""

    def __init__(self, schema: Schema) -> None:
        self._columns = {table.name: table.names for table in schema.tables}
        self._about = {table.name: table.about for table in schema.tables}
        for view in library.entries("base"):
            if not view.private:
                self._columns[view.name] = tuple(field.name for field in view.columns)
                self._about[view.name] = view.title

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Completions for the word before the cursor."""
        before = document.text_before_cursor
        word = match.group() if (match := _WORD.search(before)) else ""
        seen: set[str] = set()
        for text, kind in self._candidates(document.text, before, word):
            if text.lower().startswith(word.lower()) and text not in seen:
                seen.add(text)
                yield Completion(text, start_position=-len(word), display_meta=kind)

    def _candidates(self, text: str, before: str, word: str) -> Iterator[tuple[str, str]]:
        if word.startswith("@"):
            yield from ((f"@{name}", "analysis") for name in library.names("analysis"))
            yield from ((f"@{name}", "finding") for name in library.names("finding"))
            return
        line = before.lstrip()
        if line.startswith("."):
            yield from self._commands(line)
            return
        if "." in word:  # table.column or alias.column
            prefix = word.rsplit(".", 1)[0]
            named = self._named(prefix, text)
            yield from ((f"{prefix}.{column}", named) for column in self._columns.get(named, ()))
            return
        if re.search(r"\b(from|join)\s+[\w.]*$", before, re.IGNORECASE):
            yield from ((name, "table") for name in self._columns)
            return
        yield from self._anywhere(text, word)

    def _anywhere(self, text: str, word: str) -> Iterator[tuple[str, str]]:
        """What may stand anywhere: columns of the tables named, tables, keywords, then all columns."""
        used = [name for name in self._columns if re.search(rf"\b{name}\b", text)]
        for name in used:
            yield from ((column, name) for column in self._columns[name])
        yield from ((name, "table") for name in self._columns)
        upper = not word.islower()
        yield from ((keyword if upper else keyword.lower(), "") for keyword in KEYWORDS)
        if not used and word:
            yield from ((column, name) for name, columns in self._columns.items() for column in columns)

    def _commands(self, line: str) -> Iterator[tuple[str, str]]:
        from stepscope.cli.arguments import FORMATS
        from stepscope.cli.prompt import COMMANDS

        if line.startswith(".schema "):
            yield from ((name, "table") for name in self._columns)
        elif line.startswith(".mode "):
            yield from ((form, "form") for form in FORMATS)
        elif " " not in line:
            yield from COMMANDS.items()

    def _named(self, alias: str, text: str) -> str:
        """The table that a name before a dot refers to."""
        if alias in self._columns:
            return alias
        found = re.search(rf"\b(?:from|join)\s+(\w+)\s+(?:as\s+)?{re.escape(alias)}\b", text, re.IGNORECASE)
        return found.group(1) if found else ""
