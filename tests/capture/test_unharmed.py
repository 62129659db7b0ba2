"""The recorder breaks no program: what is wrong with it, its folders or its Python is not its affair.

The programs train a Keras of a few lines, which lies beside them: no framework is needed.
Past 400 lines because it is a list: something that is wrong, and a program that does not notice.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stepscope import capture
from stepscope.capture import folder as folders
from stepscope.capture import scratch
from stepscope.capture.folder import Folder
from stepscope.capture.launch import START, Telling
from stepscope.capture.plan import RecordingPlan
from stepscope.capture.processes import identity, is_gone
from stepscope.capture.recorder import Recorder
from stepscope.capture.writable import probe_new
from stepscope.cli import main
from tests.capture.launching import facts, lines, record, run
from tests.capture.olden import interpreter

ROOT = Path(__file__).resolve().parents[2]
SOURCE = str(ROOT / "src")
FILES = sorted(START.parent.rglob("*.py"))
KERAS = """
class CallbackList(object):
    def on_train_batch_begin(self, batch): pass
    def on_train_batch_end(self, batch): pass
    on_test_batch_begin = on_predict_batch_begin = on_train_batch_begin
    on_test_batch_end = on_predict_batch_end = on_train_batch_end

class callbacks(object):
    CallbackList = CallbackList
"""
TRAINS = """
import sys, keras
callbacks = keras.callbacks.CallbackList()
for step in range(12):
    callbacks.on_train_batch_begin(step)
    callbacks.on_train_batch_end(step)
    if step == 6:
        {between}
sys.stdout.write("trained\\n")
sys.exit(3)
"""
# The recorder's threads may write between two calls of the program: a removal that met a file is repeated.
REMOVES = """import os, shutil
        while os.path.exists("out"):
            shutil.rmtree("out", ignore_errors=True)
"""
REPLACES = """import os, shutil
        while not os.path.isfile("out"):
            shutil.rmtree("out", ignore_errors=True)
            try:
                open("out", "w").close()
            except IsADirectoryError:
                pass  # the recorder was faster
"""
STEPS = ("--warmup", "2", "--steps", "8", "--out", "out", "--")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with a program, its Keras and a folder for temporary files."""
    (tmp_path / "temporary").mkdir()
    (tmp_path / "keras.py").write_text(KERAS)
    trains(tmp_path, "pass")
    return tmp_path


def trains(folder: Path, between: str) -> None:
    """Writes the program, which does something in the middle of its training."""
    (folder / "program.py").write_text(TRAINS.format(between=between))


# --- the program's own modules -----------------------------------------------------------------


def test_a_stepscope_and_a_sitecustomize_of_the_program(here: Path) -> None:
    """Both lie on PYTHONPATH, where Python looks first: the command is ours, and the program gets its own."""
    toml = pytest.importorskip("tomllib" if sys.version_info >= (3, 11) else "tomli")
    project = toml.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, function = project["scripts"]["stepscope"].split(":")
    theirs = here / "theirs"
    theirs.mkdir()
    (theirs / "stepscope.py").write_text("said = 'their stepscope'\n")
    (theirs / "sitecustomize.py").write_text("said = 'their sitecustomize'\n")
    (theirs / "duckdb.py").write_text("raise ImportError('not the duckdb that stepscope needs')\n")
    (here / "program.py").write_text(
        "import sitecustomize, stepscope, sys\nprint(stepscope.said, sitecustomize.said)\nsys.exit(3)\n"
    )
    # As pip writes it.
    command = here / "command"
    command.write_text(f"import sys\nfrom {module} import {function}\nsys.exit({function}())\n")
    path = os.pathsep.join((str(theirs), SOURCE))
    done = run(
        sys.executable, command, "record", "--", sys.executable, "program.py", cwd=here, PYTHONPATH=path
    )
    assert (done.returncode, done.stdout) == (3, "their stepscope their sitecustomize\n"), done.stderr
    assert done.stderr.startswith("stepscope: nothing was recorded\n")


