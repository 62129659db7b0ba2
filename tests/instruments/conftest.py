"""What tests of several files here are given."""

from pathlib import Path

import pytest


@pytest.fixture
def traces() -> Path:
    """A trace of JAX and one of TensorFlow, each with the dump of the same run."""
    from tests.formats.test_hlo import unpacked  # here, as few tests need what it imports

    return unpacked("traces")
