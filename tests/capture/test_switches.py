"""Switches for debugging, as the recorder reads them from the frameworks."""

import sys
from types import SimpleNamespace

import pytest

from stepscope.capture.environment import free_threaded
from stepscope.capture.switches import switches

NUMERICS = "tensorflow.python.debug.lib.check_numerics_callback"


@pytest.fixture(autouse=True)
def no_frameworks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name in ("torch", "jax") or name.startswith("tensorflow.python."):
            monkeypatch.delitem(sys.modules, name)


def test_switches_that_are_on_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    config = SimpleNamespace(jax_debug_nans=True, jax_debug_infs=False, jax_disable_jit=False)
    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace(config=config))  # type: ignore[misc]
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(is_anomaly_enabled=lambda: True))  # type: ignore[misc]
    state = SimpleNamespace()
    monkeypatch.setitem(sys.modules, NUMERICS, SimpleNamespace(_state=state))  # type: ignore[misc]
    assert switches() == ["torch.autograd.set_detect_anomaly", "jax_debug_nans"]
    state.check_numerics_callback = object()
    assert switches()[2:] == ["tf.debugging.enable_check_numerics"]


def test_frameworks_without_them_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """As older versions are; and whatever goes wrong while one is read costs that one."""
    assert switches() == []

    def fail() -> bool:
        raise RuntimeError("not now")

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(is_anomaly_enabled=fail))  # type: ignore[misc]
    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace())  # type: ignore[misc]
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    assert switches() == ["CUDA_LAUNCH_BLOCKING"]


@pytest.mark.parametrize("lock", [True, False, None], ids=["with", "without", "versions that have none"])
def test_threads_run_python_at_the_same_time_where_the_lock_is_off(
    lock: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(sys, "_is_gil_enabled", raising=False)
    if lock is not None:
        monkeypatch.setattr(sys, "_is_gil_enabled", lambda: lock, raising=False)  # type: ignore[misc]
    assert free_threaded() is (lock is False)
