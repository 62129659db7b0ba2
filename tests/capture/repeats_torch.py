"""Real PyTorch, recorded from outside and read here."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

import stepscope
from stepscope.cli import main
from tests.capture.launching import TORCH, facts, line_of, lines, record, run

if importlib.util.find_spec("torch") is None:
    pytest.skip("PyTorch is not installed", allow_module_level=True)


@pytest.mark.parametrize(
    ("words", "cause", "line", "function"),
    [
        (("loader.py", "0"), "input", "time.sleep", "fetch"),
        (("loader.py", "2"), "input", "for number, (pictures", "train"),
        (("loader.py", "2", "spawn"), "input", "for number, (pictures", "train"),
        (("checkpoints.py",), "wait", "torch.save", "save"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_the_answer_names_cause_and_line(
    words: tuple[str, ...], cause: str, line: str, function: str, tmp_path: Path
) -> None:
    path = TORCH / words[0]
    plain = run(sys.executable, path, *words[1:], cwd=tmp_path)
    assert plain.stdout.startswith("trained "), plain.stderr
    done = record("--out", "out", "--", sys.executable, path, *words[1:], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), done.stderr
    told = facts(tmp_path / "out")
    assert told["problems"] == []
    assert (told["framework"], told["sessions"][0]["name"]) == (["torch"], "SGD.step")
    steps = [row["step"] for row in lines(tmp_path / "out" / "steps.ndjson") if row["recorded"]]
    with stepscope.open(str(tmp_path / "out")) as trace:
        found = trace.query("SELECT step FROM step WHERE recovered_from = 'profiler_step' ORDER BY step")
        assert [row.step for row in found] == steps, "the marks in the trace are the recorder's steps"
        answer = trace.summary().data["answer"]
    assert answer["cause"] == cause
    place = answer["place"]
    assert (Path(place["file"]).name, place["function"]) == (words[0], function)
    assert place["line"] == line_of(words[0], line)


def test_tiny_ops_are_launching(tmp_path: Path) -> None:
    """On a busy machine, which the answer tells, many of them are interrupted and look as if they took long:
    then launching is no quarter of the steps, but still most of what no op explains."""
    words = ("--out", "out", "--", sys.executable, TORCH / "tiny_ops.py")
    assert record(*words, cwd=tmp_path).returncode == 0
    with stepscope.open(str(tmp_path / "out")) as trace:
        answer = trace.summary().data["answer"]
        parts = {
            row.label: row.share
            for row in trace.query(
                "SELECT p.label, sum(p.dur_ps) / sum(sum(p.dur_ps)) OVER () AS share "
                "FROM step_part AS p GROUP BY p.label"
            )
        }
        (ops,) = trace.query(
            "SELECT count(*) / (SELECT count(*) FROM step WHERE averaged) AS each FROM slice AS s "
            "JOIN step AS t ON t.averaged AND s.ts_ps BETWEEN t.ts_ps AND t.ts_ps + t.dur_ps "
            "WHERE s.name = 'MulBackward0'"
        )
    assert ops.each == 40 * 16
    assert parts["dispatch"] == max(share for label, share in parts.items() if label != "compute")
    assert parts["dispatch"] > 0.25 or "busy-machine" in answer["weakened_by"]
    assert answer["cause"] in ("dispatch", "none")
    if answer["cause"] == "dispatch":
        assert answer["place"]["function"] == "scores_of"


@pytest.mark.parametrize(
    ("program", "name", "how", "function"),
    [
        ("inference.py", "Sequential", "module", "kept_of"),
        ("manual_updates.py", "autograd.backward", "backward", "learn"),
    ],
)
def test_loops_without_an_optimizer_have_steps(
    program: str, name: str, how: str, function: str, tmp_path: Path
) -> None:
    plain = run(sys.executable, TORCH / program, cwd=tmp_path)
    done = record("--out", "out", "--", sys.executable, TORCH / program, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), done.stderr
    told = facts(tmp_path / "out")
    assert (told["problems"], told["sessions"][0]["name"]) == ([], name)
    assert {row["how"] for row in lines(tmp_path / "out" / "steps.ndjson")} == {how}
    with stepscope.open(str(tmp_path / "out")) as trace:
        answer = trace.summary().data["answer"]
    place = answer["spent_in"] or answer["place"]
    assert place["function"] == function


def test_a_healthy_program_is_called_so(tmp_path: Path) -> None:
    done = record("--out", "out", "--", sys.executable, TORCH / "healthy.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with stepscope.open(str(tmp_path / "out")) as trace:
        answer = trace.summary().data["answer"]
    assert answer["cause"] in ("none", "compute")
    assert answer["place"] is None or answer["place"]["file"] is None or answer["op_type"] == "aten::mm"


def test_the_pipeline_is_the_data_loader(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (sys.executable, TORCH / "loader.py", "2")
    assert record("--out", "out", "--", *words, cwd=tmp_path).returncode == 0
    assert main(["pipeline", "--no-cache", "--format", "json", str(tmp_path / "out")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["wait_ratio"] > 0.5
    made, source = (
        line_of("loader.py", text) for text in ("loader = DataLoader(", "def __getitem__(self, index)")
    )
    said = " ".join(told["evidence"])
    assert f"loader.py:{made} `train`, with num_workers=2, batch_size=16" in said
    assert f"loader.py:{source} `__getitem__`" in said


OWN = """
import sys, torch
from torch import profiler

