"""Settings for the whole suite."""

import functools
import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator

import hypothesis
import pytest

from stepscope.session import lake_derivation
from tests import corpus, cost, tiers
from tests.tiers import cases

# A busy machine is no mistake of the code: nothing here is a timed test. pytest-timeout ends what hangs. The
# first tier draws the same cases each time, so that it fails for a change only; the second finds new ones.
hypothesis.settings.register_profile(
    "stepscope", deadline=None, max_examples=cases(15, 100), derandomize=not tiers.ALL
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
    if not hasattr(config, "workerinput"):
        # One for all workers, which inherit it: a recording is decoded once a run, by what is tested.
        folder = tempfile.mkdtemp(prefix="stepscope-cache-")
        config.add_cleanup(functools.partial(shutil.rmtree, folder, ignore_errors=True))
        os.environ["STEPSCOPE_CACHE_DIR"] = folder


def pytest_collection_finish() -> None:
    """What is imported by now stays: the garbage collector need not look at it again, a thousand times. Tests
    make many objects that live as long as they, among which it seldom finds any."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


@pytest.fixture(scope="module")
def nothing_is_derived() -> Iterator[None]:
    """Lakes that the module fills lack the tables that are derived from whole runs: who reads such a lake
    derives what is asked for. Deriving takes nine tenths of a small ingest, and is tested in
    session/test_deriving.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lake_derivation, "derive_runs", lambda lake, run_ids: None)
        yield


def pytest_report_header() -> str:
    """Which recordings the run is about."""
    number = len(corpus.files("**/*.xplane.pb"))
    if corpus.ROOT == corpus.FULL:
        return f"recordings: {number} XPlanes of ../shared/corpus, and what else is in it"
    return f"recordings: {number} XPlanes of tests/samples"
