"""What the tests cost: processor time by test and by file, printed at the end of a run.

A test's cost is the processor time of its set-up, call and tear-down, in the worker and in the processes
that ended within it. What a shared fixture takes counts for the first test that asks for it. With
STEPSCOPE_TEST_COSTS=FILE, each test is also a line of JSON in FILE.
"""

import json
import os
import resource
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

SLOWEST = 20
FACT = "processor_s"
# Not in workers: the process that starts them hears of each test as well.
KEPT = "" if "PYTEST_XDIST_WORKER" in os.environ else os.environ.get("STEPSCOPE_TEST_COSTS", "")


def _processor_s() -> float:
    """Processor time of this process and of its children that have ended, in seconds."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


class Costs:
    """Measures in each worker; adds up and prints where the run is reported."""

    def __init__(self) -> None:
        self.by_test: dict[str, float] = defaultdict(float)
        self.begun_s = 0.0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.begun_s = _processor_s()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Iterator[None]:
        report = yield
        now_s = _processor_s()
        report.user_properties = [(FACT, now_s - self.begun_s)]
        self.begun_s = now_s
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        costs = [value for name, value in report.user_properties if name == FACT]
        self.by_test[report.nodeid] += sum(float(str(value)) for value in costs)
        if KEPT and report.when == "teardown":
            line = {"test": report.nodeid, FACT: round(self.by_test[report.nodeid], 3)}
            with Path(KEPT).open("a") as kept:
                kept.write(json.dumps(line) + "\n")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        files: dict[str, float] = defaultdict(float)
        for test, taken_s in self.by_test.items():
            files[test.partition("::")[0]] += taken_s
        total_s = sum(files.values())
        if not total_s:
            return
        terminalreporter.section(f"processor time: {total_s:,.0f} s in {len(self.by_test):,} tests")
        for title, costs in (("tests", self.by_test), ("files", files)):
            terminalreporter.line(f"the {SLOWEST} slowest {title}, in seconds:")
            for name, taken_s in sorted(costs.items(), key=lambda cost: -cost[1])[:SLOWEST]:
                terminalreporter.line(f"{taken_s:8.1f}  {name}")


def pytest_configure(config: pytest.Config) -> None:
    """Every worker measures; the process that starts them reports."""
    config.pluginmanager.register(Costs(), "stepscope-costs")
