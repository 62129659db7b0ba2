"""The parts of `make test`: side by side where they say so, and the exit code of what failed."""

import subprocess
import sys
from pathlib import Path

HANG_SECONDS = 60


def run(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = Path(__file__).with_name("parts.py")
    return subprocess.run(
        [sys.executable, str(path), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_SECONDS,
    )


def test_groups_run_beside_each_other(tmp_path: Path) -> None:
    """Each waits for a file of the other's."""
    done = run(
        "first=touch first",
        "--beside",
        "a=test -e first && touch a && until test -e b; do sleep 0.01; done; echo a is over",
        "--beside",
        "b=until test -e a; do sleep 0.01; done; touch b",
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a is over\n" in done.stdout
    assert sorted(line.split()[0] for line in done.stdout.splitlines() if line.endswith(" s")) == [
        "a",
        "all",
        "b",
        "first",
    ]


def test_what_fails_ends_its_group_alone(tmp_path: Path) -> None:
    done = run("--beside", "a=exit 3", "never=touch never", "--beside", "b=touch b", folder=tmp_path)
    assert done.returncode == 3
    assert done.stdout.endswith("failed: a\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b"]


def test_nothing_runs_beside_what_fails_first(tmp_path: Path) -> None:
    done = run("a=exit 2", "b=touch b", "--beside", "c=touch c", folder=tmp_path)
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []
