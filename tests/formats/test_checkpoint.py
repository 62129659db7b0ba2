"""Checkpoints: what TensorFlow lists of them, what tensors are for, and files that lie about their sizes."""

import contextlib
import functools
import gzip
import json
import math
import shutil
import zipfile
from pathlib import Path

import pytest

from stepscope import _core
from stepscope.cli import main
from stepscope.errors import StepscopeError
from stepscope.formats import HEAD_BYTES, checkpoint, recognise
from stepscope.formats._checkpoint_roles import roles_of
from stepscope.session import trace
from tests import corpus
from tests.asked import ask
from tests.crc import masked_crc32c
from tests.each import each

SAMPLES = corpus.SAMPLES / "checkpoint"
MAGIC = bytes.fromhex("57fb808b247547db")
EXPECTED = {
    "beta1_power": ("float32", [], 4, "optimizer", None),
    "dense/bias": ("float32", [4], 16, "weight", None),
    "dense/bias/Adam": ("float32", [4], 16, "slot", "dense/bias"),
    "dense/bias/Adam_1": ("float32", [4], 16, "slot", "dense/bias"),
    "dense/kernel": ("float32", [3, 4], 48, "weight", None),
    "dense/kernel/Adam": ("float32", [3, 4], 48, "slot", "dense/kernel"),
    "dense/kernel/Adam_1": ("float32", [3, 4], 48, "slot", "dense/kernel"),
    "global_step": ("int64", [], 8, "counter", None),
}
QUERY = "select name, dtype, shape, elements, bytes, role, weight from checkpoint_tensor order by name"


def copy(folder: Path) -> Path:
    """The V2 sample in a folder of its own; returns its prefix."""
    for path in SAMPLES.glob("v2.ckpt-7.*"):
        shutil.copy(path, folder)
    return folder / "v2.ckpt-7"


def indices() -> list[Path]:
    found = [path for pattern in ("tf1/**/*.index", "tf1/**/model_v1.ckpt") for path in corpus.files(pattern)]
    return [SAMPLES / "v2.ckpt-7.index", SAMPLES / "v1.ckpt", *found]


@pytest.mark.repeats("it imports TensorFlow; what it lists of the samples is written down below")
@pytest.mark.parametrize("path", indices(), ids=lambda path: path.name)
def test_tensors_are_those_that_tensorflow_lists(path: Path) -> None:
    checkpoint_utils = pytest.importorskip("tensorflow.python.training.py_checkpoint_reader")
    reader = checkpoint_utils.NewCheckpointReader(str(path).removesuffix(".index"))
    wanted = {name: list(shape) for name, shape in reader.get_variable_to_shape_map().items()}
    types = {name: dtype.name for name, dtype in reader.get_variable_to_dtype_map().items()}
    rows = ask(path, "select name, dtype, shape, elements from checkpoint_tensor")
    assert {name: json.loads(shape) for name, _, shape, _ in rows} == wanted
    assert {name: dtype for name, dtype, _, _ in rows} == types
    assert all(elements == math.prod(json.loads(shape)) for _, _, shape, elements in rows)


@pytest.mark.parametrize("name", ["v1.ckpt", "v2.ckpt-7.index"])
def test_rows_of_the_samples(name: str) -> None:
    with trace.open(str(SAMPLES / name), cache=False) as opened:
        rows = {row[0]: row[1:] for row in opened.query(QUERY).rows()}
        notes = opened.query("select slug from source_note").rows()
    assert set(rows) == {*EXPECTED, "label"}
    assert rows["label"][0] == "string"
    for tensor, (dtype, shape, size, role, weight) in EXPECTED.items():
        found = rows[tensor]
        assert (found[0], json.loads(found[1]), found[4], found[5]) == (dtype, shape, role, weight), tensor
        assert found[2] == math.prod(shape)
        assert found[3] == size or (name == "v1.ckpt" and found[3] is None)
    assert not notes


