"""Modules that tests import late: nothing before it is asked for; and TensorFlow's messages without it."""

import sys

import pytest

from tests.later import Later, installed, is_there, proto


def test_a_module_is_imported_when_it_is_asked_for_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    late = Later("colorsys")
    with pytest.raises(AttributeError):
        _ = late.__wrapped__
    assert "colorsys" not in sys.modules
    assert late.rgb_to_hsv(1, 0, 0) == (0, 1, 1)
    with pytest.raises(pytest.skip.Exception):
        _ = Later("stepscope_has_no_such_module").anything


def test_what_is_installed_is_found_without_importing_it() -> None:
    assert is_there("email.mime")
    assert not is_there("stepscope_has_no_such_module.of_it")
    with pytest.raises(pytest.skip.Exception):
        installed("stepscope_has_no_such_module")


def test_messages_come_without_tensorflow() -> None:
    def of_tensorflow() -> dict[str, object]:
        return {name: module for name, module in sys.modules.items() if name.split(".")[0] == "tensorflow"}

    before = of_tensorflow()
    graph_pb2, config_pb2 = proto("core.framework.graph_pb2"), proto("core.protobuf.config_pb2")
    assert of_tensorflow() == before
    assert proto("core.framework.graph_pb2") is graph_pb2
    message = config_pb2.RunMetadata()
    message.partition_graphs.add().CopyFrom(graph_pb2.GraphDef(node=[{"name": "a"}]))
    assert message.partition_graphs[0].node[0].name == "a"
