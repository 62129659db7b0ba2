"""`stepscope record --format`: what was recorded as data on stdout, and nothing else there."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest

from stepscope.cli.record import FACTS
from tests.capture.launching import record

PROGRAM = "import sys; print('to stdout'); print('to stderr', file=sys.stderr); sys.exit(3)"


@pytest.mark.parametrize("form", ["json", "csv", "md"])
def test_stdout_is_the_facts_alone(form: str, tmp_path: Path) -> None:
    done = record("--format", form, "--", sys.executable, "-c", PROGRAM, cwd=tmp_path)
    assert done.returncode == 3
    assert "to stdout" in done.stderr
    assert "to stderr" in done.stderr
    assert "to std" not in done.stdout
    if form == "json":
        told = json.loads(done.stdout)
        (row,) = told["rows"]
        assert tuple(row) == FACTS
        assert (row["exit_code"], row["steps"], row["out"]) == (3, 0, None)
    elif form == "csv":
        (row,) = csv.DictReader(done.stdout.splitlines())
        assert (row["exit_code"], row["steps"], row["out"]) == ("3", "0", "")
    else:
        assert done.stdout.startswith("| out |")


def test_without_a_format_stdout_is_the_programs(tmp_path: Path) -> None:
    done = record("--", sys.executable, "-c", PROGRAM, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (3, "to stdout\n")


def test_spreadsheets_are_csv(tmp_path: Path) -> None:
    done = record("--spreadsheet", "--", sys.executable, "-c", PROGRAM, cwd=tmp_path)
    assert done.returncode == 2
    assert "Only CSV has formulas" in done.stderr