def test_modules_of_these_names_beside_the_program(here: Path) -> None:
    (here / "stepscope.py").write_text("said = 'their stepscope'\n")
    (here / "sitecustomize.py").write_text("print('not loaded by Python itself')\n")
    trains(here, "import stepscope; print(stepscope.said)")
    (here / "elsewhere").mkdir()
    program = str(here / "program.py")
    done = record(*STEPS, sys.executable, program, cwd=here / "elsewhere")
    assert (done.returncode, done.stdout) == (3, "their stepscope\ntrained\n"), done.stderr
    assert facts(here / "elsewhere" / "out")["recorded"]["steps"] == 8


def test_a_sitecustomize_that_fails(here: Path) -> None:
    """Python says so and goes on, with the recorder as without it."""
    theirs = here / "theirs"
    theirs.mkdir()
    (theirs / "sitecustomize.py").write_text("raise RuntimeError('theirs is broken')\n")
    path = {"PYTHONPATH": os.pathsep.join((str(theirs), SOURCE))}
    plain = run(sys.executable, "program.py", cwd=here, **path)
    assert "theirs is broken" in plain.stderr
    done = record(*STEPS, sys.executable, "program.py", cwd=here, **path)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    # Python says it in the launcher and in the program, each time in as many words.
    assert done.stderr.count("theirs is broken") == 2 * plain.stderr.count("theirs is broken")
    assert facts(here / "out")["recorded"]["steps"] == 8


def test_a_program_that_outlives_its_launcher(here: Path) -> None:
    """What it imports then must not fail because the folder for notes is gone."""
    (here / "program.py").write_text(
        "import os, sys, time\n"
        "if os.fork():\n"
        "    os._exit(3)\n"
        "while os.path.exists(os.environ['STEPSCOPE_RECORD']):\n"
        "    time.sleep(0.01)\n"
        "import keras\n"
        "print('imported', keras.callbacks.__name__)\n"
    )
    done = record(*STEPS, sys.executable, "program.py", cwd=here)
    # run() reads stdout until the last process has closed it.
    assert (done.returncode, done.stdout) == (3, "imported callbacks\n"), done.stderr


def test_what_fails_around_a_call_ends_the_recording(tmp_path: Path) -> None:
    recorder = Recorder(RecordingPlan(str(tmp_path / "out")))
    with recorder.unharmed():
        raise OSError(28, "No space left on device")
    assert not recorder.listening
    assert "No space left on device" in recorder.why()


# --- folders -----------------------------------------------------------------------------------


