"""However a program ends, it ends as it would, and what was recorded until then is readable."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stepscope.capture import notes
from stepscope.capture.launch import ProgramEnd
from stepscope.capture.plan import RecordingPlan
from stepscope.cli import recording_outcome
from tests.capture.launching import PROGRAMS, facts, lines, record, run

PROGRAM = PROGRAMS / "jax_end.py"
STEPS = ("--warmup", "3", "--steps", "40")
_BEGUN = re.compile(r"stepscope: recording train_step from step 5 on, \d+ s after the start, to out\n")


@pytest.mark.repeats("each case starts JAX twice")
@pytest.mark.parametrize(
    ("how", "saved"),
    [
        ("raise", True),
        ("sys.exit", True),
        ("os._exit", True),
        ("SIGTERM", True),
        ("SIGINT", True),
        ("SIGKILL", False),
        ("own profiler", True),
    ],
)
def test_cut(how: str, saved: bool, tmp_path: Path) -> None:
    plain = run(sys.executable, PROGRAM, how, cwd=tmp_path)
    recorded = record(*STEPS, "--out", "out", "--", sys.executable, PROGRAM, how, cwd=tmp_path)
    assert recorded.returncode == plain.returncode
    assert recorded.stdout == plain.stdout
    # The last words are the launcher's; before them stands what the program said, and nothing else but, where
    # the program ran for long enough, that it is recorded.
    begun = [line for line in recorded.stderr.splitlines(True) if _BEGUN.fullmatch(line)]
    assert len(begun) <= 1
    stderr = recorded.stderr.replace("".join(begun), "")
    assert stderr.startswith(plain.stderr)
    said = stderr[len(plain.stderr) :]
    assert said.startswith("stepscope: recorded 17 steps of train_step to out\n")
    assert said.endswith("next:    stepscope out\n")
    told = facts(tmp_path / "out")
    assert told["recorded"]["steps"] == 17
    assert told["ended_unix_ns"] > told["started_unix_ns"]
    assert told["problems"]
    assert [line["recorded"] for line in lines(tmp_path / "out" / "steps.ndjson")] == [False] * 4 + [
        True
    ] * 17
    assert any((tmp_path / "out").glob("plugins/profile/*/*.xplane.pb")) == saved
    assert not any(file["path"] for file in told["files"] if not (tmp_path / "out" / file["path"]).is_file())
    exit_ = told["exit"]
    if plain.returncode < 0:
        assert (exit_["code"], exit_["signal"]) == (None, -plain.returncode)
    else:
        assert (exit_["code"], exit_["signal"]) == (plain.returncode, None)
    assert exit_["error"] == {"raise": "ValueError: the data is odd", "SIGINT": "KeyboardInterrupt: "}.get(
        how
    )


@pytest.mark.repeats("each starts JAX twice")
@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_children(how: str, tmp_path: Path) -> None:
    """Only the first process that reaches steps records; its children run as they would."""
    plain = run(sys.executable, PROGRAM, how, cwd=tmp_path)
    recorded = record("--steps", "30", "--out", "out", "--", sys.executable, PROGRAM, how, cwd=tmp_path)
    assert (recorded.returncode, recorded.stdout) == (plain.returncode, plain.stdout)
    assert facts(tmp_path / "out")["recorded"] == {"steps": 30, "sessions": 1}
    assert facts(tmp_path / "out")["problems"] == []


@pytest.mark.repeats("it starts JAX twice")
def test_one_of_two_programs_is_recorded_and_the_other_is_told(tmp_path: Path) -> None:
    command = f"{sys.executable} {PROGRAM} && {sys.executable} {PROGRAM}"
    recorded = record("--steps", "5", "--out", "out", "--", "sh", "-c", command, cwd=tmp_path)
    assert facts(tmp_path / "out")["recorded"] == {"steps": 5, "sessions": 1}
    assert "  beside:  jax_end.py took steps (train_step) and was not recorded" in recorded.stderr


def test_other_processes_with_steps_are_told(tmp_path: Path) -> None:
    plan = RecordingPlan(out=str(tmp_path / "out"), state=str(tmp_path))
    end = ProgramEnd(0, tmp_path / "out")
    end.read(tmp_path)
    assert recording_outcome._sibling_lines(end) == []
    notes.note_sibling(plan, "train_step")
    end.read(tmp_path)
    script = Path(sys.argv[0]).name
    why = "the first process that warms up is"
    assert recording_outcome._sibling_lines(end) == [
        f"  beside:  {script} took steps (train_step) and was not recorded: {why}"
    ]
    end.beside += [["evaluate.py", "test_step"]] * 2
    assert (
        "took steps (train_step), as did 2 more processes, and was not"
        in recording_outcome._sibling_lines(end)[0]
    )


@pytest.mark.repeats("each starts JAX twice")
@pytest.mark.parametrize("words", [("-m", "jax_end", "a b"), ("-c", "import jax_end; jax_end.main()", "x")])
def test_started_otherwise(words: tuple[str, ...], tmp_path: Path) -> None:
    path = {"PYTHONPATH": str(PROGRAMS)}
    plain = run(sys.executable, *words, cwd=tmp_path, **path)
    assert plain.returncode == 0, plain.stderr
    recorded = record("--steps", "5", "--", sys.executable, *words, cwd=tmp_path, **path)
    assert (recorded.returncode, recorded.stdout) == (plain.returncode, plain.stdout)
    (out,) = tmp_path.glob("stepscope-*")
    assert facts(out)["recorded"] == {"steps": 5, "sessions": 1}


@pytest.mark.repeats("each starts JAX twice")
def test_through_a_shell_with_a_sitecustomize(tmp_path: Path) -> None:
    """The first Python has no steps; the second has; both load the sitecustomize of their own."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("print('sitecustomize of the program')\n")
    command = f"{sys.executable} -c 'import jax; print(1)' && {sys.executable} {PROGRAM}"
    path = {"PYTHONPATH": str(tmp_path / "own")}
    plain = run("sh", "-c", command, cwd=tmp_path, **path)
    assert plain.stdout.count("sitecustomize of the program") == 2
    recorded = record("--steps", "5", "--out", "out", "--", "sh", "-c", command, cwd=tmp_path, **path)
    # The first line is of the Python that runs stepscope.
    assert (recorded.returncode, recorded.stdout) == (0, "sitecustomize of the program\n" + plain.stdout)
    assert facts(tmp_path / "out")["recorded"] == {"steps": 5, "sessions": 1}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("-c", "print(1)"), 0, "the program imported none of TensorFlow, JAX, Keras and PyTorch."),
        (
            ("-c", "raise SystemExit(4)"),
            4,
            "none of TensorFlow, JAX, Keras and PyTorch; it ended with exit code 4.",
        ),
        (("-I", "-c", "print(1)"), 0, "no Python was started that reads PYTHONPATH"),
        pytest.param(
            ("-c", "import jax"), 0, "no step was seen: ", marks=pytest.mark.repeats("it imports JAX")
        ),
    ],
)
def test_nothing_to_record(words: tuple[str, ...], code: int, said: str, tmp_path: Path) -> None:
    recorded = record("--out", "out", "--", sys.executable, *words, cwd=tmp_path)
    assert recorded.returncode == code
    assert recorded.stderr.startswith("stepscope: nothing was recorded\n")
    assert said in recorded.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.repeats("each starts JAX twice")
