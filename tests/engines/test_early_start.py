"""An engine that was begun is handed out once, its failure to the one who asks, and never to a fork."""

import subprocess
import sys

import pytest

from stepscope.engines import early_start
from stepscope.errors import UsageError


def test_an_engine_that_was_begun_is_handed_out_once() -> None:
    early_start.begin()
    early_start.begin()
    first, second = early_start.engine(), early_start.engine()
    assert first is not second
    assert first.query("SELECT 1").rows() == second.query("SELECT 1").rows() == [(1,)]
    first.close()
    second.close()


def test_a_failure_is_told_to_the_one_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_THREADS", "many")
    early_start.begin()
    with pytest.raises(UsageError, match="STEPSCOPE_THREADS"):
        early_start.engine()
    monkeypatch.delenv("STEPSCOPE_THREADS")
    early_start.engine().close()


def test_a_fork_makes_its_own() -> None:
    program = """
import os, threading, time
from stepscope.engines import early_start
early_start.begin()
while threading.active_count() > 1:  # nothing may be forked while it is being imported
    time.sleep(0.01)
if os.fork() == 0:
    os._exit(early_start.engine().query("SELECT 42").rows()[0][0])
found = os.waitstatus_to_exitcode(os.wait()[1])
print(found, early_start.engine().query("SELECT 7").rows()[0][0])
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=250
    )
    assert (done.stdout, done.returncode) == ("42 7\n", 0)
