"""The reference: every table, analysis, finding and message as a page of Markdown.

`stepscope docs` prints these pages, and `make docs` writes them into docs/reference/, from where they go into
the site and not into git. They come from the schema, the library and the messages, so that they cannot say
something else than the code does.
"""

import difflib
import functools
from collections.abc import Iterable
from dataclasses import dataclass

from stepscope import _core, library
from stepscope.errors import UsageError
from stepscope.instruments.causes import catalogue
from stepscope.instruments.laws import Law, all_laws
from stepscope.instruments.roofline.devices import TYPES, Device, devices
from stepscope.lake.schema import SchemaTable, schema
from stepscope.library import header, templates
from stepscope.messages import ERRORS, NOTES, Message
from stepscope.step_labels import LOOKS

CHAPTERS = ("tables", "views", "analyses", "findings", "causes", "classes", "laws", "devices", "messages")
"""Each is a page."""
PAGES = ("findings",)
"""Chapters of which each entry has a page of its own, in a folder called like the chapter."""


@dataclass(frozen=True)
class ReferenceEntry:
    """One thing that can be looked up: its name, a line about it, and its text in Markdown."""

    chapter: str
    name: str
    line: str
    text: str


@functools.cache
def entries() -> tuple[ReferenceEntry, ...]:
    """Everything, chapter by chapter. Writing it takes 65 ms, and each look at a name goes through all."""
    return (
        *(
            ReferenceEntry("tables", table.name, _first_line(table.about), _table(table))
            for table in schema().tables
        ),
        *_library("views", "base"),
        *_library("analyses", "analysis"),
        *_library("findings", "finding"),
        *(ReferenceEntry("causes", cause.name, cause.about, _cause(cause)) for cause in catalogue.causes()),
        *_classes(),
        *(ReferenceEntry("laws", name, law.HOLDS, _law(law)) for name, law in all_laws().items()),
        *(
            ReferenceEntry("devices", device.name, _device(device), _device(device, device.source))
            for device in devices()
        ),
        *(
            ReferenceEntry("messages", slug, m.title, _message(m, "error"))
            for slug, m in sorted(ERRORS.items())
        ),
        *(
            ReferenceEntry("messages", slug, m.title, _message(m, "note"))
            for slug, m in sorted(NOTES.items())
        ),
    )


def chapter(name: str) -> str:
    """A whole page of the reference."""
    title, about = _ABOUT[name]
    parts = [f"# {title}", about]
    found = [entry for entry in entries() if entry.chapter == name]
    if name in PAGES:
        parts.append(_lines(found))
    elif name == "devices":
        parts.append(_devices())
    else:
        parts += [f"## {entry.name}\n\n{entry.text}" for entry in found]
    return "\n\n".join(parts) + "\n"


def pages() -> dict[str, str]:
    """The files of the reference by their paths within its folder, and their contents."""
    return {
        "index.md": contents(),
        **{f"{name}.md": chapter(name) for name in CHAPTERS},
        **{_place(e): f"# {e.name}\n\n{e.text}\n" for e in entries() if e.chapter in PAGES},
    }


def contents() -> str:
    """The list of everything that can be looked up, a line each."""
    parts = ["# Reference", "`stepscope docs NAME` explains any of these."]
    for name in CHAPTERS:
        found = [entry for entry in entries() if entry.chapter == name]
        parts.append(f"## [{_ABOUT[name][0]}]({name}.md)\n\n{_lines(found)}")
    return "\n\n".join(parts) + "\n"


def _lines(found: Iterable[ReferenceEntry]) -> str:
    return "\n".join(f"- [`{entry.name}`]({_place(entry)}) {entry.line}" for entry in found)


def _place(entry: ReferenceEntry) -> str:
    """Where an entry stands, seen from the folder of the reference."""
    folder = entry.chapter
    return f"{folder}/{entry.name}.md" if folder in PAGES else f"{folder}.md#{entry.name}"


