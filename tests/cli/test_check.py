"""stepscope check from the command line: verdicts, exit codes, files, and what it refuses."""

import argparse
import json
import random
import subprocess
import sys
import textwrap
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from stepscope.cli import alternation, main
from stepscope.cli.console import Console
from stepscope.errors import OutputError
from stepscope.presenters import junit
from stepscope.report import Report
from tests.tiers import cases

OPS = {"aten::conv": 900, "aten::linear": 500, "aten::relu": 100}


def trace(path: Path, ops: dict[str, Any], seed: int, steps: int = 12) -> str:
    """A profile of PyTorch: each step runs each op once, for about so many microseconds."""
    luck = random.Random(seed)
    level = {name: luck.uniform(0.99, 1.01) for name in ops}
    events: list[dict[str, Any]] = []
    now = 1000.0
    for step in range(steps):
        begin = now
        for name, us in ops.items():
            dur = us if isinstance(us, str) else us * level[name] * luck.uniform(1, 1.05)
            events.append(
                {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": now, "dur": dur}
            )
            now += 10 + (dur if isinstance(dur, float) else 1)
        mark = {"cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": begin, "dur": now - begin}
        events.append({"ph": "X", "pid": 1, "tid": 1, **mark})
        now += 5
    text = json.dumps({"schemaVersion": 1, "traceEvents": events}).replace('"NaN"', "NaN")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Five recordings of each of three versions."""
    root = tmp_path_factory.mktemp("versions")
    versions = {
        "old": OPS,
        "slow": {**OPS, "aten::conv": 1000},
        "more": {**OPS, "aten::add": 20},
        "other": {"jax::a": 400, "jax::b": 700},
    }
    return {
        name: [trace(root / name / f"{name}{i}.json", ops, hash((len(name), i)) % 10**6) for i in range(4)]
        for name, ops in versions.items()
    }


def check(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any, str]:
    """Exit code, JSON and stderr."""
    code = main(["check", *words, "--format", "json"])
    said = capsys.readouterr()
    return code, json.loads(said.out) if said.out else None, said.err


def test_a_slower_op_fails_and_is_named(made: dict[str, list[str]], capsys: Any, tmp_path: Path) -> None:
    out = [tmp_path / f"gate.{ending}" for ending in ("xml", "md", "json")]
    words = [word for path in out for word in ("-o", str(path))]
    code, told, err = check(capsys, "--baseline", *made["old"], "--candidate", *made["slow"], *words)
    assert code == 1
    assert told["verdict"] == "regression"
    failed = [one["name"] for one in told["checks"] if one["status"] == "failed" and one["group"] == "ops"]
    assert failed == ["aten::conv"]
    (conv,) = [one for one in told["checks"] if one["name"] == "aten::conv"]
    assert conv["shift"] == pytest.approx(1 / 9, abs=0.03)
    assert "aten::conv +" in told["headline"][0]
    suite = ET.parse(out[0]).getroot()
    failures = [case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None]
    assert "aten::conv" in failures
    assert int(suite.get("failures", "")) == len(failures)
    assert int(suite.get("tests", "")) == len(list(suite.iter("testcase")))
    assert out[1].read_text().startswith("# 4 recordings of the baseline")
    assert json.loads(out[2].read_text())["verdict"] == "regression"
    assert err.count("wrote ") == 3


def test_the_same_version_passes(made: dict[str, list[str]], capsys: Any) -> None:
    code, told, _ = check(capsys, "--baseline", *made["old"], "--candidate", *made["old"][::-1])
    assert code == 0
    assert told["verdict"] == "no_regression"
    assert "would have been seen" in told["headline"][0]


@pytest.mark.repeats("another difference; a slower op is found beside it")
def test_one_more_op_fails_with_one_recording_each(made: dict[str, list[str]], capsys: Any) -> None:
    words = ("--baseline", made["old"][0], "--candidate", made["more"][0])
    code, told, _ = check(capsys, *words, "--counts")
    assert code == 1
    assert "ops in a step 4, allowed 3" in told["headline"][0]
    code, told, _ = check(capsys, *words)
    assert code == 1
    assert "not known" in told["headline"][1]


def test_one_recording_each_is_no_pass(made: dict[str, list[str]], capsys: Any) -> None:
    code, told, _ = check(capsys, "--baseline", made["old"][0], "--candidate", made["slow"][0])
    assert code == 2
    assert told["reasons"] == ["few_recordings"]
    assert all(one.get("p") is None for one in told["checks"])


def test_different_programs_are_no_pass(made: dict[str, list[str]], capsys: Any) -> None:
    count = cases(1, 4)
    code, told, _ = check(capsys, "--baseline", *made["other"][:count], "--candidate", *made["old"][:count])
    assert "different_programs" in told["reasons"]
    assert code in (1, 2)
    assert "look like different programs" in " ".join(told["headline"])


@pytest.mark.repeats("the same verdict of recordings kept otherwise")
def test_a_folder_and_a_lake_hold_recordings(made: dict[str, list[str]], capsys: Any, tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    for path in made["old"][:2]:
        # Files of one folder are hosts of one run; each recording says that it is a run of its own.
        assert main(["ingest", path, "--lake", lake, "--run", Path(path).stem]) == 0
    capsys.readouterr()
    code, told, _ = check(capsys, "--counts", "--baseline", lake, "--candidate", *made["more"][:2])
    assert (code, told["title"]) == (1, "2 recordings of the baseline, 2 recordings of the candidate")
    code, told, _ = check(capsys, "--baseline", lake, "--last", "1", "--candidate", made["slow"][0])
    assert told["title"].startswith("1 recording of the baseline")
    code, told, _ = check(capsys, "--history", lake)
    assert (code, told["verdict"]) == (2, "unknown")
    assert "20" in told["headline"][0]


@pytest.mark.repeats("the same verdict of recordings kept otherwise")
def test_two_jobs_of_one_name_stay_apart(capsys: Any, tmp_path: Path) -> None:
    """Folders called train on both sides, and twice on one."""
    more = {**OPS, "aten::add": 20}
    a = [trace(tmp_path / "a" / str(i) / "train" / "t.json", OPS, i) for i in range(2)]
    b = [trace(tmp_path / "b" / str(i) / "train" / "t.json", more, i + 9) for i in range(2)]
    folders = [str(Path(path).parent) for path in a]
    code, told, _ = check(capsys, "--counts", "--baseline", *folders, "--candidate", str(tmp_path / "b"))
    assert code == 1
    assert told["title"] == "2 recordings of the baseline, 2 recordings of the candidate"
    assert len(b) == 2


def test_times_that_are_no_numbers_are_lost_not_compared(
    made: dict[str, list[str]], capsys: Any, tmp_path: Path
) -> None:
    bad = [trace(tmp_path / f"n{i}.json", {**OPS, "aten::relu": "NaN"}, i) for i in range(cases(1, 4))]
    code, told, _ = check(capsys, "--baseline", *made["old"][: len(bad)], "--candidate", *bad)
    assert code in (0, 1, 2)
    assert told is not None
    assert "NaN" not in json.dumps(told)
    nothing = tmp_path / "nothing.json"
    trace(nothing, {"a": "NaN"}, 1)
    nothing.write_text(nothing.read_text().replace('"dur": ', '"dur": NaN, "old": '))
    code, told, _ = check(capsys, "--baseline", made["old"][0], "--candidate", str(nothing))
    assert code == 2


def test_what_cannot_be_read_is_no_pass(made: dict[str, list[str]], capsys: Any, tmp_path: Path) -> None:
    bad = []
    for i in range(2):
        path = tmp_path / f"bad{i}.xplane.pb"
        path.write_bytes(b"\x0a\xff\xff\xff\xff\xff" * 9)
        bad.append(str(path))
    words = ("--baseline", made["old"][0], "--candidate", made["old"][0], *bad)
    code, told, err = check(capsys, *words)
    assert (code, told) == (2, None)
    assert "bad0" in err
    assert "cannot be read" in err
    code, _, err = check(capsys, "--baseline", made["old"][0], "--candidate", str(tmp_path / "none"))
    assert code == 2


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        ((), "no --candidate"),
        (("--candidate", "x"), "no --baseline"),
        (("--record", "2", "--", "a"), "1 commands"),
        (("--record", "2"), "0 commands"),
        (("--record", "2", "--baseline", "x", "--", "a", "--", "b"), "--record with recordings"),
        (("--baseline", "x", "--candidate", "y", "--", "a"), "commands without --record"),
        (("--baseline", "x", "--candidate", "y", "--steps", "3"), "without --record"),
        (("--baseline", "x", "--candidate", "y", "-o", "gate.txt"), "ends in .txt"),
        (("--lake", "l", "--baseline", "x", "--candidate", "y"), "--lake"),
    ],
)
def test_what_makes_no_comparison_is_refused(words: tuple[str, ...], seen: str, capsys: Any) -> None:
    assert main(["check", *words]) == 2
    said = capsys.readouterr()
    assert seen in said.err
    assert not said.out


@pytest.mark.repeats("the same verdict of recordings kept otherwise")
def test_budgets_of_files(made: dict[str, list[str]], capsys: Any, tmp_path: Path) -> None:
    budget = tmp_path / "budget.toml"
    words = (
        "--baseline",
        made["old"][0],
        "--candidate",
        made["more"][0],
        "--counts",
        "--budget",
        str(budget),
    )
    budget.write_text('[limits]\nops_per_step = "+1"\n')
    assert check(capsys, *words)[0] == 0
    budget.write_text("[limits]\nops_per_step = 3\n")
    assert check(capsys, *words[2:])[0] == 1
    for wrong in ("[limits", "[limits]\nops = 1\n", ""):
        budget.write_text(wrong)
        code, _, err = check(capsys, *words)
        assert code == (1 if wrong == "" else 2)
        assert ("budget" in err) == (wrong != "")
    other = tmp_path / "budget.json"
    other.write_text('{"limits": {"ops_per_step": "+1"}}')
    assert check(capsys, *words[:-1], str(other))[0] == 0
    other.write_text("{" * 50)
    assert check(capsys, *words[:-1], str(other))[0] == 2


def test_junit_of_hostile_names() -> None:
    name = "</testcase>\x00\x1b[31m<![CDATA[ \ud800 &quot; \ufffe"
    check = {"group": "ops", "name": name, "status": "failed", "message": name}
    text = junit.render(Report("t", (name,), document={"verdict": "regression", "checks": [check]}))
    suite = ET.fromstring(text.encode("utf-8"))
    (case,) = suite.iter("testcase")
    assert "</testcase>" in case.get("name", "")
    unknown = {"group": "verdict", "name": "verdict", "status": "skipped", "message": "few"}
    suite = ET.fromstring(junit.render(Report("t", (), document={"verdict": "unknown", "checks": [unknown]})))
    assert suite.get("errors") == "1"


PROGRAM = """
    import sys
    import tensorflow as tf

    @tf.function
    def step(x):
        for _ in range(int(sys.argv[1])):
            x = tf.matmul(x, x) * 0.01
        return x

    x = tf.ones((64, 64))
    for _ in range(30):
        x = step(x)
"""


@pytest.mark.repeats("it records TensorFlow twice; tests/capture records it, and the parts are tested above")
def test_two_programs_recorded_in_turns(tmp_path: Path) -> None:
    """One more product in each step, seen with one recording each."""
    program = tmp_path / "train.py"
    program.write_text(textwrap.dedent(PROGRAM))
    into = tmp_path / "recorded"
    base = [sys.executable, "-m", "stepscope", "check", "--record", "1", "--counts", "--steps", "12"]
    words = [*base, "--format", "json", "--no-cache", "--into", str(into)]
    commands = [["--", sys.executable, str(program), number] for number in ("2", "3")]
    done = subprocess.run([*words, *commands[0], *commands[1]], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    (ops,) = [one for one in told["checks"] if one["name"] == "ops_per_step"]
    assert ops["status"] == "failed"
    assert sorted(path.name for path in into.iterdir()) == ["a1", "a1.log", "b1", "b1.log"]
    again = subprocess.run([*words, *commands[0], *commands[1]], capture_output=True, text=True, check=False)
    assert again.returncode == 2
    assert "is there already" in again.stderr


def test_both_programs_meet_the_same_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A B, then B A: neither is always first. What is there is never replaced."""
    ran: list[tuple[str, str]] = []

    def one(options: argparse.Namespace, command: list[str], out: Path) -> None:
        ran.append((command[0], out.name))
        out.mkdir()

    monkeypatch.setattr(alternation, "_one", one)
    into = tmp_path / "recorded"
    options = argparse.Namespace(into=str(into), record=2, commands=[["A"], ["B"]])
    sides = alternation.record(options, Console.of())
    assert ran == [("A", "a1"), ("B", "b1"), ("B", "b2"), ("A", "a2")]
    assert sides == ([str(into / "a1"), str(into / "a2")], [str(into / "b1"), str(into / "b2")])
    with pytest.raises(OutputError, match="is there already"):
        alternation.record(options, Console.of())
    assert len(ran) == 4


def test_a_program_that_fails_is_no_pass(tmp_path: Path, capsys: Any) -> None:
    words = ["check", "--record", "2", "--into", str(tmp_path / "x")]
    command = [sys.executable, "-c", "raise SystemExit('no such dataset')"]
    assert main([*words, "--", *command, "--", *command]) == 2
    assert "no such dataset" in capsys.readouterr().err
