"""Checkpoints of PyTorch and of safetensors, drawn: what they keep, without a line of them being run."""

import io
import json
import math
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

from stepscope import formats
from stepscope.cli import main
from stepscope.errors import StepscopeError
from stepscope.formats import HEAD_BYTES
from stepscope.formats.torch_checkpoint import MAGIC as MAGIC_PICKLE
from tests.asked import ask

QUERY = "select name, dtype, shape, elements, bytes, slices, role from checkpoint_tensor order by id"
MAGIC, VERSION = 0x1950A86A20F9469CFC6C, 1001
_RAN: list[str] = []


class Named:
    """A Python object that is pickled as a name."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name


class Value:
    """A tensor of the storage with this key."""

    def __init__(
        self, key: str, shape: tuple[int, ...], kind: str = "Float", offset: int = 0, whole: int | None = None
    ) -> None:
        self.key, self.shape, self.kind, self.offset = key, shape, kind, offset
        self.whole = math.prod(shape) if whole is None else whole


class Parameter(Value):
    """One that is wrapped as PyTorch wraps what is trained."""


class Module:
    """What a whole model is pickled as."""

    def __init__(self, **state: Any) -> None:
        self.state = state


class _Kept:
    """What Pickler.persistent_id() gets: where the values of a tensor are."""

    def __init__(self, value: Value) -> None:
        self.value = value


class Torch(pickle._Pickler):  # type: ignore[name-defined]
    """Pickles Value and Named as torch.save() pickles tensors and types."""

    def persistent_id(self, value: Any) -> Any:
        """As PyTorch tells of a storage."""
        if not isinstance(value, _Kept):
            return None
        told = value.value
        return ("storage", Named("torch", f"{told.kind}Storage"), told.key, "cpu", told.whole)

    def save(self, value: Any, save_persistent_id: bool = True) -> None:
        """Writes tensors and names as calls and names."""
        if isinstance(value, Named):
            self.write(pickle.GLOBAL + f"{value.module}\n{value.name}\n".encode())
        elif isinstance(value, Parameter):
            inner = Value(value.key, value.shape, value.kind, value.offset, value.whole)
            self._call("torch._utils", "_rebuild_parameter", (inner, True, OrderedDict()))
        elif isinstance(value, Value):
            strides = tuple(1 for _ in value.shape)
            args = (_Kept(value), value.offset, value.shape, strides, False, OrderedDict())
            self._call("torch._utils", "_rebuild_tensor_v2", args)
        elif isinstance(value, Module):
            self.save(Named("program", "Net"))
            self.write(pickle.EMPTY_TUPLE + pickle.NEWOBJ)
            self.save(value.state)
            self.write(pickle.BUILD)
        else:
            super().save(value, save_persistent_id)

    def _call(self, module: str, name: str, args: tuple[Any, ...]) -> None:
        self.save(Named(module, name))
        self.save(args)
        self.write(pickle.REDUCE)


def pickled(value: Any) -> bytes:
    file = io.BytesIO()
    Torch(file, 2).dump(value)
    return file.getvalue()


def archive(path: Path, value: Any) -> Path:
    """As PyTorch writes since 1.6."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", pickled(value))
        file.writestr("archive/data/0", bytes(64))
        file.writestr("archive/version", b"3\n")
    return path


def rows(path: Path) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in ask(path, QUERY)]


