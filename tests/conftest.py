"""Settings for the whole suite."""

from __future__ import annotations

import signal

import hypothesis
import pytest

from tests import corpus, cost, tiers
from tests.tiers import cases

# A busy machine is no mistake of the code: nothing here is a timed test. pytest-timeout ends what hangs. The
# first tier draws the same cases each time, so that it fails for a change only; the second finds new ones.
hypothesis.settings.register_profile(
    "stepscope", deadline=None, max_examples=cases(40, 100), derandomize=not tiers.ALL
)
hypothesis.settings.load_profile("stepscope")

# A shell starts what runs in its background with SIGINT ignored, and every child inherits that: the programs
# which the tests stop by Ctrl-C would never hear of it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """The tiers, and what each test costs."""
    for part in (tiers, cost):
        config.pluginmanager.register(part)


def pytest_report_header() -> str:
    """Which recordings the run is about."""
    number = len(corpus.files("**/*.xplane.pb"))
    if corpus.ROOT == corpus.FULL:
        return f"recordings: {number} XPlanes of ../shared/corpus, and what else is in it"
    return f"recordings: {number} XPlanes of tests/samples"