@each(
    ("names", "wanted"),
    [
        (["w", "w/Momentum"], ["weight", "slot"]),
        (["w", "w/ExponentialMovingAverage"], ["weight", "slot"]),
        (["w", "w/a_slot_of_my_own"], ["weight", "slot"]),
        (["a/w/Momentum"], ["weight"]),
        (
            ["bn/moving_mean", "bn/moving_variance_1", "bn/gamma", "moving_means/w"],
            ["statistic", "statistic", "weight", "weight"],
        ),
        (["l/moving_mean/.ATTRIBUTES/VARIABLE_VALUE"], ["statistic"]),
        (
            [
                "l/kernel/.ATTRIBUTES/VARIABLE_VALUE",
                "l/kernel/.OPTIMIZER_SLOT/optimizer/m/.ATTRIBUTES/VARIABLE_VALUE",
                "optimizer/_variables/3/.ATTRIBUTES/VARIABLE_VALUE",
                "save_counter/.ATTRIBUTES/VARIABLE_VALUE",
                "optimizer/beta_1/.ATTRIBUTES/VARIABLE_VALUE",
            ],
            ["weight", "slot", "optimizer", "counter", "optimizer"],
        ),
    ],
)
def test_what_tensors_are_for(names: list[str], wanted: list[str]) -> None:
    roles = roles_of([(name, "float32", [2, 3]) for name in names])
    assert [roles[name][0] for name in names] == wanted


def test_scalars_below_scalars_are_no_slots() -> None:
    roles = roles_of([(name, "float32", []) for name in ("scale", "scale/good")])
    assert {role for role, _ in roles.values()} == {"weight"}


def test_what_an_export_of_keras_holds_again_is_no_second_model():
    """It keeps all variables beside those of the model; of a seed there is one."""
    value = "/.ATTRIBUTES/VARIABLE_VALUE"
    model = {f"variables/{at}{value}": shape for at, shape in enumerate(([32, 64], [64], [64, 10]))}
    again = {f"_all_variables/{at}{value}": shape for at, shape in enumerate(([64, 10], [32, 64], [64], [7]))}
    roles = roles_of([(name, "float32", shape) for name, shape in (model | again).items()])
    assert [role for role, _ in roles.values()] == ["weight"] * 3 + ["copy"] * 3 + ["weight"]
    assert {role for role, _ in roles_of([(name, "float32", [7]) for name in again]).values()} == {"weight"}


def test_every_way_to_name_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prefix = copy(tmp_path)
    index, data = Path(f"{prefix}.index"), Path(f"{prefix}.data-00000-of-00001")
    packed, archive = tmp_path / "packed" / "v.index.gz", tmp_path / "zipped" / "v.zip"
    for path in (packed, archive):
        path.parent.mkdir()
    packed.write_bytes(gzip.compress(index.read_bytes()))
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.write(index, "model/v2.ckpt-7.index")
    renamed = tmp_path / "renamed" / "what"
    renamed.parent.mkdir()
    shutil.copy(index, renamed)
    alone = tmp_path / "alone"
    alone.mkdir()
    copy(alone)
    (alone / "checkpoint").write_text('model_checkpoint_path: "v2.ckpt-7"\n')
    said = set()
    for path in (prefix, index, data, packed, archive, renamed, alone, SAMPLES / "v2.ckpt-7"):
        assert main(["query", str(path), QUERY, "--no-cache", "--format", "csv"]) == 0
        said.add(capsys.readouterr().out)
    assert len(said) == 1
    assert "dense/kernel/Adam_1" in said.pop()


def test_the_summary_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(SAMPLES / "v2.ckpt-7"), "--no-cache"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Only checkpoints were found" in said
    assert "v2.ckpt-7: 9 tensors" in said
    assert "16 parameters of the model in 64 B, the largest dense/kernel" in said
    assert "the optimizer keeps 132 B besides" in said


def test_a_lake_keeps_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lake = str(tmp_path / "lake")
    assert main(["ingest", str(SAMPLES / "v2.ckpt-7.index"), "--lake", lake]) == 0
    capsys.readouterr()
    assert main(["query", lake, "select sum(bytes) from checkpoint_tensor", "--format", "csv"]) == 0
    wanted = ask(SAMPLES / "v2.ckpt-7", "select sum(bytes) from checkpoint_tensor")[0][0]
    assert str(wanted) in capsys.readouterr().out