TRAINING = {
    "epoch": 3,
    "model": OrderedDict(
        [
            ("wte.weight", Value("0", (50, 4))),
            ("head.weight", Value("0", (50, 4))),
            ("bn.running_mean", Value("1", (4,))),
            ("bn.num_batches_tracked", Value("2", (), "Long")),
            ("positions", Value("3", (1, 8), "Long")),
            ("half", Parameter("4", (2, 2), "BFloat16")),
        ]
    ),
    "optimizer": {
        "state": {0: {"step": Value("5", ()), "exp_avg": Value("6", (50, 4))}},
        "param_groups": [{"lr": 0.001, "params": [0]}],
    },
}
WANTED = [
    ("model.wte.weight", "float32", "[50,4]", 200, 800, 1, "weight"),
    ("model.head.weight", "float32", "[50,4]", 200, 0, 0, "weight"),
    ("model.bn.running_mean", "float32", "[4]", 4, 16, 1, "statistic"),
    ("model.bn.num_batches_tracked", "int64", "[]", 1, 8, 1, "counter"),
    ("model.positions", "int64", "[1,8]", 8, 64, 1, "data"),
    ("model.half", "bfloat16", "[2,2]", 4, 8, 1, "weight"),
    ("optimizer.state.0.step", "float32", "[]", 1, 4, 1, "optimizer"),
    ("optimizer.state.0.exp_avg", "float32", "[50,4]", 200, 800, 1, "slot"),
]


def test_tensors_of_an_archive_have_the_names_that_lead_to_them(tmp_path: Path) -> None:
    assert rows(archive(tmp_path / "model.pt", TRAINING)) == WANTED


def test_tensors_of_the_older_form_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "model.pth"
    head = [pickle.dumps(value, 2) for value in (MAGIC, VERSION, {"little_endian": True})]
    path.write_bytes(b"".join(head) + pickled(TRAINING) + pickle.dumps(["0", "1"], 2) + bytes(900))
    assert rows(path) == WANTED


def test_a_whole_model_has_the_names_of_its_modules(tmp_path: Path) -> None:
    layer = Module(_parameters=OrderedDict(weight=Parameter("0", (3, 2))), _buffers=OrderedDict())
    model = Module(training=True, _modules=OrderedDict(fc=layer))
    assert rows(archive(tmp_path / "net.pt", model)) == [
        ("fc.weight", "float32", "[3,2]", 6, 24, 1, "weight")
    ]


def test_parameters_that_are_kept_once_count_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = archive(tmp_path / "model.pt", TRAINING)
    assert main([str(path), "--no-cache"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "8 tensors, 1.66 KiB; 204 parameters of the model in 808 B" in said
    notes = ask(path, "select slug, events, detail from source_note")
    assert notes == [("shared-values", 1, "model.head.weight is kept as model.wte.weight")]


def test_a_view_brings_its_whole_storage(tmp_path: Path) -> None:
    path = archive(
        tmp_path / "view.pt", {"row": Value("0", (3,), whole=1000), "next": Value("0", (3,), offset=3)}
    )
    assert [row[:5] for row in rows(path)] == [
        ("row", "float32", "[3]", 3, 3988),
        ("next", "float32", "[3]", 3, 12),
    ]
    ((slug, detail),) = ask(path, "select slug, detail from source_note")
    assert slug == "storage-kept-whole"
    assert "3.88 KiB of it are in no tensor" in detail


def test_programs_of_torchscript_begin_with_values(tmp_path: Path) -> None:
    path = tmp_path / "script.pt"
    padded = zipfile.ZipInfo("net/data/0")
    padded.extra = b"FB\x02\x00ZZ"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(padded, bytes(24))
        file.writestr("net/data.pkl", pickled(Module(training=False, weight=Value("0", (3, 2)))))
        file.writestr("net/code/__torch__/net.py", b"class Net(Module): ...")
    assert rows(path) == [("weight", "float32", "[3,2]", 6, 24, 1, "weight")]


def test_a_tensor_alone_is_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(archive(tmp_path / "x.pt", Value("0", (5, 5)))), "--no-cache"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "x.pt: 1 tensor, 100 B." in said
    assert "of the model" not in said


class Ran:
    """What a hostile pickle would call."""

    def __reduce__(self) -> Any:
        return (_RAN.append, ("it ran",))


def test_nothing_of_a_pickle_is_run(tmp_path: Path) -> None:
    path = archive(tmp_path / "evil.pt", {"w": Value("0", (2,)), "evil": Ran()})
    assert [row[0] for row in rows(path)] == ["w"]
    assert not _RAN


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.95])
def test_what_is_cut_says_so(tmp_path: Path, cut: float) -> None:
    path = archive(tmp_path / "model.pt", TRAINING)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * cut)])
    with pytest.raises(StepscopeError, match=r"cut|archive|damaged"):
        rows(path)


