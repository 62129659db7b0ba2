"""The files of a model under any path: known by what is in them, in archives, packed, and in event files."""

import gc
import gzip
import io
import random
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from stepscope import _core, formats
from stepscope.cli import main
from stepscope.formats.models import files, op_log
from tests import corpus
from tests.crc import masked_crc32c
from tests.tiers import some

SAMPLES = Path(__file__).parent.parent / "samples"
EVENTS = SAMPLES / "event_file" / "events.out.tfevents.1795163227.vm"
STEP = SAMPLES / "run_metadata" / "two_servers.pb"
CHECKPOINT = SAMPLES / "checkpoint"
GRAPH = 'node { name: "a/w" op: "VariableV2" }\nnode { name: "a/x" op: "Mul" input: "a/w" }\n'


def said(number: int, body: bytes) -> bytes:
    """A field of bytes, shorter than 128."""
    return bytes([number << 3 | 2, len(body)]) + body


ENTRY = said(1, b"a/w") + said(3, b"_trainable_variables")
OP_LOG = said(1, ENTRY + b"\x10\x07") * 3
BY_NAME_ALONE = said(1, said(1, b"a/w"))


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["tfprof", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("root", [SAMPLES, corpus.ROOT / "tf1", corpus.ROOT / "tfprof/multistep"])
def test_op_logs_and_profiles_are_known_by_what_is_in_them(root: Path) -> None:
    found = {}
    for path in root.rglob("*") if root.exists() else ():
        if path.is_file():
            with path.open("rb") as file:
                head = file.read(formats.HEAD_BYTES)
            if op_log.fits(head, "x"):
                found[path.name] = "op_log"
            elif _core.sniff("tfprof_profile", head, "x"):
                found[path.name] = "profile"
    expected = {"tfprof_log": "op_log", "op_log.pb": "op_log"}
    expected |= dict.fromkeys(("profile.pb", "profile_4", "profile_5"), "profile")
    assert found == {name: expected[name] for name in found}


STEP_STATS = """dev_stats {
  device: "/job:w/task:0/device:CPU:0"
  node_stats { node_name: "a/x" all_start_micros: 5 op_end_rel_micros: 7 all_end_rel_micros: 7 }
}
"""


@pytest.mark.parametrize("text", [STEP_STATS, "step_stats {" + STEP_STATS + "}"])
def test_the_statistics_of_a_step_as_text(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bare, as `RunMetadata.step_stats` is printed, or within a RunMetadata."""
    (tmp_path / "graph.pbtxt").write_text(GRAPH)
    (tmp_path / "stats.pbtxt").write_text(text)
    paths = (f"-graph_path={tmp_path}/graph.pbtxt", f"-run_meta_path={tmp_path}/stats.pbtxt")
    code, out, _ = run(capsys, "scope", *paths, "-select", "micros")
    assert code == 0
    assert "a/x (7us/7us" in out


def test_any_bytes_are_something_or_nothing() -> None:
    drawn = random.Random(5)
    for size in (0, 1, 7, 300):
        for _ in range(200):
            assert op_log.fits(drawn.randbytes(size), "x") in (True, False)
    for size in range(len(OP_LOG)):
        assert not _core.sniff("tfprof_profile", OP_LOG[:size], "x")
    assert op_log.fits(OP_LOG, "x")
    assert not op_log.fits(BY_NAME_ALONE, "x")
    assert op_log.fits(BY_NAME_ALONE, "tfprof_log")


def model() -> dict[str, bytes]:
    """A model's files, by the names they have in an archive; none says what it is."""
    return {
        "one/g": GRAPH.encode(),
        "one/s": STEP.read_bytes(),
        "one/l": OP_LOG,
        **{f"one/{path.name}": path.read_bytes() for path in CHECKPOINT.glob("v2*")},
    }


def packed(kind: str, content: dict[str, bytes], folder: Path) -> Path:
    path = folder / f"m.{kind}"
    if kind == "folder":
        for name, data in content.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(gzip.compress(data) if name.endswith(("g", "s", "l")) else data)
    elif kind == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in content.items():
                archive.writestr(name, data)
    else:
        with tarfile.open(path, f"w:{kind.partition('.')[2]}") as archive:
            for name, data in content.items():
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
    return path


KINDS = ("folder", "zip", "tar", "tar.gz", "tar.xz")


@pytest.mark.parametrize("kind", some(KINDS, ("zip", "tar.gz"), "packed in other ways"))
def test_packed_models_answer_like_their_files(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    unpacked = tmp_path / "unpacked"
    unpacked.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(unpacked))
    content = model()
    for name in ("g", "l"):
        (tmp_path / name).write_bytes(content[f"one/{name}"])
    select = ("-select", "params,micros,float_ops,op_types,tensor_value", "-max_depth", "5")
    options = (
        f"--graph_path={tmp_path / 'g'}",
        f"--run_meta_path={STEP}",
        f"--op_log_path={tmp_path / 'l'}",
        f"--checkpoint_path={CHECKPOINT / 'v2.ckpt-7'}",
    )
    expected = run(capsys, "scope", *options, *select)
    path = packed(kind, content, tmp_path)
    code, out, err = run(capsys, "scope", str(path), *select)
    assert (code, out) == (expected[0], expected[1])
    told = [line.partition(": ")[0] for line in err.splitlines()]
    assert told[:4] == ["graph", "steps", "op log", "checkpoint"]
    assert "_trainable_variables" in out
    gc.collect()
    assert not list(unpacked.iterdir())  # what was unpacked goes with the model


def records(data: bytes) -> Iterator[bytes]:
    """The data of the records of an event file."""
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        yield data[at + 12 : at + 12 + length]
        at += length + 16


def framed(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return b"".join(
        (length, struct.pack("<I", masked_crc32c(length)), data, struct.pack("<I", masked_crc32c(data)))
    )


def fields(data: bytes) -> dict[int, bytes]:
    """The last field of bytes of each number; a reader of its own, so that one wrong rule shows."""
    found, at = {}, 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = number()
        if tag & 7 == 0:
            number()
        elif tag & 7 == 1:
            at += 8
        elif tag & 7 == 5:
            at += 4
        else:
            length = number()
            found[tag >> 3] = data[at : at + length]
            at += length
    return found


def taken_apart(data: bytes, folder: Path) -> tuple[list[str], list[str]]:
    """Graphs and steps of an event file as files."""
    graphs, steps = [], []
    for i, event in enumerate(fields(one) for one in records(data)):
        for kind, body in ((graphs, event.get(4) or event.get(9)), (steps, fields(event.get(8, b"")).get(2))):
            if body:
                path = folder / f"{i}.pb"
                path.write_bytes(body)
                kind.append(str(path))
    return graphs, steps


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("view", ["scope", "op", "graph"])
@pytest.mark.parametrize(
    "path",
    [
        EVENTS,
        *corpus.files("tf1/*/events/events.out.*"),
        *corpus.files("tf1/profiler_hook/ckpt/events.out.*"),
    ],
    ids=lambda path: path.parent.parent.name,
)
def test_event_files_hold_graphs_and_steps(
    path: Path, view: str, pack: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = path.read_bytes()
    graphs, steps = taken_apart(data, tmp_path)
    options = [f"--graph_path={graphs[0]}"] if graphs else []
    options += [f"--run_meta_path={','.join(steps)}"] if steps else []
    select = ("-select", "params,micros,bytes,occurrence,op_types", "-max_depth", "100")
    whole = tmp_path / "events.out.tfevents.1.x"
    whole.write_bytes(pack(data))  # type: ignore[operator]
    for step in ("-1", "0", str(max(len(steps) - 1, 0))):
        expected = run(capsys, view, *options, *select, "-step", step)
        code, out, err = run(capsys, view, str(whole), *select, "-step", step)
        assert (code, out) == expected[:2]
    if steps:
        assert f"steps: {whole}#step" in err
    if len(graphs) > 1:
        assert f"graph passed over, one is enough: {whole}#graph" in err


def test_records_with_wrong_checksums_are_left_out_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    step = said(1, said(1, said(1, b"/cpu:0") + said(2, said(1, b"a/x") + bytes([16, 9, 40, 5]))))
    events = [framed(said(8, said(1, b"step_%d" % i) + said(2, step))) for i in (3, 4, 5)]
    head = framed(said(3, b"brain.Event:2"))
    broken = events[1].replace(b"/cpu:0", b"/cpu:9")
    path = tmp_path / "events.out.tfevents.1.x"
    path.write_bytes(head + events[0] + broken + events[2])
    found = files.find_files([str(path)])
    assert [one.shown for one in found.files["run_meta_path"]] == [f"{path}#step_3", f"{path}#step_5"]
    at = len(head) + len(events[0])
    assert found.odd == [f"{path}: records whose checksum is wrong (byte {at})"]
    code, _, err = run(capsys, "scope", str(path))
    assert code == 0
    assert "checksum is wrong" in err
    assert run(capsys, "scope", str(path), "--strict")[0] == 2


def test_damaged_event_files_end_in_an_error_or_in_messages_that_are_there() -> None:
    whole = EVENTS.read_bytes()
    drawn = random.Random(11)
    read, kinds = 0, set()
    for _ in range(400):
        data = bytearray(whole[: drawn.choice((len(whole), drawn.randrange(len(whole))))])
        for _ in range(drawn.randrange(4)):
            if data:
                data[drawn.randrange(len(data))] ^= 1 << drawn.randrange(8)
        try:
            messages, warnings = _core.event_messages(_core.Input.bytes(bytes(data)))
        except _core.CoreError as error:
            kinds.add(error.kind)
            continue
        read += 1
        assert warnings or bytes(data) == whole or whole.startswith(data)
        for kind, _, _, offset, length in messages:
            # Checksums vouch for what is given: it is what the whole file has there.
            assert kind in ("graph", "function_graph", "run_metadata")
            assert bytes(data[offset : offset + length]) == whole[offset : offset + length]
    assert read > 100
    assert kinds <= {"not_this_format", "damaged"}


def test_files_of_their_own_stand_before_event_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(EVENTS, tmp_path)
    shutil.copy(STEP, tmp_path / "run_meta_0003.pb")
    (tmp_path / "graph.pbtxt").write_text(GRAPH)
    expected = run(capsys, "scope", f"--graph_path={tmp_path / 'graph.pbtxt'}", f"--run_meta_path={STEP}")
    code, out, err = run(capsys, "scope", str(tmp_path))
    assert (code, out) == expected[:2]
    assert f"graph: {tmp_path / 'graph.pbtxt'}\n" in err
    assert f"steps: {tmp_path / 'run_meta_0003.pb'}\n" in err
    assert f"steps passed over, files of their own were taken: {tmp_path / EVENTS.name}#step_5" in err


def test_a_named_file_stands_before_a_found_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.pbtxt").write_text(GRAPH)
    (tmp_path / "b.pbtxt").write_text(GRAPH.replace("a/", "b/"))
    select = ("-select", "op_types")
    _, out, err = run(capsys, "scope", str(tmp_path / "a.pbtxt"), f"--graph_path={tmp_path}/b.pbtxt", *select)
    assert "b/w" in out
    assert "a/w" not in out
    assert err == f"passed over, -graph_path is given: {tmp_path}/a.pbtxt\n"


def test_profiles_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = tmp_path / "profile"
    assert run(capsys, "scope", str(STEP), "-write_profile", str(kept))[0] == 0
    select = ("-select", "micros,occurrence", "-step", "0")
    expected = run(capsys, "op", f"--profile_path={kept}", *select)
    assert run(capsys, "op", str(kept), *select)[:2] == expected[:2]
    (tmp_path / "graph.pbtxt").write_text(GRAPH)
    _, out, err = run(capsys, "scope", str(tmp_path), "-select", "op_types")
    assert "a/w" in out
    assert f"profile passed over, graph and steps were taken: {kept}" in err


@pytest.mark.repeats("reads recordings that do not ship")
def test_graphs_of_functions(capsys: pytest.CaptureFixture[str]) -> None:
    events = corpus.path("events/tf2_trace_on/events.out.tfevents.1795165226.vm.22958.0.v2")
    code, out, err = run(capsys, "scope", str(events), "-select", "op_types", "-max_depth", "3")
    assert code == 0
    assert "_kTFScopeParent" in out
    assert f"graph: {events}#" in err


def test_what_is_no_model_says_what_was_looked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    code, out, err = run(capsys, "scope", str(tmp_path))
    assert (code, out) == (2, "")
    assert f"no graph, RunMetadata, op log, checkpoint, profile or trace in {tmp_path}" in err


@pytest.mark.repeats("another form")
@pytest.mark.parametrize("sample", ["run_metadata/two_servers.pb", "chrome/kineto_cuda.json"])
def test_standard_input(sample: str) -> None:
    words = [sys.executable, "-m", "stepscope", "tfprof", "op", "-select", "micros,occurrence"]
    path = SAMPLES / sample
    named = subprocess.run([*words, str(path)], capture_output=True, check=False)
    with path.open("rb") as file:
        piped = subprocess.run([*words, "-"], stdin=file, capture_output=True, check=False)
    assert piped.returncode == 0, piped.stderr
    assert piped.stdout == named.stdout


def test_the_prefix_of_a_checkpoint_is_a_path(capsys: pytest.CaptureFixture[str]) -> None:
    select = ("-account_type_regexes", "_checkpoint_variables", "-select", "params")
    prefix = str(CHECKPOINT / "v2.ckpt-7")
    expected = run(capsys, "scope", f"--checkpoint_path={prefix}", *select)
    assert run(capsys, "scope", prefix, *select)[:2] == expected[:2]
    assert "/" in expected[1]
    assert run(capsys, "scope", prefix + "0", *select)[0] == 2