def test_a_folder_that_cannot_be_written_is_found_before_the_program(
    here: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(here)
    ran = f"open({str(here / 'ran')!r}, 'w')"
    code = main(["record", "--out", "keras.py/out", "--", sys.executable, "-c", ran])
    said = capfd.readouterr()
    assert (code, said.out) == (2, "")
    assert "error: keras.py/out cannot be written" in said.err
    assert "Not a directory" in said.err
    assert "the program was not started" in said.err
    assert not (here / "ran").exists()


def test_a_folder_is_tried_without_a_trace(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    for tried in ("kept", "new", "new/of/three"):
        probe_new(tmp_path / tried)
    assert [path.name for path in tmp_path.rglob("*")] == ["kept"]


def test_a_recording_whose_folder_is_taken_away_moves(here: Path) -> None:
    """The program puts a file where the folder was."""
    trains(here, REPLACES)
    done = record(*STEPS, sys.executable, "program.py", cwd=here, TMPDIR=str(here / "temporary"))
    assert (done.returncode, done.stdout) == (3, "trained\n"), done.stderr
    (kept,) = (here / "temporary").iterdir()
    assert f"recorded 8 steps of train batch to {kept}\n" in done.stderr
    assert f"moved:   {here / 'out'}: File exists; copy the recording from {kept}\n" in done.stderr
    told = facts(kept)
    assert told["exit"]["code"] == 3
    assert [line["recorded"] for line in lines(kept / "steps.ndjson")] == [False] * 3 + [True] * 8 + [False]
    assert all((kept / one["path"]).is_file() for one in told["files"])
    assert "the recording is in another folder than asked for" in [one["what"] for one in told["problems"]]
    assert (here / "out").is_file()


def test_a_recording_whose_folder_is_removed_is_written_again(here: Path) -> None:
    trains(here, REMOVES)
    done = record(*STEPS, sys.executable, "program.py", cwd=here)
    assert (done.returncode, done.stdout) == (3, "trained\n"), done.stderr
    assert "recorded 8 steps of train batch to out\n" in done.stderr
    told = facts(here / "out")
    assert [line["recorded"] for line in lines(here / "out" / "steps.ndjson")] == [False] * 3 + [True] * 8 + [
        False
    ]
    assert all((here / "out" / one["path"]).is_file() for one in told["files"])


@pytest.mark.parametrize("file", [False, True])
def test_a_folder_that_goes_while_it_is_written_to_is_made_anew(
    file: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program removes it when the recorder has just looked for it; of a file in its place is told."""
    out = tmp_path / "out"
    folder = Folder(str(out), {"sessions": []})
    folder.line("steps.ndjson", "steps", {"step": 0})
    writes = folders.write_whole

    def late(path: Path, data: bytes) -> None:
        monkeypatch.setattr(folders, "write_whole", writes)
        shutil.rmtree(out)
        if file:
            out.touch()
        writes(path, data)

    monkeypatch.setattr(folders, "write_whole", late)
    folder.add("graph.pb", "graph", b"a graph")
    folder.save()
    folder.close()
    problems = [(one["what"], one["seen"]) for one in facts(folder.path)["problems"]]
    assert problems == ([(folders.MOVED, f"{out}: File exists")] if file else [])
    assert (folder.path == out) == (not file)
    assert (folder.path / "graph.pb").read_bytes() == b"a graph"
    assert [line["step"] for line in lines(folder.path / "steps.ndjson")] == [0]


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only other place for a recording."""
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.setattr(folders, "places", lambda: iter([str(place)]))
    return place


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_moves_a_recording(tmp_path: Path, places: Path) -> None:
    """steps.ndjson is a device that is full; what is written to it, and before it, is all there after."""
    told: list[Path] = []
    folder = Folder(str(tmp_path / "out"), {"sessions": []}, told.append)
    folder.add("graphs/graph.pb", "graph", b"a graph")
    folder.line("machine.ndjson", "machine", {"cores": [1]})
    folder.save()
    (tmp_path / "out" / "steps.ndjson").symlink_to("/dev/full")
    folder.line("steps.ndjson", "steps", {"step": 0})
    folder.line("steps.ndjson", "steps", {"step": 1})
    folder.line("machine.ndjson", "machine", {"cores": [2]})
    folder.save()
    folder.close()
    (kept,) = places.iterdir()
    assert told == [kept]
    assert [line["step"] for line in lines(kept / "steps.ndjson")] == [0, 1]
    assert [line["cores"] for line in lines(kept / "machine.ndjson")] == [[1], [2]]
    assert (kept / "graphs" / "graph.pb").read_bytes() == b"a graph"
    (problem,) = facts(kept)["problems"]
    assert "No space left on device" in problem["seen"]
    # Nothing is there twice: the disk is full.
    assert not list((tmp_path / "out").rglob("*.pb"))
    assert not (tmp_path / "out" / "capture.json").exists()


def test_without_another_place_the_first_error_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "places", lambda: iter([str(tmp_path / "nowhere")]))
    folder = Folder(str(tmp_path / "out"), {})
    folder.line("steps.ndjson", "steps", {"step": 0})
    folder.close()
    (tmp_path / "out" / "steps.ndjson").unlink()
    (tmp_path / "out").rmdir()
    (tmp_path / "out").write_text("a file")
    with pytest.raises(FileExistsError):
        folder.add("graph.pb", "graph", b"a graph")


def test_from_code_a_moved_recording_is_a_warning(
    tmp_path: Path, places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    recording = capture.record(str(out), warmup=1, steps=3, pieces=())
    recording.__enter__()
    for number in range(4):
        capture.step(number)
    for path in out.iterdir():
        path.unlink()
    out.rmdir()
    out.write_text("a file")
    for number in range(4, 9):
        capture.step(number)
    with pytest.warns(RuntimeWarning, match="the recording is not in .*out: it is in"):
        recording.stop()
    (kept,) = places.iterdir()
    assert facts(kept)["recorded"]["steps"] == 3


# --- folders for notes -------------------------------------------------------------------------


def left(folder: Path, name: str, *users: str) -> Path:
    """A folder for notes as a launcher leaves it, with the processes that use it."""
    state = folder / f"{scratch.PREFIX}{name}"
    state.mkdir()
    (state / "plan.json").write_text("{}")
    for number, user in enumerate(users):
        (state / f"{'python' if number else 'process'}-{number}").write_text(user)
    return state


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_what_killed_launchers_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    alive = identity(os.getpid())
    with subprocess.Popen(["sleep", "600"]) as child:
        gone = identity(child.pid)
        assert not is_gone(gone)
        child.kill()
    number, began, where = alive.split(" ", 2)
    other = f"{number} {int(began) - 1} {where}"
    elsewhere = f"{gone} in another container"
    removed = [
        left(tmp_path, "killed", gone),
        left(tmp_path, "with its program", gone, gone),
        left(tmp_path, "whose number was given again", other),
    ]
    kept = [
        left(tmp_path, "at work", alive),
        left(tmp_path, "whose program goes on", gone, alive),
        left(tmp_path, "of another machine", elsewhere),
        left(tmp_path, "about to be used"),
        left(tmp_path, "damaged", "12"),
    ]
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "process-1").write_text(gone)
    link = tmp_path / f"{scratch.PREFIX}link"
    link.symlink_to(tmp_path / "target")
    if os.getuid() == 0:
        kept.append(left(tmp_path, "someone else's", gone))
        os.chown(kept[-1], 12345, 12345)
    scratch.sweep(tmp_path)
    assert [path for path in removed if path.exists()] == []
    assert [path for path in [*kept, link, tmp_path / "target" / "process-1"] if not path.exists()] == []


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
def test_the_next_recording_removes_what_a_killed_one_left(here: Path) -> None:
    (here / "program.py").write_text("import os, time\nprint(os.getpid(), flush=True)\ntime.sleep(600)\n")
    temporary = here / "temporary"
    with subprocess.Popen(
        [sys.executable, "-m", "stepscope", "record", "--", sys.executable, "program.py"],
        cwd=here,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
    ) as launcher:
        program = int(launcher.stdout.readline())
        (state,) = temporary.iterdir()
        launcher.kill()
        launcher.wait()
        record("--", "true", cwd=here, TMPDIR=str(temporary))
        assert list(temporary.iterdir()) == [state], "its program still runs"
        os.kill(program, signal.SIGKILL)
        launcher.stdout.read()  # until the program is gone
    record("--", "true", cwd=here, TMPDIR=str(temporary))
    # The system may take a moment to forget a process whose parent is gone: then it is one more recording.
    while list(temporary.iterdir()):
        record("--", "true", cwd=here, TMPDIR=str(temporary))


# --- Pythons -----------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["3.6", "3.7", "3.8"])
def test_an_older_python_is_recorded(version: str, here: Path) -> None:
    python = interpreter(version)
    code = "import sys; [compile(open(one, encoding='utf-8').read(), one, 'exec') for one in sys.argv[1:]]"
    assert run(python, "-c", code, *FILES, cwd=here).returncode == 0
    done = record(*STEPS, python, "program.py", cwd=here)
    assert (done.returncode, done.stdout) == (3, "trained\n")
    assert "stepscope: recorded 8 steps of train batch to out\n" in done.stderr
    told = facts(here / "out")
    assert told["versions"]["python"].startswith(version + ".")
    assert told["problems"] == []
    looked = lines(here / "out" / "stacks.ndjson")
    assert any("begin_unix_ns" in line for line in looked)


def test_a_python_that_is_too_old_runs_its_program_untouched(here: Path) -> None:
    python = interpreter("2.7")
    theirs = here / "theirs"
    theirs.mkdir()
    (theirs / "sitecustomize.py").write_text("import sys\nsys.stdout.write('their sitecustomize\\n')\n")
    path = {"PYTHONPATH": os.pathsep.join((str(theirs), SOURCE))}
    plain = run(python, "program.py", cwd=here, **path)
    assert plain.returncode == 3
    done = record(*STEPS, python, "program.py", cwd=here, **path)
    # The first line is of the Python that runs stepscope.
    assert (done.returncode, done.stdout) == (3, "their sitecustomize\n" + plain.stdout)
    assert plain.stderr == ""
    assert "Python 2.7." in done.stderr
    assert "is too old: the recorder needs 3.6 or newer. The program ran without it." in done.stderr
    assert not (here / "out").exists()


def test_a_python_that_nobody_knows_runs_its_program_untouched(here: Path) -> None:
    """The hook looks at the version before it loads anything: here it looks at one that is made up."""
    hook = START / "sitecustomize.py"
    plan = here / "plan.json"
    plan.write_text(json.dumps({}))
    code = (
        "import runpy, sys\n"
        "sys.implementation.name = 'spamvm'\n"
        f"runpy.run_path({str(hook)!r})\n"
        "print([name for name in sys.modules if 'stepscope' in name])\n"
    )
    done = run(sys.executable, "-c", code, cwd=here, STEPSCOPE_RECORD=str(plan))
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")
    (note,) = here.glob("unfit-*")
    assert "is no Python that the recorder knows" in note.read_text()


# --- what is said while the program runs --------------------------------------------------------


def test_a_recording_is_told_of_while_the_program_runs_on(here: Path) -> None:
    """Who runs it for days hears of it when it begins and when it is complete, once of each."""
    said: list[str] = []
    state = here / "temporary"
    telling = Telling(state, said.append, asked="/x/out", shown="out", started_unix_ns=10**18)
    telling.look()
    (state / "recording-12").write_text('["train batch", ')  # as far as it is written
    telling.look()
    assert said == []
    (state / "recording-12").write_text(json.dumps(["train batch", 4, 10**18 + 38 * 10**9, "/x/out"]))
    telling.look()
    telling.look()
    assert said == ["stepscope: recording train batch from step 5 on, 38 s after the start, to out"]
    (state / "recorded-12").write_text(json.dumps(["train batch", 10, 10**18 + 41 * 10**9, "/x/out"]))
    telling.look()
    telling.look()
    assert said[1:] == ["stepscope: recorded 10 steps after 41 s; look while it runs: stepscope out"]


def test_another_loop_and_another_folder_are_told_of(here: Path) -> None:
    """What was recorded turned out to be no steps, and the folder asked for could not be written any more."""
    said: list[str] = []
    state = here / "temporary"
    telling = Telling(state, said.append, asked="/x/out", shown="out", started_unix_ns=0)
    for name, hours in (("element", 0), ("train", 3)):
        note = [name, 1, (hours * 3600 + 300) * 10**9, "/tmp/kept here"]
        (state / "recorded-12").write_text(json.dumps(note))
        telling.look()
    assert said == [
        "stepscope: recorded 1 step after 5 min; look while it runs: stepscope '/tmp/kept here'",
        "stepscope: recorded 1 step after 3 h 5 min; look while it runs: stepscope '/tmp/kept here'",
    ]


def test_a_complete_recording_leaves_a_note(here: Path) -> None:
    (here / "program.py").write_text(
        "import os, sys, keras\n"
        "callbacks = keras.callbacks.CallbackList()\n"
        "for step in range(20):\n"
        "    callbacks.on_train_batch_begin(step)\n"
        "    callbacks.on_train_batch_end(step)\n"
        "state = os.path.dirname(os.environ['STEPSCOPE_RECORD'])\n"
        "print(sorted(one.partition('-')[0] for one in os.listdir(state) if one.startswith('record')))\n"
    )
    done = record(*STEPS, sys.executable, "program.py", cwd=here)
    assert done.stdout.startswith("['recorded', 'recording']"), done.stderr


def test_a_recording_is_whole_on_disk_when_it_ends(here: Path) -> None:
    """Also the first of many: the program may be killed before the next one, or go on for days."""
    (here / "program.py").write_text(
        "import json, keras\n"
        "callbacks = keras.callbacks.CallbackList()\n"
        "for step in range(24):\n"
        "    callbacks.on_train_batch_begin(step)\n"
        "    callbacks.on_train_batch_end(step)\n"
        "    if step in (4, 12):\n"
        "        told = json.load(open('out/capture.json'))\n"
        "        print(told['ended_unix_ns'] is not None, told['recorded'], sorted(told['cost']) != [])\n"
    )
    words = ("--warmup", "2", "--steps", "6", "--every", "12", "--out", "out", "--")
    done = record(*words, sys.executable, "program.py", cwd=here)
    during, after = done.stdout.splitlines()
    assert during.startswith("False {'steps': 0, 'sessions': 0}")
    assert after == "True {'steps': 6, 'sessions': 1} True"
    assert facts(here / "out")["recorded"] == {"steps": 12, "sessions": 2}


# --- what is typed -----------------------------------------------------------------------------


def test_a_script_is_run_with_python(here: Path) -> None:
    for words in (("program.py",), ("-m", "program")):
        done = record(
            *STEPS, *words, cwd=here, PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        )
        assert (done.returncode, done.stdout) == (3, "trained\n"), done.stderr
        assert f"stepscope: runs {words[0]} with " in done.stderr
        for path in (here / "out").iterdir():
            path.unlink()


def test_a_package_that_is_only_called_torch_is_left_alone(here: Path) -> None:
    (here / "torch.py").touch()
    (here / "program.py").write_text("import sys, torch\nprint(sorted(vars(torch))[0])\nsys.exit(3)\n")
    plain = run(sys.executable, "program.py", cwd=here)
    done = record("--out", "out", "--", sys.executable, "program.py", cwd=here)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout) == (3, "__builtins__\n")
    assert "nothing was recorded" in done.stderr
    assert "torch cannot be watched in every way" in done.stderr


OPTIMIZER = """
class optim:
    class Optimizer:
        def __init__(self):
            kind = type(self)
            if not hasattr(kind.step, "hooked"):
                def hooked(self, step=kind.step):
                    return step(self)
                hooked.hooked = True
                kind.step = hooked
        def step(self):
            raise NotImplementedError
"""
OPTIMIZES = """
import sys, torch

class Descent(torch.optim.Optimizer):
    def step(self):
        return "stepped"

optimizer = Descent()
for number in range(12):
    assert optimizer.step() == "stepped"
print("trained", Descent.step.hooked)
sys.exit(3)
"""


def test_a_pytorch_without_a_profiler_has_steps_and_no_trace(here: Path) -> None:
    """As versions before 1.9, and builds without Kineto."""
    (here / "torch.py").write_text(OPTIMIZER)
    (here / "program.py").write_text(OPTIMIZES)
    done = record(*STEPS, sys.executable, "program.py", cwd=here)
    assert (done.returncode, done.stdout) == (3, "trained True\n"), done.stderr
    told = facts(here / "out")
    assert told["framework"] == ["torch"]
    assert (told["sessions"][0]["how"], told["sessions"][0]["name"]) == ("optimizer", "Descent.step")
    assert told["recorded"]["steps"] == 8
    assert {one["what"] for one in told["problems"]} == {
        "no trace of ops",
        "DataLoaders are not watched",
        "calls of models are not watched",
    }
    assert "trace" not in {one["kind"] for one in told["files"]}