_NAME = b"ctorch._tensor\n_rebuild_from_type_v2\n"
HOSTILE = {
    "a call within a call": b"\x80\x02"
    + _NAME
    + (b"(" + _NAME + b"K\0") * 50_000
    + b"K\0"
    + b"t" * 50_000
    + b"R.",
    "a key that doubles 200 times": b"\x80\x02}(K\1" + b"2\x86" * 200 + b"K\1u.",
    "values that double 200 times": b"\x80\x02}(K\1K\1" + b"2\x86" * 200 + b"u.",
    "a dict in itself": b"\x80\x02}q\0(K\1h\0u.",
    "a petabyte": b"\x80\x04\x8e" + (1 << 50).to_bytes(8, "little") + b"abc",
    "nothing": b"",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("older", [False, True])
def test_a_pickle_that_is_no_object_ends_in_an_error(tmp_path: Path, name: str, older: bool) -> None:
    path = tmp_path / "model.pt"
    if older:
        path.write_bytes(MAGIC_PICKLE + b"\x80\x02K\1." * 2 + HOSTILE[name])
    else:
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("archive/data.pkl", HOSTILE[name])
    with pytest.raises(StepscopeError) as caught:
        rows(path)
    assert caught.value.slug == "unreadable-source"


def test_an_archive_of_recordings_is_still_opened(tmp_path: Path) -> None:
    path = tmp_path / "traces.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("a/trace.json", json.dumps([{"ph": "X", "name": "a", "ts": 1, "dur": 2, "pid": 1}]))
    assert ask(path, "select count(*) from slice") == [(1,)]


HEADER = {
    "__metadata__": {"format": "pt"},
    "layer.weight": {"dtype": "BF16", "shape": [4, 2], "data_offsets": [0, 16]},
    "scale": {"dtype": "F8_E4M3", "shape": [8], "data_offsets": [16, 24]},
    "mask": {"dtype": "BOOL", "shape": [3], "data_offsets": [24, 27]},
}


def safetensors(path: Path, header: Any, values: int = 27) -> Path:
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(values))
    return path


def test_safetensors_are_listed(tmp_path: Path) -> None:
    assert rows(safetensors(tmp_path / "model.safetensors", HEADER)) == [
        ("layer.weight", "bfloat16", "[4,2]", 8, 16, 1, "weight"),
        ("scale", "float8_e4m3", "[8]", 8, 8, 1, "weight"),
        ("mask", "bool", "[3]", 3, 3, 1, "data"),
    ]


def test_values_that_are_cut_off_are_counted(tmp_path: Path) -> None:
    path = safetensors(tmp_path / "model.safetensors", HEADER, 20)
    notes = ask(path, "select slug, events from source_note")
    assert notes == [("missing-values", 2)]


@pytest.mark.parametrize(
    "header",
    [
        {"a": {"dtype": "F32"}},
        {"a": {"dtype": "F32", "shape": 1}},
        {"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}},
        {"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}},
        {"a": {"dtype": "F32", "shape": [1] * 1_000, "data_offsets": [0, 4]}},
    ],
)
def test_a_header_of_something_else_is_refused(tmp_path: Path, header: Any) -> None:
    with pytest.raises(StepscopeError, match="is no tensor"):
        rows(safetensors(tmp_path / "model.safetensors", header))


def test_one_format_claims_each(tmp_path: Path) -> None:
    for path in (archive(tmp_path / "a.pt", TRAINING), safetensors(tmp_path / "b.safetensors", HEADER)):
        head = path.read_bytes()[:HEAD_BYTES]
        assert len([fmt for fmt in formats.formats() if fmt.sniff(head, path.name)]) == 1