def test_values_that_are_not_there_are_counted(tmp_path: Path) -> None:
    prefix = copy(tmp_path)
    data = Path(f"{prefix}.data-00000-of-00001")
    whole = data.read_bytes()
    for cut in (len(whole) - 1, len(whole) // 2, 0, None):
        data.unlink() if cut is None else data.write_bytes(whole[:cut])
        with trace.open(str(prefix), cache=False) as opened:
            rows = opened.query("select slug, effect, events, first_offset, detail from source_note").rows()
            assert opened.query("select count(*) from checkpoint_tensor").rows() == [(9,)]
        ((slug, effect, events, offset, detail),) = rows
        assert (slug, effect) == ("missing-values", "missing")
        assert any(name in detail for name in (*EXPECTED, "label"))
        absent = _core.Checkpoint(str(prefix)).absent()
        assert events == len(absent)
        assert offset == absent[0][1]
        for name, _, _ in absent:
            with pytest.raises(_core.CoreError):
                _core.Checkpoint(str(prefix)).read(name)


@pytest.mark.parametrize("name", ["v1.ckpt", "v2.ckpt-7.index"])
def test_damage_ends_in_an_error_or_is_harmless(name: str, tmp_path: Path) -> None:
    whole = (SAMPLES / name).read_bytes()
    path = tmp_path / name
    for cut in range(0, len(whole), 3):
        assert not checkpoint.sniff(whole[:cut], name)
        path.write_bytes(whole[:cut])
        with pytest.raises(StepscopeError):
            trace.open(str(path), cache=False).close()
    for at in range(0, len(whole) - 8, 5):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1 :])
        with contextlib.suppress(_core.CoreError):
            names = [name for name, *_ in _core.Checkpoint(str(path)).tensors()]
            assert names == sorted(names)


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def entry(shared: int, key: bytes, value: bytes) -> bytes:
    return varint(shared) + varint(len(key)) + varint(len(value)) + key + value


class Table:
    """A table written block by block, with whatever it is told."""

    def __init__(self) -> None:
        self.out = bytearray()

    def block(self, entries: bytes) -> bytes:
        content = entries + bytes(4) + (1).to_bytes(4, "little") + b"\0"
        place = varint(len(self.out)) + varint(len(content) - 1)
        self.out += content + masked_crc32c(content).to_bytes(4, "little")
        return place

    def end(self, index: bytes) -> bytes:
        about = self.block(b"")
        footer = about + self.block(index)
        return bytes(self.out + footer.ljust(40, b"\0") + MAGIC)


HEADER = entry(0, b"", b"\x08\x01")


def tensor(shape: list[int], size: int) -> bytes:
    dims = b"".join(b"\x12" + varint(len(dim)) + dim for dim in (b"\x08" + varint(one) for one in shape))
    return b"\x08\x01\x12" + varint(len(dims)) + dims + b"\x28" + varint(size)


@functools.cache
def hostile() -> dict[str, bytes]:
    """Indices that ask for far more than they are."""
    found = {}
    table = Table()
    block = table.block(HEADER + entry(0, b"w", tensor([2**40, 2**40], 2**62)))
    found["huge"] = table.end(entry(0, b"w", block))
    table = Table()
    many = b"".join(entry(0, b"w%06d" % number, tensor([1], 4)) for number in range(2000))
    block = table.block(HEADER + many)
    found["cyclic"] = table.end(b"".join(entry(0, b"x%06d" % number, block) for number in range(20000)))
    table = Table()
    long = 30_000
    block = table.block(HEADER + entry(0, b"k" * long, b"") + entry(long, b"", b"") * 60_000)
    found["keys"] = table.end(entry(0, b"z", block))
    table = Table()
    block = table.block(HEADER)
    found["beyond"] = table.end(entry(0, b"a", varint(2**60) + varint(2**60)))
    return found


@pytest.mark.parametrize("name", ["huge", "cyclic", "keys", "beyond"])
def test_false_sizes_take_no_memory(name: str, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = tmp_path / f"{name}.index"
    path.write_bytes(hostile()[name])
    assert checkpoint.sniff(path.read_bytes()[:HEAD_BYTES], path.name)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if name == "huge":
        found = _core.Checkpoint(str(path))
        assert found.tensors() == [("w", "float32", [2**40, 2**40], 2**62, 1)]
        with pytest.raises(_core.CoreError):
            found.read("w")
        assert ask(path, "select elements, bytes from checkpoint_tensor") == [(None, 2**62)]
    else:
        with pytest.raises(_core.CoreError) as raised:
            _core.Checkpoint(str(path))
        assert raised.value.seen
        with pytest.raises(StepscopeError), trace.open(str(path), cache=False) as opened:
            opened.query("select * from checkpoint_tensor")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 << 10  # KiB


def test_no_other_sample_is_taken_for_one() -> None:
    for path in corpus.SAMPLES.rglob("*"):
        if path.is_file():
            head = path.read_bytes()[:HEAD_BYTES]
            own = path.parent == SAMPLES and path.name in ("v1.ckpt", "v2.ckpt-7.index")
            assert checkpoint.sniff(head, path.name) == own, path
            if own:
                assert getattr(recognise(head, path.name), "NAME", "") == "checkpoint"
