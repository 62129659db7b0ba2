"""tfprof against what TensorFlow 2.21 printed: the recorded views, and drawn models with known answers."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stepscope import _core
from stepscope.cli import main
from stepscope.errors import StepscopeError
from stepscope.formats.models.place import ModelPlace
from stepscope.instruments import tfprof
from tests import corpus

GOLDENS = corpus.files("tfprof/golden/*.json")
COMMANDS = ("scope", "graph", "op", "code")
CRASHES = ("signal 11",)
"""What TensorFlow's own process died of; there is no text to be equal to."""


def words(options: dict[str, Any], outfile: str) -> list[str]:
    """The options of a golden as a command line. What is left out was empty for TensorFlow."""
    given = {"account_type_regexes": [], "start_name_regexes": [], "show_name_regexes": [], "max_depth": 0}
    line = []
    for name, value in {**given, **options}.items():
        text = ",".join(value) if isinstance(value, list) else str(value)
        line.append(f"--{name}={text.replace('@@', outfile)}")
    return line


@pytest.mark.repeats("reads recordings that do not ship")
@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem)
def test_views_are_those_of_tensorflow(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = json.loads(path.read_text())
    inputs, command = golden["inputs"], golden["cmd"]
    if command not in COMMANDS or golden["status"] in CRASHES:
        pytest.skip(f"{command}: {golden['status']}")
    files = {
        "graph_path": inputs["graph"],
        "run_meta_path": inputs["run_meta"],
        "op_log_path": inputs["op_log"],
    }
    line = [f"--{name}={corpus.path(file)}" for name, file in files.items() if file]
    # Where TensorFlow wrote its timelines stands in its text.
    there = f"/src/lab/corpus/tfprof/golden/{golden['id']}."
    code = main(["tfprof", command, *line, *words(golden["options"], f"{tmp_path}/")])
    out = capsys.readouterr().out.replace(f"{tmp_path}/", there)
    assert code == (2 if "INVALID_ARGUMENT" in golden["stderr"] else 0)
    assert out == path.with_suffix(".txt").read_text()
    for name in golden["extra_files"]:
        wanted = path.with_name(name)
        if wanted.exists():
            assert (tmp_path / name.removeprefix(f"{golden['id']}.")).read_bytes() == wanted.read_bytes()


def answers() -> list[tuple[str, str]]:
    """The lines that were typed into TensorFlow's engine, with its answers."""
    path = corpus.ROOT / "tfprof/cli/r14.out"
    if not path.exists():
        return []
    parts = path.read_text().split("@@@BEGIN ")[1:]
    pairs = [part.partition("\n") for part in parts]
    return [(line, rest.rpartition("\n@@@END")[0]) for line, _, rest in pairs]


@pytest.fixture(scope="module")
def resnet() -> tfprof.TfprofModel:
    folder = corpus.path("tf1/resnet14_ref")
    names = ("graph.pb", "oplog_custom/tfprof_log", "run_meta_0005.pb", "run_meta_0006.pb")
    graph, log, *steps = (ModelPlace.of_file(str(folder / name)) for name in names)
    checkpoint = ModelPlace.of_checkpoint(str(folder / "model.ckpt-14"))
    return tfprof.TfprofModel(graph, steps, log, checkpoint=checkpoint, log_first=True)


@pytest.mark.repeats("reads recordings that do not ship")
def test_the_prompt_answers_as_tensorflow(resnet: tfprof.TfprofModel) -> None:
    from stepscope.cli.console import Console
    from stepscope.cli.tfprof_prompt import TfprofDialogue

    kept = compared = 0
    out, err = io.StringIO(), io.StringIO()
    console = Console(out, err, False, False, False, False, 100, None)
    talk = TfprofDialogue(resnet, _core.TfprofOptions(), console)
    for line, wanted in answers():
        out.seek(0), out.truncate()
        err.seek(0), err.truncate()
        assert talk.answer(line), line
        if line.startswith("set") and wanted.startswith("OK"):
            kept += 1
            continue
        if "-output file" in line or line == "advise":  # the recorder could not write, and did not advise
            continue
        if line == "help":  # stepscope's own words
            assert all(f"\n  -{option.name} " in out.getvalue() for option in tfprof.options())
            continue
        compared += 1
        said = out.getvalue() + err.getvalue() if wanted.startswith("E:") else out.getvalue()
        assert said.rstrip("\n") == wanted.rstrip("\n"), line
    if answers():
        assert kept >= 3
        assert compared >= 36


def test_text_graphs_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = tmp_path / "graph.pbtxt"
    shape = 'attr { key: "shape" value { shape { dim { size: 3 } dim { size: 4 } } } }'
    nodes = (
        f'name: "a/w" op: "VariableV2" {shape}',
        'name: "a/x" op: "Mul" input: "a/w" input: "^b"',
        'name: "b" op: "NoOp"',
    )
    graph.write_text("".join(f"node {{ {node} }}\n" for node in nodes))
    line = ["tfprof", "scope", "-graph_path", str(graph), "-select", "params,op_types"]
    assert main(line) == 0
    out = capsys.readouterr().out
    assert "_TFProfRoot (--/12 params, _kTFScopeParent)\n" in out
    assert "  a (0/12 params, _kTFScopeParent)\n    a/w (3x4, 12/12 params, VariableV2)\n" in out
    assert main(["tfprof", "graph", f"--graph_path={graph}", "-select", "params"]) == 0
    out = capsys.readouterr().out
    assert "\n  a/x (0/12 params)\n    a/w (3x4, 12/12 params)\n    b (0/0 params)\n" in out


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ([], "no file is named"),
        (["scope", "-max_dept", "3"], "did you mean -max_depth?"),
        (["scopes"], "scopes is not a view"),
        (["scope", "-flops", "all"], "-flops own"),
        (["scope", "-profile_path", "a", "-graph_path", "b"], "beside files of the same"),
        (["scope", "-graph_path", "nowhere.pb"], "No such file"),
        (["scope", "-graph_path", "nowhere.pb", "-max_depth", "x"], "Invalid option"),
        (["scope", "-graph_path"], "needs a value"),
    ],
)
def test_mistakes_are_told(line: Sequence[str], seen: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tfprof", *line]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert seen in captured.err


@pytest.mark.repeats("reads recordings that do not ship")
def test_damaged_files_end_in_an_error(tmp_path: Path) -> None:
    data = corpus.path("tf1/resnet14_ref/graph.pb").read_bytes()
    for cut in (0, 1, 100, len(data) // 2, len(data) - 1):
        damaged = tmp_path / "graph.pb"
        damaged.write_bytes(data[:cut])
        with pytest.raises(StepscopeError) as raised:
            tfprof.TfprofModel(ModelPlace.of_file(str(damaged)))
        assert raised.value.path == str(damaged)


def test_what_tensorflow_is_silent_about_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = tmp_path / "graph.pbtxt"
    graph.write_text('node { name: "w" op: "VariableV2" }\n')
    line = ["tfprof", "scope", "-graph_path", str(graph), "-account_type_regexes", "Variable", "-select"]
    assert main([*line, "params"]) == 0
    assert "VarHandleOp" in capsys.readouterr().err
    assert main([*line, "params", "-order_by", "depth", "-show_name_regexes", "((", "--strict"]) == 2
    err = capsys.readouterr().err
    assert "no such order" in err
    assert "'((' is no regular expression" in err


def test_files_are_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph, out = tmp_path / "graph.pbtxt", tmp_path / "out.txt"
    graph.write_text('node { name: "w" op: "VariableV2" }\n')
    line = ["tfprof", "scope", "-graph_path", str(graph), "-output", f"file:outfile={out}"]
    assert main(line) == 0
    assert "_TFProfRoot" in out.read_text()
    assert main(line) == 2
    assert main([*line, "--force"]) == 0
    assert capsys.readouterr().out == ""


def test_words_are_completed() -> None:
    from stepscope.cli.tfprof_prompt import candidates

    assert list(candidates("sc")) == ["scope"]
    assert list(candidates("scope -max")) == ["-max_depth"]
    assert list(candidates("scope -select bytes,par")) == ["bytes,params"]
    assert list(candidates("scope -order_by peak")) == ["peak_bytes"]


def test_words_of_the_first_years(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    step, out = tmp_path / "step.pbtxt", tmp_path / "dump"
    row = 'node_stats {{ node_name: "{}" all_start_micros: 1 op_end_rel_micros: 5 }}'
    step.write_text(
        f'step_stats {{ dev_stats {{ device: "/device:CPU:0" {row.format("on_cpu")} }}'
        f' dev_stats {{ device: "/device:GPU:0" {row.format("on_gpu")} }} }}'
    )
    line = ["tfprof", "VIEW", f"-run_meta_path={step}", "-device_regexes", ".*GPU.*"]
    for view in ("scope", "graph", "op"):
        assert main([line[0], view, *line[2:]]) == 0
        said = capsys.readouterr().out
        assert "on_gpu" in said
        assert "on_cpu" not in said
    assert (
        main(["tfprof", "scope", f"-run_meta_path={step}", "-viz", "false", "-dump_to_file", str(out)]) == 0
    )
    assert "on_cpu" in out.read_text()
    assert capsys.readouterr().out == ""
    assert main(["tfprof", "scope", f"-run_meta_path={step}", "-viz", "-select", "num_hidden_ops"]) == 0
    assert "never drew anything" in capsys.readouterr().err


@pytest.mark.repeats("reads recordings that do not ship")
def test_the_prompt_dumps_to_a_file_as_in_the_first_years(resnet: tfprof.TfprofModel, tmp_path: Path) -> None:
    from stepscope.cli.console import Console
    from stepscope.cli.tfprof_prompt import TfprofDialogue

    console = Console(io.StringIO(), io.StringIO(), False, False, False, False, 100, None)
    talk = TfprofDialogue(resnet, _core.TfprofOptions(), console)
    for number, name in enumerate((" ", "=")):
        assert talk.answer(f"scope -max_depth 2 -dump_to_file{name}{tmp_path / str(number)} -select params")
    told = [(tmp_path / str(number)).read_text() for number in range(2)]
    assert told[0] == told[1]
    assert "node name | # parameters" in told[0]


def test_paths_stand_for_their_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = corpus.path("tf1/resnet14_ref")
    for name in ("graph.pb", "run_meta_0006.pb", "run_meta_0005.pb"):
        (tmp_path / name).symlink_to(folder / name)
    (tmp_path / "tfprof_log").symlink_to(folder / "oplog_custom" / "tfprof_log")
    for name in ("index", "data-00000-of-00001"):
        (tmp_path / f"model.ckpt-14.{name}").symlink_to(folder / f"model.ckpt-14.{name}")
    options = ["-select", "micros,params,float_ops", "-max_depth", "3", "-account_type_regexes", ".*,mine"]
    assert main(["tfprof", "scope", str(tmp_path), *options]) == 0
    found = capsys.readouterr().out
    steps = f"{tmp_path / 'run_meta_0005.pb'},{tmp_path / 'run_meta_0006.pb'}"
    files = [f"-graph_path={tmp_path / 'graph.pb'}", f"-run_meta_path={steps}"]
    more = [f"-op_log_path={tmp_path / 'tfprof_log'}", f"-checkpoint_path={tmp_path / 'model.ckpt-14'}"]
    assert main(["tfprof", "scope", *files, *more, *options]) == 0
    assert capsys.readouterr().out == found
    assert "flops" in found
