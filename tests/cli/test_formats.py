"""--format csv, json and md for every verb: what it prints can be read, or an error says why not."""

import argparse
import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import stepscope
from stepscope import cli
from stepscope.cli import tfprof_options, xla
from stepscope.cli.arguments import FORMATS
from tests.corpus import SAMPLES
from tests.tiers import some

pytestmark = pytest.mark.usefixtures("nothing_is_derived")  # these tests are about what is printed
TF_DATA = str(SAMPLES / "tf_data" / "map_py_function.xplane.pb")
STEPS = str(SAMPLES / "run_metadata" / "two_servers.pb")
JAX = str(SAMPLES / "xplane" / "jax.xplane.pb.gz")
GPU = str(SAMPLES / "gpu" / "jax_graph.xplane.pb.gz")
GRAPH = str(SAMPLES / "graph" / "small.pb")
DUMP = str(SAMPLES / "xla_dump")
MODULE = str(next((SAMPLES / "xla_dump").glob("module_0000.*cpu_after_optimizations.hlo.pb")))
OTHERS = ("json", "csv", "md")

WORDS = {
    "summary": [TF_DATA],
    "pipeline": [TF_DATA],
    "memory": [STEPS],
    "whatif": [TF_DATA, "--op", "EagerPyFunc=0.5"],
    "roofline": [GPU],
    "diff": [TF_DATA, TF_DATA],
    "check": ["--baseline", TF_DATA, "--candidate", TF_DATA],
    "query": [TF_DATA, "SELECT name FROM slice LIMIT 3"],
    "ingest": [TF_DATA, "--lake", "NEW"],
    "compact": ["LAKE"],
    "verify": ["LAKE"],
    "export": [STEPS, "-o", "OUT.json", "--force"],
    "report": [TF_DATA],
    "tfprof": ["scope", "-graph_path", GRAPH],
    "graph": [GRAPH],
    "docs": ["lake"],
    "version": [],
    "completions": [],
    "cache": [],
    "xla dumps": [DUMP],
    "xla cost": [MODULE],
    "xla env": ["--dump", "NEW"],
    "xla run": ["--dump", "NEW", "--", sys.executable, "-c", "print('of the program')"],
    "xla diff": [MODULE, MODULE],
    "xla ops": [JAX],
}
"""What each verb is tried with. NEW is a folder that is not there, LAKE a lake, OUT a file."""

APART = {
    "record": "runs a program under a profiler: tests/cli/test_record.py",
    "top": "watches a program that runs: tests/capture/test_live.py",
    "attach": "needs a process and rights to trace it: tests/cli/test_attach.py",
    "capture": "needs a job: tests/cli/test_capture.py",
    "mcp": "a protocol: below",
    "serve": "runs until it is stopped: below",
    "open": "the same",
    "xla": "its verbs are listed one by one",
    "xla clusters": "needs logs of clustering",
    "xla flags": "needs jaxlib or TensorFlow",
    "xla check": "the same",
    "xla ops-supported": "the same",
    "xla symbols": "the same",
    "xla replay": "the same",
}


def every() -> dict[str, argparse.ArgumentParser]:
    """All verbs, and those below xla."""
    found = {verb: cli.module_of(verb).parser() for verb in cli.verbs()}
    return found | {f"xla {name}": xla.module_of(name).parser() for name in xla.BELOW}


def test_every_verb_takes_a_format() -> None:
    wanting = []
    for verb, parser in every().items():
        option = next((one for one in parser._actions if "--format" in one.option_strings), None)
        if verb == "tfprof":  # it has options of its own
            assert "csv" in tfprof_options.VALUES["format"]
        elif verb == "top":  # what it shows is one object, and no table of rows
            assert "json" in (option.choices or ())
        elif verb != "xla" and (option is None or not set(OTHERS) <= set(option.choices or ())):
            wanting.append(verb)
    assert wanting == []


def test_every_verb_is_tried_or_excused() -> None:
    assert set(every()) == set(WORDS) | set(APART)


PAIRS = [
    pytest.param(
        verb,
        form,
        marks=() if at % 3 == OTHERS.index(form) else pytest.mark.repeats("each verb, and each form of some"),
    )
    for at, verb in enumerate(WORDS)
    for form in OTHERS
]


@pytest.mark.parametrize(("verb", "form"), PAIRS)
def test_what_is_printed_can_be_read(
    verb: str, form: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lake = tmp_path / "lake"
    if "LAKE" in WORDS[verb]:
        stepscope.ingest([STEPS], lake)
    places = {"NEW": str(tmp_path / "new"), "LAKE": str(lake), "OUT.json": str(tmp_path / "out.json")}
    words = [places.get(word, word) for word in WORDS[verb]]
    option = ["-format", form] if verb == "tfprof" else ["--format", form]
    at = words.index("--") if "--" in words else len(words)
    code = cli.main([*verb.split(), *words[:at], *option, *words[at:]])
    out, said = capfd.readouterr()
    assert not said.startswith("error: "), said
    assert code in ((0, 2) if verb == "check" else (0,))  # 2: two recordings are too few to judge
    readable(out, form)


def readable(out: str, form: str) -> None:
    if form == "json":
        json.loads(out)
    elif form == "csv":
        rows = list(csv.reader(io.StringIO(out)))
        assert len({len(row) for row in rows}) == 1
    else:
        assert "|" in out or "#" in out, out[:300]


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command says that ends with the exit code of a mistake."""
    assert cli.main(list(words)) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert all(part in told.err for part in ("error: ", "seen:", "to do:"))
    return told.err


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "json"])
def test_a_protocol_has_one_form(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "has one form" in refused(capsys, "mcp", str(tmp_path), "--format", form)


def test_a_list_of_completions_is_for_no_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no shell" in refused(capsys, "completions", "bash", "--format", "csv")
    assert "no shell" in refused(capsys, "completions", "--install", "--format", "json")


@pytest.mark.parametrize("form", some(OTHERS, ("csv",), "rows are written in one place"))
def test_the_page_tells_its_url_in_every_form(form: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "stepscope", "serve", STEPS, "--no-open", "--format", form]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        while "Ctrl-C" not in process.stderr.readline():
            assert process.poll() is None
    finally:
        process.terminate()
        out, _ = process.communicate()
    readable(out, form)
    assert "http://127.0.0.1:" in out
    assert "#t=" in out
