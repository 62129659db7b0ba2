"""Every flag that an installed library knows: type, default, values and what is said of it."""

import re
import struct
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from stepscope import protobuf
from stepscope.xla_tools import library_answers
from stepscope.xla_tools.flags import catalogue, installed, variables
from stepscope.xla_tools.flags.descriptors import ProtoFile, ProtoMessage, find
from stepscope.xla_tools.flags.installed import Library

COLUMNS = (*("name", "variable", "library", "type", "default", "values", "status", "since", "until", "doc"),)
"""since and until: the first and the last of the catalogue's jaxlibs that has it; until names a library
where a flag is older than the first of them. status: flag, no flag (a field that no flag sets), no field (a
flag that is still read, though its field is gone), removed, variable, or dead (it does nothing)."""

_HELP = re.compile(r"^\s+--([\w.]+)=(\".*?\"|\S*)\s+(\w+)\t(.*)$", re.MULTILINE)
_OPTIONS = "xla/pjrt/proto/compile_options.proto"

Row = dict[str, Any]


def debug_options(file: ProtoFile) -> ProtoMessage | None:
    """The message that has XLA's flags as its fields."""
    return next((message for name, message in file.messages.items() if name.endswith(".DebugOptions")), None)


def read(library: Library) -> ProtoFile | None:
    """The description of xla.proto in a library; None when no file of it has one."""
    for path in installed.shared_objects(library):
        file = find(path, "xla/xla.proto")
        if file is not None and debug_options(file) is not None:
            return file
    return None


class FlagFacts(NamedTuple):
    """The flags of a library, as in JSON. fields: name, type and values of each. reserved: names that once
    were fields. defaults: by name. helps: default, type and text by variable and name."""

    fields: list[list[Any]]
    reserved: list[str]
    defaults: dict[str, Any]
    helps: dict[str, dict[str, list[str]]]


def rows(libraries: list[Library], python: str | None, *, asking: bool = True) -> list[Row]:
    """The flags of libraries; without any, those of the catalogue. asking: children may be started, which
    tell defaults and the text of their help; their answers are kept."""
    known = catalogue.load()
    found: list[Row] = [] if libraries else known.rows()
    for library, facts in zip(libraries, _flags_of(libraries, python, asking=asking), strict=True):
        found += _fields(library, facts, known)
        for name, (default, kind, doc) in facts.helps.get("TF_XLA_FLAGS", {}).items():
            found.append(
                _row(name, "TF_XLA_FLAGS", library.title, kind, default, doc=doc or variables.doc(name))
            )
    if not any(row["variable"] == "TF_XLA_FLAGS" for row in found):
        found += known.rows_of_tensorflow()
    known_names = {row["name"] for row in found}
    found += [row for row in known.rows_of_older() if row["name"] not in known_names]
    return [*found, *variables.rows()]


def _flags_of(libraries: list[Library], python: str | None, *, asking: bool) -> list[FlagFacts]:
    """What each library tells, from the cache where it is there."""
    found = [_recalled(library) for library in libraries]
    new = [library for library, facts in zip(libraries, found, strict=True) if facts is None]
    answers = _answers(new, python) if asking else {}
    made = [
        flag_facts if flag_facts is not None else _made(library, answers)
        for library, flag_facts in zip(libraries, found, strict=True)
    ]
    for library, facts in zip(libraries, made, strict=True):
        wanted = {variable for name, variable in installed.TRIGGERS if name == library.name}
        whole = all(facts.helps.get(variable) for variable in wanted)
        if library in new and whole and (facts.defaults or library.name != "jaxlib"):
            library_answers.remember(_key(library), installed.shared_objects(library), facts._asdict())
    return made


def _key(library: Library) -> str:
    return f"flags of {library.title} in {library.folder}"


def _recalled(library: Library) -> FlagFacts | None:
    found = library_answers.recall(_key(library))
    return FlagFacts(**found) if found is not None else None


def _made(library: Library, answers: Mapping[tuple[str, str], Any]) -> FlagFacts:
    file = read(library)
    message = debug_options(file) if file is not None else None
    fields: list[list[Any]] = []
    if file is not None and message is not None:
        for field in sorted(message.fields, key=lambda message_field: message_field.name):
            values = file.enums.get(field.of)
            kind = field.type + (" list" if field.repeated else "")
            fields.append([field.name, kind, " ".join(values.values()) if values else None])
    helps = {
        variable: {key: list(cells) for key, cells in answers.get((name, variable), {}).items()}
        for name, variable in installed.TRIGGERS
        if name == library.name
    }
    defaults = answers.get((library.name, "defaults"), {})
    return FlagFacts(fields, sorted(message.reserved) if message is not None else [], dict(defaults), helps)


def _row(name: str, variable: str, library: str, kind: str, default: object = None, **more: Any) -> Row:
    row: Row = dict.fromkeys(COLUMNS)
    row |= {"name": name, "variable": variable, "library": library, "type": kind, "default": default}
    return row | {"status": "flag"} | more


