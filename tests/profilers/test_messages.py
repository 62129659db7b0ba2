"""The messages of profiler servers: what we write, protobuf's own reader reads; and the other way round."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.profilers import messages
from stepscope.profilers.messages import Levels

FIELDS = {
    # Numbers and types as in the descriptor that TensorFlow 2.21 and jaxlib 0.10 carry.
    "Options": (
        ("host_tracer_level", 2, "UINT32"),
        ("device_tracer_level", 3, "UINT32"),
        ("python_tracer_level", 4, "UINT32"),
        ("version", 5, "UINT32"),
        ("enable_hlo_proto", 7, "BOOL"),
        ("duration_ms", 9, "UINT64"),
    ),
    "Request": (
        ("duration_ms", 1, "UINT64"),
        ("opts", 4, ".t.Options"),
        ("repository_root", 5, "STRING"),
        ("session_id", 6, "STRING"),
        ("host_name", 7, "STRING"),
        ("emit_xspace", 9, "BOOL"),
    ),
    "Tool": (("name", 1, "STRING"), ("data", 2, "BYTES")),
    "Response": (("tool_data", 6, "*.t.Tool"), ("empty_trace", 7, "BOOL"), ("xspace", 8, "BYTES")),
}


@pytest.fixture(scope="module")
def kinds() -> dict[str, Any]:
    """Message classes that protobuf makes of FIELDS."""
    pytest.importorskip("google.protobuf", reason="protobuf comes with TensorFlow")
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="t.proto", package="t", syntax="proto3")
    for kind, fields in FIELDS.items():
        message = file.message_type.add(name=kind)
        for name, number, what in fields:
            field = message.field.add(name=name, number=number, label=3 if what.startswith("*") else 1)
            if "." in what:
                field.type, field.type_name = 11, what.lstrip("*")
            else:
                field.type = getattr(descriptor_pb2.FieldDescriptorProto, f"TYPE_{what}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {kind: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"t.{kind}")) for kind in FIELDS}


def test_a_request_says_what_is_asked(kinds: dict[str, Any]) -> None:
    data = messages.request(2000, "2026_11_24", "wörker-0", "/data/profile", Levels(python=1))
    read = kinds["Request"].FromString(data)
    assert (read.duration_ms, read.session_id, read.host_name) == (2000, "2026_11_24", "wörker-0")
    assert (read.repository_root, read.emit_xspace) == ("/data/profile", True)
    assert (read.opts.version, read.opts.duration_ms, read.opts.enable_hlo_proto) == (1, 2000, True)
    levels = (read.opts.host_tracer_level, read.opts.device_tracer_level, read.opts.python_tracer_level)
    assert levels == (2, 1, 1)
    assert read.SerializeToString(deterministic=True)  # nothing of it is unknown to the descriptor
    assert len(read.SerializeToString()) == len(data)


@pytest.mark.repeats("it imports TensorFlow for numbers that are written down")
def test_numbers_are_those_of_tensorflow() -> None:
    """The options come from a module of TensorFlow itself."""
    theirs = pytest.importorskip("tensorflow.tsl.profiler.protobuf.profiler_options_pb2")
    from google.protobuf import descriptor_pb2

    fields = theirs.ProfileOptions.DESCRIPTOR.fields_by_name
    for name, number, what in FIELDS["Options"]:
        kind = getattr(descriptor_pb2.FieldDescriptorProto, f"TYPE_{what}")
        assert (fields[name].number, fields[name].type) == (number, kind)


@given(
    xspace=st.binary(max_size=300),
    tools=st.lists(st.tuples(st.text(max_size=20), st.binary(max_size=200)), max_size=3),
    empty=st.booleans(),
)
def test_a_reply_is_read_as_protobuf_wrote_it(
    kinds: dict[str, Any], xspace: bytes, tools: list[tuple[str, bytes]], empty: bool
) -> None:
    written = kinds["Response"](xspace=xspace, empty_trace=empty)
    for name, data in tools:
        written.tool_data.add(name=name, data=data)
    assert messages.reply(written.SerializeToString()) == (xspace, tuple(tools), empty)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_reply_or_refused(data: bytes) -> None:
    try:
        found = messages.reply(data)
    except ValueError:
        return
    assert len(found.xspace) <= len(data)
