"""The help: quick, and true."""

import json
import os
import subprocess
import sys

import pytest

from stepscope.cli import VERBS, help_text, main, module_of
from stepscope.lake.schema import schema

HEAVY = (
    "duckdb", "stepscope._core", "wcwidth", "prompt_toolkit", "pyarrow", "stepscope.lake",
    "stepscope.engines",
)  # fmt: skip
HELP = "from stepscope.cli import main\nassert main(['--help']) == 0"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stepscope", *arguments], capture_output=True, text=True, check=False
    )


def test_help_loads_neither_engine_nor_core() -> None:
    code = (
        "import sys, json\nfrom stepscope.cli import main\nassert main(['--help']) == 0\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = json.loads(done.stdout.splitlines()[-1])
    assert not [name for name in modules if name.startswith(HEAVY)]


def test_help_of_a_verb_loads_neither_engine_nor_core() -> None:
    """One process asks for the help of every verb: what any of them loads stays loaded."""
    # The core itself lists tfprof's options, and is loaded with it: there is one list of them.
    verbs = sorted(VERBS, key=lambda verb: verb == "tfprof")
    code = f"""
import sys
from stepscope.cli import main
heavy = {HEAVY!r}
for verb in {verbs!r}:
    assert main([verb, "--help"]) == 0, verb
    loaded = [name for name in sys.modules if name.startswith(heavy)]
    assert not [name for name in loaded if (verb, name) != ("tfprof", "stepscope._core")], (verb, loaded)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("usage: stepscope") == len(VERBS)


@pytest.mark.parametrize(("code", "most"), [("import stepscope", 10), (HELP, 200)], ids=["import", "help"])
def test_few_modules_are_loaded(code: str, most: int) -> None:
    """What makes both quick, counted: times would be those of the machine."""
    code = f"import sys\nbegin = len(sys.modules)\n{code}\nprint(len(sys.modules) - begin)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0 < int(done.stdout.splitlines()[-1]) < most


def test_help_lists_the_verbs_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert shown == help_text()
    listed = [line.split()[0] for line in shown.splitlines() if line.startswith("  ") and line[2] != " "]
    assert tuple(listed) == VERBS
    assert max(map(len, shown.splitlines())) <= 110
    for verb in VERBS:
        module = module_of(verb)
        assert module.ABOUT in shown
        assert module.__doc__.startswith("stepscope ")


@pytest.mark.parametrize("words", [["help", "query"], ["query", "--help"], ["query", "-h"]])
def test_help_of_one_verb(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 0
    assert capsys.readouterr().out.startswith("usage: stepscope query PATH")


def test_nothing_at_all_is_told_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == help_text()
    assert main(["xla"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("usage: stepscope xla VERB")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    import stepscope

    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"stepscope {stepscope.__version__}\n"
    assert main(["version", "--format", "json"]) == 0
    told = {row["name"]: row["version"] for row in json.loads(capsys.readouterr().out)["rows"]}
    assert told["stepscope"] == stepscope.__version__
    assert int(told["schema"]) == schema().version
    assert main(["version"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == list(told)


def test_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "stepscope", "--help"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == help_text()
    refused = subprocess.run([sys.executable, "-m", "stepscope", "query"], capture_output=True, check=False)
    assert refused.returncode == 2


def test_help_works_where_the_locale_is_ascii() -> None:
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "stepscope", "--help"], capture_output=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
