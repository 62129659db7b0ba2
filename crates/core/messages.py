"""Writes src/proto/tensorflow.rs: the tables of TensorFlow's messages, from TensorFlow's own descriptors.

    python crates/core/messages.py

tests/core/test_messages.py fails when the file differs from what this script writes. Run it after a change of
the TensorFlow version in pyproject.toml, and read the difference: a new field may be worth decoding.
"""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tensorflow.core.framework import types_pb2
from tensorflow.core.profiler import tfprof_log_pb2
from tensorflow.core.protobuf import config_pb2, saved_model_pb2

OUT = Path(__file__).parent / "src" / "proto" / "tensorflow.rs"

ROOTS = (
    config_pb2.RunMetadata.DESCRIPTOR,
    saved_model_pb2.SavedModel.DESCRIPTOR,
    tfprof_log_pb2.ProfileProto.DESCRIPTOR,
)

# Read field by field, because they may be larger than memory. GraphDebugInfo is never kept, only skipped.
CONTAINERS = {
    "CostGraphDef", "DeviceStepStats", "FunctionDefLibrary", "GraphDebugInfo", "GraphDef", "MetaGraphDef",
    "ProfileProto", "RunMetadata", "RunMetadata.FunctionGraphs", "SavedModel", "StepStats",
}  # fmt: skip

# Messages that no reader looks into: their fields are skipped, so their own messages are not listed.
# TensorFlow 1.1 writes texts into a CodeDef where later versions write numbers.
UNREAD = {
    "AssetFileDef", "CodeDef", "MetaGraphDef.CollectionDefEntry", "MetaGraphDef.SignatureDefEntry",
    "SaverDef", "SavedObjectGraph", "google.protobuf.Any",
}  # fmt: skip

# The one enumeration whose names are needed.
DATA_TYPE = types_pb2.DataType.DESCRIPTOR

HEAD = """\
// Written by crates/core/messages.py from the descriptors of TensorFlow; change that script, not this file.

use super::messages::Kind::{Bool, Bytes, Double, Enum, Float, Int, Text, Unread};
use super::messages::{Message, many, message, messages, one};
"""


def main() -> None:
    OUT.write_text(text())


def text() -> str:
    """The Rust file."""
    types = wrapped([f'("{value.name}", {value.number})' for value in DATA_TYPE.values])
    return (
        f"{HEAD}\nmessages! {{\n{''.join(map(table, messages()))}}}\n\n"
        "/// `DataType`: names and numbers; a reference type is its base plus 100.\n"
        f"#[rustfmt::skip]\npub static DATA_TYPES: &[(&str, i32)] = &[\n{types}\n];\n"
    )


def wrapped(parts: list[str]) -> str:
    """Lines of at most 110 characters, with a comma behind each part."""
    return (
        textwrap.fill(
            "\t".join(part.replace(" ", "\0") + "," for part in parts),
            110,
            initial_indent="    ",
            subsequent_indent="    ",
            expand_tabs=False,
            break_long_words=False,
        )
        .replace("\t", " ")
        .replace("\0", " ")
    )


def messages() -> Iterator[Any]:
    """Descriptors of the roots and of all that is read within them, each before what it holds."""
    found: dict[str, Any] = {}
    waiting = list(reversed(ROOTS))
    while waiting:
        message = waiting.pop()
        if message.full_name not in found:
            found[message.full_name] = message
            waiting += [field.message_type for field in reversed(message.fields) if is_read(field)]
    yield from found.values()


def table(message: Any) -> str:
    """The table of a message: its constant, its name, whether it is a container, and its fields."""
    container = str(short(message) in CONTAINERS).lower()
    fields = wrapped([row(field) for field in message.fields])
    return f'{constant(message)} "{message.name}" {container} [\n{fields}\n]\n'


def row(field: Any) -> str:
    repeat = "many" if field.is_repeated else "one"
    return f'{repeat}({field.number}, "{field.name}", {kind(field)})'


def kind(field: Any) -> str:
    """The `Kind` of a field."""
    if field.message_type is not None:
        return f"message(&{constant(field.message_type)})" if is_read(field) else "Unread"
    if field.enum_type is not None:
        return "Enum(DATA_TYPES)" if field.enum_type is DATA_TYPE else "Enum(&[])"
    return {
        field.TYPE_BOOL: "Bool",
        field.TYPE_BYTES: "Bytes",
        field.TYPE_DOUBLE: "Double",
        field.TYPE_FIXED64: "Double",  # as wide; only ids that nobody reads
        field.TYPE_FLOAT: "Float",
        field.TYPE_INT32: "Int",
        field.TYPE_INT64: "Int",
        field.TYPE_STRING: "Text",
        field.TYPE_UINT32: "Int",
        field.TYPE_UINT64: "Int",
    }[field.type]


def is_read(field: Any) -> bool:
    """Whether a field holds a message that readers look into."""
    return field.message_type is not None and short(field.message_type) not in UNREAD


def short(message: Any) -> str:
    """Name without TensorFlow's package: `RunMetadata.FunctionGraphs`."""
    return str(message.full_name).removeprefix("tensorflow.").removeprefix("tfprof.")


def constant(message: Any) -> str:
    """`RunMetadata.FunctionGraphs` as `RUN_METADATA_FUNCTION_GRAPHS`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|\.", "_", short(message)).upper()


if __name__ == "__main__":
    main()
