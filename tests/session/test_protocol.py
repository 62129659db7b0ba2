"""What answers as a trace or as an engine has the methods that callers are typed against."""

import inspect

import pytest

from stepscope.engines import Engine
from stepscope.engines.duckdb import DuckDB
from stepscope.session.trace import OpenTrace
from tests.fakes import FakeTrace


def members(protocol: type) -> dict[str, object]:
    """Methods and properties of a protocol's own."""
    return {
        name: member
        for name, member in vars(protocol).items()
        if callable(member) or isinstance(member, property)
        if not name.startswith("_") or name in ("__enter__", "__exit__")
    }


@pytest.mark.parametrize(("protocol", "made"), [(OpenTrace, FakeTrace), (Engine, DuckDB)])
def test_it_has_the_methods_of_its_protocol(protocol: type, made: type) -> None:
    assert len(members(protocol)) > 8
    for name, member in members(protocol).items():
        own = getattr(made, name, None)
        if isinstance(member, property):
            continue  # an attribute does as well
        assert own is not None, name
        if name != "__exit__":
            assert list(inspect.signature(own).parameters) == list(inspect.signature(member).parameters), name