def _fields(library: Library, facts: FlagFacts, known: catalogue.Catalogue) -> list[Row]:
    found = []
    helps = facts.helps.get("XLA_FLAGS", {})
    for name, kind, values in facts.fields:
        since, until = known.span(name)
        default, doc = facts.defaults.get(name), variables.doc(name)
        if name in helps:
            doc = doc or helps[name][2] or None
            default = helps[name][0] if default is None else default
        status = "no flag" if name in known.no_flags else "dead" if name in variables.IDLE else "flag"
        more = {"values": values, "status": status, "since": since, "until": until, "doc": doc}
        found.append(_row(name, "XLA_FLAGS", library.title, kind, default, **more))
    for name in facts.reserved:
        since, until = known.span(name)
        status = "no field" if name in known.no_fields else "removed"
        more = {"status": status, "since": since, "until": until, "doc": variables.doc(name)}
        found.append(_row(name, "XLA_FLAGS", library.title, "", None, **more))
    return found


def _answers(libraries: list[Library], python: str | None) -> dict[tuple[str, str], Any]:
    """What children tell, two at a time: defaults, and the help of each variable."""
    jobs: dict[tuple[str, str], Any] = {}
    with ThreadPoolExecutor(2) as pool:
        for library in libraries:
            if library.name == "jaxlib":
                jobs["jaxlib", "defaults"] = pool.submit(_defaults, library, python)
            for name, variable in installed.TRIGGERS:
                if name == library.name:
                    jobs[name, variable] = pool.submit(_help, library, variable, python)
        return {key: job.result() for key, job in jobs.items()}


def _help(library: Library, variable: str, python: str | None) -> dict[str, tuple[str, str, str]]:
    """Default, type and text of the flags that the library's own help lists. The help of XLA_FLAGS is cut
    by the library after 15 kB, in the middle of a line, which is left out."""
    text = installed.ask(library, variable, "--help", python).text
    return {
        name: (default.strip('"'), kind, doc.strip())
        for name, default, kind, doc in _HELP.findall(text.rpartition("\n")[0] + "\n")
    }


def _defaults(library: Library, python: str | None) -> dict[str, Any]:
    """Defaults as a CompileOptions has them that the library itself made, serialised."""
    code = "import sys\nsys.stdout.flush()\nsys.stdout.buffer.write(b'BEGIN' + "
    code += "xla_client.CompileOptions().SerializeAsString())\n"
    answer = installed.ask(library, "XLA_FLAGS", "", python, code)
    _, begun, data = answer.out.partition(b"BEGIN")
    if not begun:
        return {}
    options = next(
        (file for path in installed.shared_objects(library) if (file := find(path, _OPTIONS)) is not None),
        None,
    )
    file = read(library)
    message = debug_options(file) if file is not None else None
    if options is None or file is None or message is None:
        return {}
    body = _inner(memoryview(data), options, ".xla.CompileOptionsProto", 0)
    return {} if body is None else values_of(body, file, message)


def _inner(data: memoryview, file: ProtoFile, name: str, depth: int) -> memoryview | None:
    """The DebugOptions inside a message."""
    inside = {field.number: field.of for field in file.messages[name].fields if field.type == "message"}
    for number, wire, body, cut in protobuf.fields(data):
        if wire != 2 or cut or number not in inside:
            continue
        if inside[number].endswith(".DebugOptions"):
            return body
        if inside[number] in file.messages and depth < 4:
            found = _inner(body, file, inside[number], depth + 1)
            if found is not None:
                return found
    return None


def values_of(data: memoryview, file: ProtoFile, message: ProtoMessage) -> dict[str, Any]:
    """The values of a serialised DebugOptions. A field that is absent has its zero, unless it is optional,
    a list or a message: then nothing is known."""
    found = _zeros(file, message)
    by_number = {message_field.number: message_field for message_field in message.fields}
    lists: dict[str, list[str]] = {}
    for number, wire, body, cut in protobuf.fields(data):
        field = by_number.get(number)
        if field is None or cut:
            continue
        enum = file.enums.get(field.of, {})
        if field.repeated and field.type == "enum" and wire == 2:  # packed
            packed = [enum.get(value, str(value)) for value in protobuf.numbers(body)]
            lists.setdefault(field.name, []).extend(packed)
        elif not field.repeated and (text := _value(field.type, wire, body, enum)) is not None:
            found[field.name] = text
    return found | {name: " ".join(texts) for name, texts in lists.items()}


def _zeros(file: ProtoFile, message: ProtoMessage) -> dict[str, Any]:
    """What fields hold that are absent."""
    zero = {"bool": "false", "string": "", "float": "0", "double": "0"}
    found: dict[str, Any] = {}
    for message_field in message.fields:
        if not (
            message_field.optional or message_field.repeated or message_field.type in ("message", "bytes")
        ):
            enum = file.enums.get(message_field.of)
            found[message_field.name] = (
                enum.get(0, "0")
                if message_field.type == "enum" and enum
                else zero.get(message_field.type, "0")
            )
    return found


def _value(kind: str, wire: int, body: memoryview, enum: Mapping[int, str]) -> str | None:
    if wire == 0:
        number = protobuf.number(body)
        if kind == "bool":
            return "true" if number else "false"
        if kind == "enum":
            return enum.get(number, str(number))
        return str(protobuf.sign(number) if kind in ("int32", "int64") else number)
    if wire == 5 and kind == "float":
        return f"{struct.unpack('<f', body)[0]:g}"
    if wire == 1 and kind == "double":
        return f"{struct.unpack('<d', body)[0]:g}"
    if wire == 2 and kind == "string":
        return bytes(body).decode("utf-8", "replace")
    return None