def look_up(name: str) -> str:
    """The page about a name: a chapter, or whatever is called so. UsageError when nothing is."""
    if name in CHAPTERS:
        return chapter(name)
    wanted = name.removeprefix("@").removeprefix(".")
    same = (wanted, wanted.replace("-", "_"), wanted.replace("_", "-"))
    found = [entry for entry in entries() if entry.name in same]
    if found:
        return "\n".join(f"# {entry.name}\n\n{entry.text}\n" for entry in found)
    table, _, column = wanted.partition(".")
    if column and table in schema().names and column in schema().table(table).names:
        about = schema().table(table).column(column)
        return f"# {wanted}\n\n{about.type}{'' if about.nullable else ', never NULL'}: {about.about}\n"
    known = list(dict.fromkeys(entry.name for entry in entries()))  # a finding and its message share a name
    near = difflib.get_close_matches(wanted, known, 3)
    raise UsageError(
        f"There is nothing called {name}",
        seen=f"near it: {', '.join(near)}"
        if near
        else f"{len(known)} tables, analyses, findings and messages",
        todo="stepscope docs lists them all",
    )


_ABOUT = {
    "tables": (
        "Tables",
        "What `stepscope query` can read. Names that end in `_ps` are integer picoseconds, in `_bytes` "
        "bytes, in `_unix_ns` nanoseconds of Unix time.",
    ),
    "views": ("Views", "Building stones over the tables, usable like tables in `stepscope query`."),
    "analyses": ("Analyses", "Named questions: `stepscope query PATH @NAME` answers them."),
    "findings": (
        "Findings",
        "Questions that have rows only when something is wrong. The summary shows them with their action.",
    ),
    "causes": (
        "Causes",
        "What can limit a step, and the thresholds by which that is judged. Within the slack of one, no "
        "answer about a recording in `tests/samples` changes; beyond it, those named change first.",
    ),
    "classes": (
        "Classes",
        "What a slice is, by what it is called. Of the rules of a table the first that holds decides. In a "
        "pattern, `*` stands for any text, `?` for one character and `{a,b}` for a or b; `<` at its begin "
        "means that the name begins so, or goes on so behind a space or colon, and `>` that it ends there or "
        "a colon follows. `@stores` is the list of that name. `called` is the type of the op or, where none "
        "is known, the name; `titled` prefers the op's name to that of the slice, and `bare` is the name of "
        "slices without a type.",
    ),
    "laws": (
        "Laws",
        "What must hold before a sentence is printed. Where one fails, the sentence says so, and no more "
        "than what "
        "remains true.",
    ),
    "devices": (
        "Devices",
        "What devices do in a second at most, as their makers tell it, without sparsity: tera-operations of "
        "products of matrices by type of number, gigabytes of the memory and of the link to the host in one "
        "direction. What a recording tells of its own device comes first, and `--peak` before both. Devices "
        "are known by their names, else by compute capability, multiprocessors and memory.",
    ),
    "messages": (
        "Messages",
        "Errors stop a command; notes belong to a source of which something was lost, repaired, capped or "
        "missing.",
    ),
}


def _table(table: SchemaTable) -> str:
    rows = (
        (f"`{column.name}`", column.type + ("" if column.nullable else ", not NULL"), _cell(column.about))
        for column in table.columns
    )
    return f"{table.about}\n\n{_markdown_table(('column', 'type', 'meaning'), rows)}"


_TIME_GOES_TO = "What the time of a step goes to."


def _classes() -> list[ReferenceEntry]:
    """The labels of steps, and the rules of what slices are as the core has them: facts, and the lists that
    they name."""
    rules = _core.class_rules()
    labels = _markdown_table(
        ("label", "what counts to it"), ((name, look.about) for name, look in LOOKS.items())
    )
    found = [ReferenceEntry("classes", "step_labels", _TIME_GOES_TO, f"{_TIME_GOES_TO}\n\n{labels}")]
    for of, name, text, about in rules:
        if of == "list":
            found.append(ReferenceEntry("classes", name, _first_line(about), f"{about}\n\n{_patterns(text)}"))
        if of == "fact":
            rows = (
                (_cell(value), "; ".join(map(_condition, wanted.split("; "))) or "all others", _cell(why))
                for fact, value, wanted, why in rules
                if fact == name
            )
            table = _markdown_table(("value", "of slices of which", "why"), rows)
            found.append(
                ReferenceEntry("classes", name, f"{text[0].upper()}{text[1:]}.", f"{text}.\n\n{table}")
            )
    return found