def test_too_short(tmp_path: Path) -> None:
    recorded = record("--warmup", "500", "--out", "out", "--", sys.executable, PROGRAM, cwd=tmp_path)
    assert recorded.returncode == 0
    assert (
        "it never got past the warm-up of 500 settled steps; seen: 60 x train_step (jax)" in recorded.stderr
    )
    assert "--warmup 0" in recorded.stderr


def test_signals_to_the_launcher_reach_the_program(tmp_path: Path) -> None:
    code = "import sys, time; print('ready', flush=True); time.sleep(600)"
    command = [sys.executable, "-m", "stepscope", "record", "--", sys.executable, "-c", code]
    for number in (signal.SIGTERM, signal.SIGINT):
        with subprocess.Popen(
            command,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as launcher:
            assert launcher.stdout.readline() == "ready\n"
            launcher.send_signal(number)
            _, said = launcher.communicate(timeout=250)
        assert launcher.returncode == -number
        assert f"it ended with signal {number.name}" in said


def test_mistakes(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").touch()
    for words, said in (
        (["--out", "full", "--", sys.executable, "-c", "print(1)"], "full is there already"),
        (["--out", "out"], "There is no program to run"),
        (["--", "no-such-program"], "no-such-program cannot be started"),
        (["--steps", "0", "--", "true"], "0 is below 1"),
        (["--steps", "3", "--seconds", "3", "--", "true"], "--seconds and --steps exclude each other"),
    ):
        recorded = record(*words, cwd=tmp_path)
        assert recorded.returncode == 2
        assert said in recorded.stderr
        assert recorded.stdout == ""