torch.set_num_threads(1)
model = torch.nn.Linear(64, 64)
optimizer = torch.optim.Adam(model.parameters())
batch = torch.randn(32, 64)

def step():
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()

found = []
def ready(profile):
    found.append(sum(one.name.startswith("ProfilerStep") for one in profile.events()))

for _ in range(int(sys.argv[1])):
    step()
schedule = profiler.schedule(wait=20, warmup=1, active=3, repeat=1)
with profiler.profile(
    activities=[profiler.ProfilerActivity.CPU], schedule=schedule, on_trace_ready=ready
) as own:
    for _ in range(40):
        step()
        own.step()
print("profiled", found)
"""


@pytest.mark.parametrize("before", [0, 8])
def test_a_program_that_profiles_itself_is_not_disturbed(before: int, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    words = ("--steps", "1000", "--out", "out", "--", sys.executable, "own.py", str(before))
    done = record(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "profiled [3]\n"), done.stderr
    whose = "own.py:22" if before == 0 else "the program's own profiler, started by own.py:22"
    assert whose in done.stderr
    assert ("nothing was recorded" in done.stderr) == (before == 0)


ENDS_WITHIN = """
import sys, torch
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
model = torch.nn.Linear(64, 10)
batches = DataLoader(TensorDataset(torch.randn(400, 64)), batch_size=10)
if sys.argv[1] == "optimizer":
    optimizer = torch.optim.SGD(model.parameters())
    for batch, in batches:
        model(batch).square().mean().backward()
        optimizer.step()
else:
    with torch.inference_mode():
        for batch, in batches:
            model(batch)
torch.ones(8).exp()
print("ended")
"""


@pytest.mark.parametrize("by", ["optimizer", "loop"])
def test_what_follows_the_last_step_is_no_step(by: str, tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text(ENDS_WITHIN)
    done = record("--steps", "1000", "--out", "out", "--", sys.executable, "ends.py", by, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "ended\n"), done.stderr
    steps = [row["step"] for row in lines(tmp_path / "out" / "steps.ndjson") if row["recorded"]]
    assert facts(tmp_path / "out")["recorded"]["steps"] == len(steps) > 30
    with stepscope.open(str(tmp_path / "out")) as trace:
        found = trace.query("SELECT step FROM step WHERE recovered_from = 'profiler_step' ORDER BY step")
        (rest,) = trace.query("SELECT ts_ps, dur_ps FROM slice WHERE name = 'after the last step'")
        (last,) = trace.query("SELECT ts_ps FROM slice WHERE name = 'aten::exp'")
    assert [row.step for row in found] == steps
    assert rest.ts_ps < last.ts_ps < rest.ts_ps + rest.dur_ps, "what was recorded of it is kept"


EVALUATES = """
import torch
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
model = torch.nn.Linear(256, 10)
with torch.inference_mode():
    for batch, in DataLoader(TensorDataset(torch.randn(4000, 256)), batch_size=100):
        model(batch)
print("evaluated")
"""


def test_without_an_optimizer_batches_are_steps(tmp_path: Path) -> None:
    (tmp_path / "evaluates.py").write_text(EVALUATES)
    done = record("--steps", "12", "--out", "out", "--", sys.executable, "evaluates.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "evaluated\n"), done.stderr
    told = facts(tmp_path / "out")
    assert (told["sessions"][0]["how"], told["recorded"]["steps"]) == ("next_batch", 12)
    assert "trace" in {one["kind"] for one in told["files"]}


def test_allocations_are_told_by_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.py"
    path.write_text(
        "import torch\n"
        "w = torch.ones(256, 256, requires_grad=True)\n"
        "optimizer = torch.optim.SGD([w], lr=0.01)\n"
        "def loss(x):\n"
        "    wide = torch.cat([x @ w] * 64)\n"
        "    return wide.square().mean()\n"
        "for _ in range(60):\n"
        "    optimizer.zero_grad()\n"
        "    loss(torch.ones(64, 256)).backward()\n"
        "    optimizer.step()\n"
    )
    done = record("--allocations", "--steps", "10", "-o", "out", "--", sys.executable, path, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert facts(tmp_path / "out")["plan"]["allocations"] is True
    capsys.readouterr()
    assert main(["memory", str(tmp_path / "out" / "torch")]) == 0
    said = capsys.readouterr().out
    assert "By line of the program, at the peak" in said
    assert "train.py:4 loss" in said
