"""Three people's first hour: an empty folder, a program as they would type it, a command for each question.

Each program has one slow line that its author does not suspect. All commands are processes, typed as people
type them; `pytest -s` prints the minutes to the first answer. STEPSCOPE_TEST_WHEEL names a wheel that is used
instead of what is installed.
"""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from stepscope.attach import kernel, tools

KERAS = """\
import time
import keras
import numpy as np
import tensorflow as tf

def decode(i):
    time.sleep(0.01)                              # slow
    return np.random.rand(16).astype("float32"), np.float32(i % 2)

def load(i):
    x, y = tf.numpy_function(decode, [i], (tf.float32, tf.float32))
    return tf.ensure_shape(x, (16,)), tf.ensure_shape(y, ())

data = tf.data.Dataset.range(4000).map(load).batch(8)
model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(data, epochs=1, steps_per_epoch=60, verbose=0)
"""
JAX = """\
import jax
import jax.numpy as jnp
import numpy as np

@jax.jit
def step(w, x):
    return w - 0.01 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)

def words(n):
    return [sum(j % 7 for j in range(400)) for _ in range(n)]     # slow

def main():
    w = jnp.ones((64, 64))
    for _ in range(60):
        x = np.resize(np.array(words(600), "float32"), (32, 64))
        w = step(w, x)
    print(float(w.sum()))

main()
"""
TORCH = """\
import time
import torch
from torch.utils.data import DataLoader, Dataset

class Pictures(Dataset):
    def __len__(self):
        return 800
    def __getitem__(self, i):
        time.sleep(0.005)                         # slow
        return torch.randn(64), i % 10

torch.set_num_threads(1)
model = torch.nn.Linear(64, 10)
optimizer = torch.optim.Adam(model.parameters())
for x, y in DataLoader(Pictures(), batch_size=16):
    loss = torch.nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


class Person(NamedTuple):
    """Who types what, and what is true of it."""

    framework: str
    program: str
    says: str
    """How the answer begins."""
    fix: tuple[str, str]
    """What the advice changes in the program."""
    longer: tuple[tuple[str, str], ...]
    """What makes it run until it is stopped."""
    pipeline: str
    """What `pipeline` says, or why it says nothing."""
    holds: str
    """A variable that `memory` names."""

    @property
    def slow(self) -> str:
        """The slow line, as answers name it."""
        lines = enumerate(self.program.splitlines(), 1)
        return f"train.py:{next(number for number, line in lines if '# slow' in line)} "


PEOPLE = (
    Person(
        "keras",
        KERAS,
        "Waiting for input takes",
        ("time.sleep(0.01)", "pass"),
        ((".batch(8)", ".batch(8).repeat()"), ("steps_per_epoch=60", "steps_per_epoch=1_000_000")),
        "map",
        "model",
    ),
    Person(
        "jax",
        JAX,
        "No op runs for",
        ("[sum(j % 7 for j in range(400)) for _ in range(n)]", "np.full(n, 1197)"),
        (("range(60)", "range(10**9)"),),
        "no waiting for a DataLoader",
        "w",
    ),
    Person(
        "torch",
        TORCH,
        "Waiting for input takes",
        ("time.sleep(0.005)", "pass"),
        (("return 800", "return 10**9"),),
        "DataLoader",
        "model",
    ),
)


class Hour:
    """A folder of somebody's, and what they type there."""

    def __init__(self, person: Person, folder: Path, site: str | None) -> None:
        self.person, self.folder = person, folder
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")},
            "STEPSCOPE_CACHE_DIR": str(folder.parent / f"{folder.name}-cache"),
            "IPYTHONDIR": str(folder.parent / f"{folder.name}-ipython"),
        }
        if site is not None:
            self.environment["PYTHONPATH"] = site
        self.write("train.py", ())
        begin = time.monotonic()
        self.first = self.type("train.py")
        self.minutes = (time.monotonic() - begin) / 60
        self.recording = next((path.name for path in folder.glob("stepscope-*")), "none")

    def write(self, name: str, changes: tuple[tuple[str, str], ...]) -> None:
        """Writes the program with changes."""
        text = self.person.program
        for before, after in changes:
            assert text.count(before) == 1, before
            text = text.replace(before, after)
        (self.folder / name).write_text(text, encoding="utf-8")

    def type(self, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """`stepscope` with these words."""
        done = subprocess.run(
            [sys.executable, "-m", "stepscope", *words],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, f"{words}: {done.stdout}\n{done.stderr}"
        return done


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> str | None:
    """The folder of a wheel's contents, where one is given."""
    wheel = os.environ.get("STEPSCOPE_TEST_WHEEL")
    if not wheel:
        return None
    folder = tmp_path_factory.mktemp("wheel")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return str(folder)


@pytest.fixture(scope="module", params=PEOPLE, ids=lambda person: person.framework)
def hour(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, site: str | None) -> Hour:
    """What a person has after their first command."""
    person: Person = request.param
    if importlib.util.find_spec(person.framework) is None:
        pytest.skip(f"{person.framework} is not installed")
    return Hour(person, tmp_path_factory.mktemp(person.framework), site)


def words_of(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


def test_one_command_in_an_empty_folder_names_the_line(hour: Hour) -> None:
    print(f"{hour.person.framework}: {hour.minutes:.1f} minutes to the first true answer")
    answer = words_of(hour.first.stdout.split("\n\n")[0])
    assert f" {hour.person.says} " in f" {answer} ", hour.first.stdout
    assert hour.person.slow in answer, hour.first.stdout
    # The folder is named before anything ends: a program of three days can be read after a minute.
    begun = words_of(hour.first.stderr).partition("recorded")[0]
    assert f"to {hour.recording}" in begun, hour.first.stderr
    assert {path.name for path in hour.folder.iterdir()} == {"train.py", hour.recording}


def test_the_recording_says_the_same_again(hour: Hour) -> None:
    answer = hour.first.stdout.split("\n\n")[0].splitlines()[-1]
    assert answer in hour.type(hour.recording).stdout.splitlines()
    told = json.loads(hour.type(hour.recording, "--format", "json").stdout)
    place = told["answer"]["spent_in"] or told["answer"]["place"]
    assert f"{place['file']}:{place['line']} " == hour.person.slow


def test_a_report_to_send(hour: Hour) -> None:
    hour.type("report", hour.recording)
    page = hour.folder / f"{hour.recording}.html"
    text = page.read_text(encoding="utf-8")
    assert hour.person.slow.strip() in text
    assert "http://" not in re.sub(r"http://www\.w3\.org/\S+", "", text)
    page.unlink()


def test_the_page_is_served(hour: Hour) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "stepscope", "serve", hour.recording, "--no-open", "--port", "0"],
        cwd=hour.folder,
        env=hour.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as page:
        url = urlsplit(page.stdout.readline().strip())
        try:
            assert url.hostname is not None
            asked = HTTPConnection(url.hostname, url.port)
            asked.request("GET", f"{url.path}?{url.query}")
            assert asked.getresponse().status in (200, 302, 303)
            asked.close()
        finally:
            page.send_signal(signal.SIGINT)
        page.wait()


def test_questions_in_sql(hour: Hour) -> None:
    (steps,) = json.loads(
        hour.type("query", hour.recording, "SELECT count(*) AS n FROM step", "--format", "json").stdout
    )["rows"]
    assert steps["n"] >= 10
    assert hour.type("query", hour.recording, "@op_types").stdout.splitlines()[2:]
    wrong = hour.type("query", hour.recording, "SELEC 1", code=2)
    assert "syntax error" in wrong.stderr


def test_before_and_after_the_fix(hour: Hour) -> None:
    hour.write("fixed.py", (hour.person.fix,))
    after = hour.type("record", "-o", "after", "fixed.py")
    assert f" {hour.person.slow}" not in after.stdout.split("\n\n")[0].replace("fixed", "train")
    told = hour.type("diff", hour.recording, "after").stdout
    assert " less (" in told.split("\n\n")[0], told
    # 2: there is no verdict from one recording of each; what is shorter is told all the same.
    judged = hour.type("check", "--baseline", hour.recording, "--candidate", "after", code=2).stdout
    assert "Faster in these recordings: steps are " in judged, judged


def test_the_pipeline_and_memory(hour: Hour) -> None:
    found = hour.type("pipeline", hour.recording, code=2 if hour.person.framework == "jax" else 0)
    assert hour.person.pipeline in found.stdout + found.stderr
    assert hour.person.holds in hour.type("memory", hour.recording).stdout


def test_a_cell_of_a_notebook(hour: Hour) -> None:
    pytest.importorskip("IPython", reason="the group test has IPython")
    cells = ("%load_ext stepscope", f"%stepscope {hour.recording}")
    done = subprocess.run(
        [sys.executable, "-m", "IPython", "--colors=NoColor", "--no-banner", "-c", "\n".join(cells)],
        cwd=hour.folder,
        env=hour.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert hour.person.slow in words_of(done.stdout)


@pytest.fixture
def running(hour: Hour) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The program, until it is stopped, and where its recording is."""
    hour.write("long.py", hour.person.longer)
    with subprocess.Popen(
        [sys.executable, "-m", "stepscope", "record", "--ring", "5", "-o", "long", "long.py"],
        cwd=hour.folder,
        env=hour.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if "look while it runs: " in line:
                break
        assert process.poll() is None, "".join(said)
        try:
            yield process, "long"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def test_a_look_while_it_runs(hour: Hour, running: tuple[subprocess.Popen[str], str]) -> None:
    process, folder = running
    while True:  # the first second has no line yet; pytest-timeout ends what hangs
        top = hour.type("top", folder, "--once").stdout
        if "long.py:" in top:
            break
        time.sleep(0.2)
    assert "long.py:" in hour.type(folder).stdout.split("\n\n")[0], "a recording is whole once it has ended"
    told = json.loads(hour.type("top", folder, "--format", "json").stdout)
    if tools.find("py-spy") is not None and kernel.refusal(told["pid"]) is None:
        seen = hour.type("attach", str(told["pid"]), "--quick").stdout
        assert f"process {told['pid']}" in seen.splitlines()[0].lower()
        assert "long.py:" in seen.split("\n\n")[0], seen
    if hour.person.framework == "keras":
        return  # Ctrl-C never ends it, recorded or not: TensorFlow waits for its own py_function
    os.killpg(process.pid, signal.SIGINT)  # Ctrl-C
    out, _ = process.communicate()
    assert hour.person.says in words_of(out)
    assert f"long.py:{hour.person.slow.partition(':')[2]}" in words_of(out)
