"""Checkpoints against TensorFlow's own reader: both versions, all types, parts, shards, damage."""

import random
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import corpus
from tests.later import Later

from stepscope import _core

np, tf, v1 = Later("numpy"), Later("tensorflow"), Later("tensorflow.compat.v1")

TYPES = (
    *("float32", "float64", "float16", "bfloat16", "float8_e5m2", "float8_e4m3fn"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("bool", "complex64", "complex128", "string"),
)


def values(dtype: str, shape: tuple[int, ...], seed: int) -> Any:
    """Values of a type: limits, infinities and whatever bits there are."""
    dice = np.random.default_rng(seed)
    if dtype == "string":
        texts = [bytes(dice.integers(0, 256, size).tolist()) for size in (0, 1, 5, 300)]
        return np.array([texts[i] for i in dice.integers(0, 4, int(np.prod(shape)))], object).reshape(shape)
    kind = tf.as_dtype(dtype).as_numpy_dtype
    size = np.dtype(kind).itemsize
    data = dice.integers(0, 256, int(np.prod(shape)) * size).astype(np.uint8)
    if dtype == "bool":
        data &= 1
    return data.view(kind).reshape(shape)


def raw(value: Any) -> bytes | list[bytes]:
    if isinstance(value, bytes):
        return [value]
    array = np.asarray(value)
    if array.dtype == object:
        return list(array.reshape(-1))
    return array.tobytes()


def save(prefix: Path, tensors: dict[str, Any], **more: Any) -> str:
    names, data = list(tensors), list(tensors.values())
    with tf.Graph().as_default(), v1.Session() as session:
        slices = more.get("slices", [""] * len(names))
        op = tf.raw_ops.SaveV2(prefix=str(prefix), tensor_names=names, shape_and_slices=slices, tensors=data)
        session.run(op)
    return str(prefix)


def compare(path: str, names: list[str] | None = None) -> int:
    """Compares every tensor with what TensorFlow reads; returns how many there are."""
    reader = tf.train.load_checkpoint(path)
    found = _core.Checkpoint(path)
    shapes, dtypes = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    assert {tensor[0]: tensor[2] for tensor in found.tensors()} == shapes
    for name, dtype, _, _, _ in found.tensors():
        assert dtypes[name].name == dtype
        if names is None or name in names:
            assert found.read(name) == raw(reader.get_tensor(name)), name
    return len(shapes)


@pytest.mark.repeats("reads recordings that do not ship")
@pytest.mark.parametrize(
    "file",
    [
        "tf1/resnet14_ref/model.ckpt-14",
        "tf1/resnet14_ref/model.ckpt-14.index",
        "tf1/resnet14_ref/ckpt_v1/model_v1.ckpt",
        "tf1/resnet32_readme/model.ckpt",
        "tf1/profiler_hook/ckpt/model.ckpt-20",
    ],
)
def test_recorded_checkpoints(file: str) -> None:
    path = str(corpus.path(file.removesuffix(".index") + ("" if file.endswith("v1.ckpt") else ".index")))
    path = path.removesuffix(".index")
    assert compare(path) >= 3


def test_every_type_and_shape(tmp_path: Path) -> None:
    tensors = {}
    for place, dtype in enumerate(TYPES):
        for shape in ((), (1,), (3, 5), (0,), (2, 0, 3), (2, 1, 2, 2)):
            tensors[f"{dtype}/{len(tensors)}"] = (
                tf.constant(values(dtype, shape, place), dtype=tf.as_dtype(dtype), shape=shape)
                if dtype != "string"
                else values(dtype, shape, place)
            )
    path = tmp_path / "all"
    writer = [
        tensor if not isinstance(tensor, np.ndarray) else tensor.astype(object) for tensor in tensors.values()
    ]
    tf.raw_ops.SaveV2(
        prefix=str(path), tensor_names=list(tensors), shape_and_slices=[""] * len(tensors), tensors=writer
    )
    assert compare(str(path)) == len(TYPES) * 6


def test_parts_become_a_whole(tmp_path: Path) -> None:
    whole = values("int32", (7, 6, 2), 1)
    texts = values("string", (4,), 2)
    pieces = [
        ("w", "7 6 2 0,3:-:-", whole[:3]),
        ("w", "7 6 2 3,4:0,2:-", whole[3:, :2]),
        ("w", "7 6 2 3,4:2,4:-", whole[3:, 2:]),
        ("t", "4 0,1", texts[:1]),
        ("t", "4 1,3", texts[1:]),
        ("far", "100000 0,99999", np.zeros(99999, np.int8)),
        ("far", "100000 99999,1", np.ones(1, np.int8)),
    ]
    prefixes = []
    for number, (name, piece, data) in enumerate(pieces):
        prefixes.append(str(tmp_path / f"part-{number}"))
        tf.raw_ops.SaveV2(prefix=prefixes[-1], tensor_names=[name], shape_and_slices=[piece], tensors=[data])
    out = str(tmp_path / "merged")
    tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=prefixes, destination_prefix=out)
    found = _core.Checkpoint(out)
    assert [(name, shape, slices) for name, _, shape, _, slices in found.tensors()] == [
        ("far", [100000], 2),
        ("t", [4], 2),
        ("w", [7, 6, 2], 3),
    ]
    assert len(list(tmp_path.glob("merged.data-*-of-00007"))) == 7
    assert found.read("w") == whole.tobytes()
    assert found.read("t") == list(texts)
    assert found.read("far") == bytes(99999) + b"\1"


