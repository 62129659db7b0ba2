"""A full disk, wherever it is met, ends in an error that says so, and leaves nothing behind."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import corpus
from tests.faults.test_lake_faults import shim  # noqa: F401 - a fixture
from tests.tiers import cases, some

ROOT = Path(__file__).parents[2]
SAMPLE = str(corpus.SAMPLES / "profiler_hook")
OUTPUT = [
    ("query", SAMPLE, "FROM slice", "--format", "csv"),
    ("query", SAMPLE, "FROM slice", "--format", "json"),
    ("query", SAMPLE, "SELECT 1"),
    (SAMPLE,),
    (SAMPLE, "--format", "json"),
    ("export", SAMPLE, "--to", "ndjson", "-o", "-"),
    ("export", SAMPLE, "--to", "json.gz", "-o", "-"),
    ("report", SAMPLE, "-o", "-"),
    ("docs",),
    ("--help",),
    ("--version",),
]


def short(words: tuple[str, ...]) -> str:
    return " ".join(word for word in words if word != SAMPLE) or "summary"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize(
    "words", some([(one,) for one in OUTPUT], OUTPUT[:2], "each verb is a process"), ids=short
)
def test_output_to_a_full_disk(words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "stepscope", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "standard output" in done.stderr.lower()
    assert "No space left on device" in done.stderr
    assert "itself failed" not in done.stderr


@pytest.mark.parametrize("words", [OUTPUT[0], OUTPUT[5], ("--version",)], ids=short)
def test_output_that_is_closed(words: tuple[str, ...]) -> None:
    line = " ".join(f"'{word}'" for word in (sys.executable, "-m", "stepscope", *words))
    done = subprocess.run(["sh", "-c", f"{line} >&-"], stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert "standard output is closed" in done.stderr


ENDINGS = [".duckdb", ".json", ".json.gz", ".csv", ".ndjson", ".parquet", "/", ".pb.gz"]
STEPS = {".parquet": cases(11, 5), "/": cases(389, 29), ".duckdb": cases(61, 29)}
"""How many calls of an export are let go between two that fail."""


@pytest.mark.parametrize("ending", some(ENDINGS, ("/",), "eight endings"))
def test_any_call_of_an_export_may_fail(ending: str, shim: Path, tmp_path: Path) -> None:  # noqa: F811
    folder = tmp_path / "out"
    numbers = [str(shim), str(folder), str(errno.ENOSPC), "1", str(STEPS.get(ending, cases(197, 17)))]
    words = ["export", SAMPLE, "-o", f"{folder}/x{ending}"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.export_child", *numbers, "--", *words],
        cwd=ROOT,
        env={**os.environ, "LD_PRELOAD": str(shim)},
        capture_output=True,
        text=True,
        check=False,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers, done.stderr
    for one in answers:
        if one["code"] == 0:
            assert one["left"] == [f"x{ending}".rstrip("/")], one
        else:
            assert one["code"] == 2, one
            assert "itself failed" not in one["said"], one
            assert "Traceback" not in one["said"], one
            assert one["left"] == [], one
    assert [answers[0]["code"], answers[-1]["code"]] == [2, 0]