def _condition(text: str) -> str:
    column, _, rest = text.partition(" ")
    word, _, patterns = rest.partition(" ")
    return f"{column} {word} {_patterns(patterns)}" if patterns else ""


def _patterns(text: str) -> str:
    return ", ".join(f"`{pattern}`" for pattern in text.split(" | "))


def _law(law: Law) -> str:
    conclusions = ", ".join(_SAID[what] for what in law.WEAKENS)
    fails = f"**Where it fails,** nothing is concluded of {conclusions}."
    return f"{law.HOLDS}\n\n**Tolerance.** {law.TOLERANCE}\n\n{fails}"


_SAID = {
    "busy": "how long devices are busy",
    "share": "what a cause takes of a step",
    "left": "how long a step would be without it",
    "mean": "how long one execution takes",
    "rate": "bytes of a second",
    "place": "what is waited for, or where",
}


def _devices() -> str:
    """The table of devices."""
    rows = (
        (
            device.name,
            *(f"{device.flops[kind] / 1e12:,g}" if kind in device.flops else "" for kind in TYPES),
            f"{device.memory / 1e9:,g}",
            f"{device.link / 1e9:,g}",
        )
        for device in devices()
    )
    by_source: dict[str, list[str]] = {}
    for device in devices():
        by_source.setdefault(device.source, []).append(device.name)
    sources = "\n".join(f"- {', '.join(names)}: {source}" for source, names in by_source.items())
    return f"{_markdown_table(('device', *TYPES, 'memory', 'link'), rows)}\n\nAs told by:\n\n{sources}"


def _device(device: Device, source: str = "") -> str:
    """A device in a line, with what tells it."""
    peaks = ", ".join(f"{kind} {value / 1e12:g}" for kind, value in device.flops.items())
    sentence = f"{peaks} Tflop/s; memory {device.memory / 1e9:g} GB/s, link {device.link / 1e9:g} GB/s."
    return f"{sentence} From {source}" if source else sentence


def _library(title: str, kind: header.Kind) -> list[ReferenceEntry]:
    found = []
    for entry in library.entries(kind):
        if entry.private:
            continue
        name = entry.slug if kind == "finding" else entry.name
        found.append(ReferenceEntry(title, name, entry.question, _library_entry(entry)))
    return found


def _library_entry(entry: library.Entry) -> str:
    rows = ((f"`{f.name}`", f.unit, _cell(f.about)) for f in entry.columns)
    facts = [
        f"- severity: {entry.severity}" if entry.severity else "",
        f"- impact: {_cell(templates.open_template(entry.impact))}" if entry.impact else "",
        f"- to do: {_cell(templates.open_template(entry.action))}" if entry.action else "",
        *(f"- to do, {name}: {_cell(templates.open_template(text))}" for name, text in entry.actions),
        f"- reads: {', '.join(f'`{name}`' for name in entry.reads)}",
        f"- weakened by: {', '.join(entry.weakened_by)}" if entry.weakened_by else "",
    ]
    parts = [
        f"*{entry.title}.* {entry.question}",
        entry.reasoning,
        f"Formula: {entry.formula}" if entry.formula else "",
        entry.notes,
        "\n".join(fact for fact in facts if fact),
        _markdown_table(("column", "unit", "meaning"), rows),
        f"```sql\n{entry.sql}\n```",
    ]
    return "\n\n".join(part for part in parts if part)


def _cause(cause: catalogue.CatalogueEntry) -> str:
    rows = (
        (
            f"`{threshold.name}`",
            f"{threshold.value:,}",
            _cell(threshold.means),
            threshold.fitted_on,
            threshold.range(),
            ", ".join(threshold.by),
        )
        for threshold in cause.thresholds
    )
    titles = ("threshold", "value", "meaning", "fitted on", "slack", "changes first")
    return f"{cause.about}\n\n{_markdown_table(titles, rows)}"


def _message(message: Message, kind: str) -> str:
    return f"*{message.title}* ({kind}). {message.explanation}\n\nTo do: {message.todo}"


def _markdown_table(titles: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(titles)} |", "|" + " --- |" * len(titles)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _first_line(text: str) -> str:
    return text.split("\n", 1)[0]
