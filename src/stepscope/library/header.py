"""The grammar of the library's files: a header of comments, then one SELECT.

    -- Title, a few words
    --
    -- question: what is answered, in one sentence
    -- reads: slice, track_place
    -- notes: what must be known to read the numbers right
    -- weakened_by: lost, capped
    -- chart: bar x=op_type y=self_ps
    -- columns:
    --   op_type | text | Op type | type of the op, or the name where a recording knows no types
    SELECT ...

The SELECT may have macros, `share!(part, whole)`: `macros.sql` has what they stand for.

A line that begins with `--   ` continues the key above, one with `--     ` the line above. `question`,
`reads` and `columns` are always there; `weakened_by` names the effects and slugs of source notes that make
the answer doubtful. A finding has `severity`, `impact` and `action` too; its first column is the severity,
one of the words that `severity` names; the other two are templates: {column} is filled from the finding's
first row, and {column:step takes|steps take} is the first form where that column is 1, else the second. Its
`reasoning` says why what it looks for costs time, its `formula` how the numbers are worked out and from when
on it is reported. Columns have a unit: text, int, float, bool, ps, bytes, ratio or unix_ns. `SHARED_COLUMNS`
describes what most entries have; headers only name those: `--   run_id, host_id`.

Files whose name begins with `_` are private: building stones that may change at any time. So is the folder
`reads`, which has the statements that instruments, reports and exporters run. The first line of a private
file is its question. Its columns have no heading, and a column of what it reads is only named: the schema or
the view describes it. Statements may have `parameters`, lines of `name | unit | meaning`; ints and texts are
lists. Those of `SHARED_PARAMETERS` are only named: `-- parameters: run_id, host_id`. `$name` in the SQL is
the value of a parameter; `statements.py` writes it as a literal, which every engine understands. Only they
may end in a LIMIT, or say why their rows have no `order`: all other statements but views have a total one.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple, get_args

from stepscope.engines import Needs, Reads, Statement
from stepscope.library.macros import expanded
from stepscope.library.templates import PLACEHOLDER
from stepscope.units import SEVERITIES, Unit

Kind = Literal["base", "analysis", "finding", "read"]

UNITS: tuple[Unit, ...] = get_args(Unit)
LISTS = ("ints", "texts")
"""Units that only parameters have."""
EFFECTS = ("lost", "capped", "missing", "repaired", "recorder", "info")
"""Of notes, the gravest first."""

TORCH_COMPILED = "torch_compiled"
FRAMEWORKS = ("tensorflow", "jax", "pytorch", TORCH_COMPILED)
"""Frameworks with advice of their own: `action_jax` and the like replace `action`. The last is PyTorch where
torch.compile has compiled the program; its advice replaces `action_pytorch`."""

_KEYS: dict[Kind, tuple[tuple[str, ...], tuple[str, ...]]] = {  # those that must be there, those that may
    "base": (("question", "reads", "columns"), ("notes",)),
    "analysis": (("question", "reads", "columns"), ("notes", "weakened_by", "chart")),
    "finding": (
        ("question", "reads", "columns", "severity", "impact", "action", "reasoning", "formula"),
        ("notes", "weakened_by", *(f"action_{name}" for name in FRAMEWORKS)),
    ),
    "read": (("reads", "columns"), ("notes", "order", "parameters")),
}
_TEXTS = ("notes", "severity", "impact", "action", "reasoning", "formula")
"""Keys whose text is a field of the same name."""
_HEADING = re.compile(r"-- ([a-z_]+):(?: (.*))?")
_WORD = re.compile(r"[a-z_][a-z0-9_]*")
PARAMETER = re.compile(r"\$([a-z][a-z0-9_]*)")


class HeaderError(ValueError):
    """A file of the library that does not follow the grammar. Found by the tests, not by users."""


class Field(NamedTuple):
    """A column of an entry: SQL name, unit, heading for people, meaning."""

    name: str
    unit: str
    title: str
    about: str


_PROGRAM = "name of the HLO module, or of its function where that is long, and its number"
SHARED_COLUMNS: Mapping[str, Field] = {
    column.name: column
    for column in (
        Field("run_id", "text", "Run", "run of the source"),
        Field("host_id", "text", "Host", "host of the source"),
        Field("source_id", "int", "Source", "source it was read from"),
        Field("program", "text", "Program", _PROGRAM),
        Field("module", "text", "Module", "name of the HLO module"),
        Field("program_id", "text", "Id", "its number in the process that compiled it"),
        Field("instruction", "text", "Instruction", "its name in the program"),
        Field("op", "text", "Op", "the op that it was made of"),
        Field("file", "text", "File", "of the source"),
        Field("line", "int", "Line", "of the source"),
    )
}
"""What most entries have: identities, and where the instruction of a program comes from."""
SHARED_PARAMETERS: Mapping[str, Field] = {
    parameter.name: parameter
    for parameter in (
        Field("run_id", "text", "run_id", "run"),
        Field("host_id", "text", "host_id", "host"),
        Field("host_ids", "texts", "host_ids", "hosts"),
        Field("source_id", "int", "source_id", "source to look at"),
        Field("sources", "ints", "sources", "sources to look at"),
        Field("slice_id", "int", "slice_id", "number of the slice"),
        Field("begin_ps", "ps", "begin_ps", "begin of the stretch"),
        Field("end_ps", "ps", "end_ps", "its end"),
        Field("until_ps", "ps", "until_ps", "end of what is read"),
        Field("place", "text", "place", "where ops count: device or host"),
        Field("allocator", "text", "allocator", "name of the allocator"),
    )
}


class ChartHint(NamedTuple):
    """How the rows are better looked at: bar, stacked_bar, line or strip."""

    kind: str
    x: str
    y: tuple[str, ...]


class Entry(NamedTuple):
    """One file of the library. `sql` is the SELECT without header; `reads` are tables and views."""

    name: str
    kind: Kind
    title: str
    question: str
    reads: tuple[str, ...]
    columns: tuple[Field, ...]
    sql: str
    notes: str = ""
    weakened_by: tuple[str, ...] = ()
    chart: ChartHint | None = None
    severity: str = ""
    impact: str = ""
    action: str = ""
    actions: tuple[tuple[str, str], ...] = ()
    """What to do instead in some of FRAMEWORKS, by their names."""
    reasoning: str = ""
    formula: str = ""
    parameters: tuple[Field, ...] = ()
    unordered: str = ""
    """Why the rows have no order; empty for those that have one."""
    needs: Needs = frozenset()
    """Rows without which it has none, as far as is known."""

    @property
    def private(self) -> bool:
        """True for a building stone that may change at any time."""
        return self.name.startswith("_")

    @property
    def statement(self) -> Statement:
        """The SELECT with what it reads: tables and views by its header, and columns among its words. A
        linter holds the library to both, and to no star, so that no engine needs to parse it."""
        reads = Reads(frozenset(self.reads), _words(self.sql), False)
        return Statement(self.sql, reads, self.name, self.needs)

    @property
    def slug(self) -> str:
        """The name with hyphens: how a finding is called outside SQL."""
        return self.name.replace("_", "-")


@cache
def _words(sql: str) -> frozenset[str]:
    """The words of a SELECT. Each engine is given all views."""
    return frozenset(_WORD.findall(sql))


def parse(kind: Kind, name: str, text: str) -> Entry:
    """The entry in the text of a file. HeaderError, with the line, when the text breaks the grammar."""
    lines = text.splitlines()
    size = next((i for i, line in enumerate(lines) if not line.startswith("--")), len(lines))
    title, keys = _header(name, lines[:size])
    is_private = kind == "read" or name.startswith("_")
    body = expanded("\n".join(lines[size:]).strip())
    _check_form("read" if is_private else kind, name, keys, body)
    columns = tuple(column for line in keys["columns"] for column in _columns(name, line, not is_private))
    if kind == "finding":
        columns = (_severity(name, " ".join(keys["severity"])), *columns)
    parameters = tuple(
        parameter for line in keys.get("parameters", ()) for parameter in _parameters(name, line)
    )
    used = set(PARAMETER.findall(body)) if kind == "read" else set()
    if used != {parameter.name for parameter in parameters}:
        raise HeaderError(f"{name}: its SQL uses the parameters {sorted(used)}")
    texts: dict[str, Any] = {key: " ".join(lines) for key, lines in keys.items()}
    found = Entry(
        name=name,
        kind=kind,
        title=title,
        question=texts.get("question", title),
        reads=_list(keys["reads"]),
        columns=columns,
        sql=body,
        weakened_by=_list(keys.get("weakened_by", [])),
        chart=_chart(name, texts["chart"], columns) if "chart" in keys else None,
        actions=tuple((of, texts[f"action_{of}"]) for of in FRAMEWORKS if f"action_{of}" in texts),
        parameters=parameters,
        unordered=texts.get("order", ""),
        **{key: texts[key] for key in _TEXTS if key in texts},
    )
    _check(found)
    return found


def _check_form(kind: Kind, name: str, keys: Mapping[str, Sequence[str]], body: str) -> None:
    """HeaderError where a key is missing or too many, and where the body is no SELECT."""
    must, may = _KEYS[kind]
    if missing := [key for key in must if not keys.get(key)]:
        raise HeaderError(f"{name}: the header lacks {', '.join(missing)}")
    if extra := [key for key in keys if key not in must + may]:
        raise HeaderError(f"{name}: the header has {', '.join(extra)}, which a {kind} does not")
    if not body.startswith(("SELECT", "WITH")) or ";" in body:
        raise HeaderError(f"{name}: after the header comes one SELECT, without a semicolon")


def _header(name: str, lines: list[str]) -> tuple[str, dict[str, list[str]]]:
    if len(lines) < 3 or not lines[0].startswith("-- ") or lines[1] != "--":
        raise HeaderError(f"{name}: the header begins with a title and an empty comment")
    keys: dict[str, list[str]] = {}
    current: list[str] = []
    for number, line in enumerate(lines[2:], 3):
        if line.startswith("--   "):
            if not keys:
                raise HeaderError(f"{name}, line {number}: nothing to continue")
            if line.startswith("--     ") and current:
                current[-1] += " " + line[5:].strip()
            else:
                current.append(line[5:].strip())
            continue
        found = _HEADING.fullmatch(line)
        if not found or found[1] in keys:
            raise HeaderError(f"{name}, line {number}: neither `-- key: text` (once) nor a continuation")
        current = keys[found[1]] = [found[2]] if found[2] else []
    return lines[0][3:].strip(), keys


def _list(lines: list[str]) -> tuple[str, ...]:
    return tuple(part.strip() for part in " ".join(lines).split(",") if part.strip())


def _columns(name: str, line: str, heading: bool) -> Sequence[Field]:
    """The columns of a line of the header: one that is described, or some that are only named."""
    if "|" in line:
        return [_field(name, line, heading)]
    if not heading:
        return [Field(word, "", word, "") for word in _list([line])]
    return _described(name, line, SHARED_COLUMNS)


def _parameters(name: str, line: str) -> Sequence[Field]:
    """The same of parameters."""
    return [_field(name, line, False, LISTS)] if "|" in line else _described(name, line, SHARED_PARAMETERS)


def _described(name: str, line: str, shared: Mapping[str, Field]) -> Sequence[Field]:
    words = _list([line])
    if unknown := [word for word in words if word not in shared]:
        raise HeaderError(f"{name}: {', '.join(unknown)} is not described")
    return [shared[word] for word in words]


def _severity(name: str, text: str) -> Field:
    """The first column of a finding, by what its header says about severities."""
    *others, last = dict.fromkeys(word for word in _WORD.findall(text) if word in SEVERITIES)
    return Field("severity", "text", "Severity", f"{', '.join(others)} or {last}" if others else last)


def _field(name: str, line: str, heading: bool = True, more: Collection[str] = ()) -> Field:
    parts = [part.strip() for part in line.split("|")]
    grammar = "name | unit | heading | meaning" if heading else "name | unit | meaning"
    if len(parts) != 3 + heading or not all(parts) or parts[1] not in (*UNITS, *more):
        raise HeaderError(f"{name}: a column or parameter is `{grammar}`, not `{line}`")
    return Field(*parts) if heading else Field(parts[0], parts[1], parts[0], parts[2])


def _chart(name: str, text: str, columns: tuple[Field, ...]) -> ChartHint:
    known = {field.name for field in columns}
    found = re.fullmatch(r"(bar|stacked_bar|line|strip) x=(\w+) y=(\w+(?:,\w+)*)", text)
    if not found or not {found[2], *found[3].split(",")} <= known:
        raise HeaderError(f"{name}: a chart is `kind x=column y=column,column`, not `{text}`")
    return ChartHint(found[1], found[2], tuple(found[3].split(",")))


def _check(found: Entry) -> None:
    known = [field.name for field in found.columns]
    if len(set(known)) != len(known):
        raise HeaderError(f"{found.name}: a column is described twice")
    if unknown := [w for w in found.weakened_by if not re.fullmatch(r"[a-z]+(-[a-z]+)*", w)]:
        raise HeaderError(f"{found.name}: weakened_by names effects and slugs, not {unknown}")
    if found.kind != "finding":
        return
    if "impact_ps" in known[2:]:
        raise HeaderError(f"{found.name}: impact_ps is the first column that a finding describes")
    units = {field.name: field.unit for field in found.columns}
    for match in PLACEHOLDER.finditer("".join([found.impact, found.action, *dict(found.actions).values()])):
        if match[1] not in units:
            raise HeaderError(f"{found.name}: {match[1]} in a template is not a column")
        if match[2] is not None and units[match[1]] != "int":
            raise HeaderError(
                f"{found.name}: only a column of int decides between one and many, not {match[1]}"
            )