def test_first_version_of_every_type(tmp_path: Path) -> None:
    kinds = [name for name in TYPES if name not in ("string", "uint32", "uint64") and "float8" not in name]
    saved = {}
    for dtype in kinds:
        path = tmp_path / dtype
        data = tf.constant(values(dtype, (3, 5), 3), dtype=tf.as_dtype(dtype))
        try:
            tf.raw_ops.SaveSlices(
                filename=str(path), tensor_names=["x"], shapes_and_slices=["3 5 -:-"], data=[data]
            )
        except (tf.errors.OpError, TypeError):  # TensorFlow cannot write it
            continue
        saved[dtype] = data
        found = _core.Checkpoint(str(path))
        assert [tensor[:3] for tensor in found.tensors()] == [("x", dtype, [3, 5])]
        assert found.read("x") == raw(data)
    assert len(saved) >= 6


def test_parts_of_the_first_version(tmp_path: Path) -> None:
    whole = values("float32", (5, 3), 4)
    for number, (piece, data) in enumerate((("5 3 0,2:-", whole[:2]), ("5 3 2,3:-", whole[2:]))):
        tf.raw_ops.SaveSlices(
            filename=str(tmp_path / f"m.ckpt-{number:05}-of-00002"),
            tensor_names=["w"],
            shapes_and_slices=[piece],
            data=[data],
        )
    found = _core.Checkpoint(str(tmp_path / "m.ckpt"))
    assert [(t[0], t[2], t[4]) for t in found.tensors()] == [("w", [5, 3], 2)]
    assert found.read("w") == whole.tobytes()


def test_what_cannot_be_shown_is_said(tmp_path: Path) -> None:
    variant = tf.raw_ops.EmptyTensorList(
        element_shape=tf.constant([], tf.int32), max_num_elements=3, element_dtype=tf.float32
    )
    path = str(tmp_path / "v")
    tf.raw_ops.SaveV2(prefix=path, tensor_names=["v"], shape_and_slices=[""], tensors=[variant])
    found = _core.Checkpoint(path)
    assert found.tensors()[0][:2] == ("v", "variant")
    with pytest.raises(_core.CoreError, match="tensor v: values of type variant"):
        found.read("v")


def test_damage_is_told_with_tensor_and_offset(tmp_path: Path) -> None:
    path = tmp_path / "d"
    tf.raw_ops.SaveV2(
        prefix=str(path),
        tensor_names=["a", "b"],
        shape_and_slices=["", ""],
        tensors=[np.arange(1000, dtype=np.int32), np.array([b"text"] * 50, object)],
    )
    data = tmp_path / "d.data-00000-of-00001"
    good, index = data.read_bytes(), (tmp_path / "d.index").read_bytes()
    dice = random.Random(1)
    for _ in range(60):
        damaged = bytearray(good)
        at = dice.randrange(len(good))
        damaged[at] ^= 1 << dice.randrange(8)
        data.write_bytes(damaged)
        found = _core.Checkpoint(str(path))
        hit, other = ("a", "b") if at < 4000 else ("b", "a")
        with pytest.raises(_core.CoreError) as raised:
            found.read(hit)
        assert raised.value.offset is not None
        assert f"tensor {hit}: d.data-00000-of-00001: " in raised.value.seen
        assert found.read(other) is not None
    data.write_bytes(good[:-1])
    with pytest.raises(_core.CoreError, match="cut short"):
        _core.Checkpoint(str(path)).read("b")
    data.write_bytes(good)
    for at in range(len(index)):
        (tmp_path / "d.index").write_bytes(index[:at])
        with pytest.raises(_core.CoreError):
            _core.Checkpoint(str(path))
        broken = bytearray(index)
        broken[at] ^= 0x10
        (tmp_path / "d.index").write_bytes(broken)
        if at < len(index) - 48:  # of the footer some bytes are padding, which nothing reads
            with pytest.raises(_core.CoreError, match=r"d\.index"):
                _core.Checkpoint(str(path))
    shutil.rmtree(tmp_path)


def read_bytes() -> int:
    """Bytes that this process has read of files."""
    (line,) = [line for line in Path("/proc/self/io").read_text().splitlines() if line.startswith("rchar")]
    return int(line.split()[1])


@pytest.mark.skipif(sys.platform != "linux", reason="what is read stands in /proc")
def test_two_gigabytes_are_listed_without_reading_them(tmp_path: Path) -> None:
    """Listing does not depend on the size of the data: a file with a hole stands for it."""
    path = tmp_path / "large"
    names = [f"layer_{number}/kernel" for number in range(2000)]
    tf.raw_ops.SaveV2(
        prefix=str(path),
        tensor_names=names,
        shape_and_slices=[""] * len(names),
        tensors=[np.zeros(4, np.float32)] * len(names),
    )
    with (tmp_path / "large.data-00000-of-00001").open("r+b") as data:
        data.truncate(2 << 30)
    before = read_bytes()
    found = _core.Checkpoint(str(path))
    assert len(found.tensors()) == 2000
    assert found.read(names[7]) == bytes(16)
    assert read_bytes() - before < 1 << 20
