"""ProfileProto: read, asked step by step, written; and the advice that TensorFlow's checkers gave of it."""

import gzip
import json
import random
import re
from pathlib import Path

import pytest

from stepscope import _core, report
from stepscope.cli import main
from stepscope.errors import StepscopeError
from stepscope.formats.models.place import ModelPlace
from stepscope.instruments import tfprof
from stepscope.session import trace
from tests import corpus
from tests.instruments.test_tfprof import words
from tests.later import proto

GOLDENS = [path for path in corpus.files("tfprof/multistep/*.json") if "timeline" not in path.name]


@pytest.fixture(scope="module")
def multistep() -> Path:
    return corpus.path("tfprof/multistep")


@pytest.mark.repeats("reads recordings that do not ship")
@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem)
def test_steps_are_those_of_tensorflow(
    path: Path, multistep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    golden = json.loads(path.read_text())
    options = dict(golden["options"])
    options["output"] = options["output"].replace("/src/lab/corpus/tfprof/multistep", str(tmp_path))
    line = ["tfprof", golden["cmd"], f"--profile_path={multistep / 'profile.pb'}", *words(options, "")]
    assert main(line) == 0
    written = sorted(tmp_path.iterdir())
    if options.get("step") == 3:  # it was never added
        assert not written
        assert "Available steps: 0 1 5 6 7" in capsys.readouterr().err
        return
    assert written
    for file in written:
        wanted = multistep / file.name
        if not wanted.exists():  # TensorFlow's recorder kept the first of them only
            continue
        if file.suffix == ".gz":
            assert gzip.decompress(file.read_bytes()) == gzip.decompress(wanted.read_bytes())
        else:
            assert file.read_bytes() == wanted.read_bytes()


def test_a_profile_of_a_graph_alone_says_that_nothing_ran(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tfprof.TfprofModel(graph=ModelPlace.of_file(str(corpus.SAMPLES / "graph" / "small.pb"))).profile()
    path = tmp_path / "profile_100"
    path.write_bytes(made)
    assert main([str(path)]) == 0
    assert "Nothing was recorded: there are no events" in capsys.readouterr().out
    assert main(["tfprof", "scope", str(path), "-max_depth=1"]) == 0
    assert "_TFProfRoot" in capsys.readouterr().out


@pytest.mark.repeats("reads recordings that do not ship")
def test_a_profile_is_written_as_it_was_read(multistep: Path) -> None:
    log = proto("core.profiler.tfprof_log_pb2")
    path = multistep / "profile.pb"
    again = log.ProfileProto.FromString(tfprof.TfprofModel(profile=ModelPlace.of_file(str(path))).profile())
    assert again == log.ProfileProto.FromString(path.read_bytes())


@pytest.mark.repeats("reads recordings that do not ship")
def test_files_become_the_profile_that_tensorflow_makes_of_them(tmp_path: Path) -> None:
    log = proto("core.profiler.tfprof_log_pb2")
    engine = pytest.importorskip("tensorflow.python.util._pywrap_tfprof")
    folder = corpus.path("tf1/resnet14_ref")
    graph, step = folder / "graph.pb", folder / "run_meta_0005.pb"
    op_log = folder / "oplog_custom" / "tfprof_log"
    engine.NewProfiler(graph.read_bytes(), op_log.read_bytes())
    try:
        engine.AddStep(0, b"", step.read_bytes(), b"")
        wanted = log.ProfileProto.FromString(engine.SerializeToString())
    finally:
        engine.DeleteProfiler()
    out = tmp_path / "profile.pb"
    line = ["tfprof", "scope", f"-graph_path={graph}", f"-run_meta_path={step}", f"-op_log_path={op_log}"]
    assert main([*line, "-output", "none", "-write_profile", str(out)]) == 0
    found = log.ProfileProto.FromString(out.read_bytes())
    assert len(found.nodes) > 2000
    assert found == wanted


def sections(text: str) -> dict[str, str]:
    """The checkers' reports: TensorFlow gives them in another order each time."""
    parts = re.split(r"^(\w+Checker):\n", text, flags=re.MULTILINE)
    return {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}


@pytest.mark.repeats("reads recordings that do not ship")
def test_advice_is_that_of_tensorflow(multistep: Path) -> None:
    output = proto("core.profiler.tfprof_output_pb2")
    text_format = pytest.importorskip("google.protobuf.text_format")
    advice = text_format.Parse((multistep / "advise_multistep_all.pbtxt").read_text(), output.AdviceProto())
    wanted = {name: "\n".join(checker.reports) for name, checker in advice.checkers.items()}
    assert (
        sections(tfprof.TfprofModel(profile=ModelPlace.of_file(str(multistep / "profile.pb"))).advise().text)
        == wanted
    )


def test_advice_of_an_accelerator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph, step = tmp_path / "graph.pbtxt", tmp_path / "step.pbtxt"
    graph.write_text(
        'node { name: "a/BatchNorm/x" op: "Mul" }\n'
        'node { name: "c" op: "Conv2D" attr { key: "data_format" value { s: "NHWC" } } }\n'
    )
    row = 'node_stats {{ node_name: "c" all_start_micros: {} op_end_rel_micros: {} }}'
    step.write_text(
        "step_stats {"
        f' dev_stats {{ device: "/device:GPU:0" {row.format(100, 50)} }}'
        f' dev_stats {{ device: "/device:GPU:0/stream:all" {row.format(120, 40)} }} }}'
    )
    assert main(["tfprof", "advise", f"-graph_path={graph}", f"-run_meta_path={step}"]) == 0
    said = sections(capsys.readouterr().out)
    assert said["AcceleratorUtilizationChecker"] == "device: /device:gpu:0 utilization: 0.67"
    assert said["OperationChecker"].startswith("Maybe use faster FusedBatchNorm instead of BatchNorm\nFound")
    assert said["ExpensiveOperationChecker"].startswith("top 1 operation type: Conv2D, cpu: 50us")


def test_advice_ends_with_findings_of_our_own(capsys: pytest.CaptureFixture[str]) -> None:
    """The checkers' report alone is data; what stepscope finds in the same steps is beside it, on stderr."""
    step = str(Path(__file__).resolve().parents[1] / "samples/run_metadata/xla_cluster.pb")
    with trace.open(step, cache=False) as opened:
        found = report.build(opened).findings
    assert found
    assert main(["tfprof", "advise", f"-run_meta_path={step}"]) == 0
    captured = capsys.readouterr()
    assert captured.out == tfprof.TfprofModel(None, [ModelPlace.of_file(step)]).advise().text
    _, _, said = captured.err.partition("stepscope's own findings in the same recordings:\n")
    wanted = [f"{one.severity}: {one.title}. {one.impact} {one.action}" for one in found]
    assert " ".join(said.split()) == " ".join(" ".join(wanted).split())


@pytest.mark.repeats("reads recordings that do not ship")
def test_damaged_profiles_end_in_an_error(multistep: Path, tmp_path: Path) -> None:
    data = (multistep / "profile.pb").read_bytes()
    for cut in (1, 100, len(data) // 2, len(data) - 1):
        damaged = tmp_path / "profile.pb"
        damaged.write_bytes(data[:cut])
        with pytest.raises(StepscopeError) as raised:
            tfprof.TfprofModel(profile=ModelPlace.of_file(str(damaged)))
        assert raised.value.path == str(damaged)


def test_any_bytes_give_a_view_or_an_error(tmp_path: Path) -> None:
    """Flipped bits, cut and doubled stretches of a profile: never more than an error of ours."""
    step = Path(__file__).resolve().parents[1] / "samples/run_metadata/two_servers.pb"
    good = tfprof.TfprofModel(None, [ModelPlace.of_file(str(step))]).profile()
    assert len(good) > 5000
    dice = random.Random(7)
    path = tmp_path / "profile.pb"
    read = 0
    for _ in range(300):
        data = bytearray(good)
        for _ in range(dice.choice((1, 1, 3, 10))):
            at = dice.randrange(len(data))
            kind = dice.random()
            if kind < 0.6:
                data[at] = dice.choice((0, 0x7F, 0x80, 0xFF, data[at] ^ 1 << dice.randrange(8)))
            elif kind < 0.8:
                del data[at : at + dice.randrange(1, 9)]
            else:
                data[at:at] = data[at : at + dice.randrange(1, 9)]
        path.write_bytes(data)
        try:
            model = tfprof.TfprofModel(profile=ModelPlace.of_file(str(path)), own_flops=True)
        except StepscopeError:
            continue
        read += 1
        for view in tfprof.VIEWS:
            model.show(view, _core.TfprofOptions())
        model.advise()
        model.profile()
    assert read > 20
