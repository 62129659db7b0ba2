"""Real recordings for the tests: those that ship as samples and, where all tests run, the corpus beside them.

`make test` is the same suite for everybody: a small corpus, unpacked from `tests/samples` into a temporary
folder. `make test-all` takes `../shared/corpus` in its place where that exists. Tests name files as the full
corpus has them; a test whose file does not ship is skipped and says so.
"""

import atexit
import gzip
import json
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.tiers import ALL, MARK

SAMPLES = Path(__file__).resolve().parent / "samples"
FULL = Path(__file__).resolve().parents[1].parent / "shared" / "corpus"

# Where the samples lie in the corpus; those of tf.data say it in their truth.json.
SHIPPED = {
    "xplane/jax.xplane.pb.gz": "jax/trace/plugins/profile/2026_11_20_08_48_26/vm.xplane.pb",
    "xplane/tf_xla.xplane.pb.gz": "xla/profile_jit/plugins/profile/2026_11_20_08_46_19/vm.xplane.pb",
    "xplane/tf1_session.xplane.pb.gz": "tf1/session_xplane/plugins/profile/2026_11_20_08_27_14/vm.xplane.pb",
    "xplane/keras_tensorboard.xplane.pb.gz": (
        "events/keras_tensorboard/train/plugins/profile/2026_11_20_09_00_30/vm.xplane.pb"
    ),
    "xplane/tf2_trace_on.xplane.pb": ("events/tf2_trace_on/plugins/profile/2026_11_20_09_00_27/vm.xplane.pb"),
}


def truths() -> dict[str, dict[str, object]]:
    """What is known of the tf.data samples, by the name of the sample."""
    found: dict[str, dict[str, object]] = json.loads((SAMPLES / "tf_data" / "truth.json").read_text())
    return found


def shipped() -> dict[str, str]:
    """Paths of the corpus by path of the sample."""
    of_pipelines = {}
    for name, truth in truths().items():
        (sample,) = (SAMPLES / "tf_data").glob(f"{name}.xplane.pb*")
        of_pipelines[f"tf_data/{sample.name}"] = str(truth["file"])
    return {**SHIPPED, **of_pipelines}


def read(sample: str) -> bytes:
    """The bytes of a sample, unpacked."""
    data = (SAMPLES / sample).read_bytes()
    return gzip.decompress(data) if sample.endswith(".gz") else data


def unpack() -> Path:
    """A corpus made of the samples, removed at exit."""
    root = Path(tempfile.mkdtemp(prefix="stepscope-corpus-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    for sample, name in shipped().items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(read(sample))
    for truth in truths().values():
        case = root.joinpath(*Path(str(truth["file"])).parts[:2])
        (case / "truth.json").write_text(json.dumps(truth))
    return root


DIFFER = ("tf_data/map_py_function.xplane.pb", "chrome/kineto_cuda.json")
"""The recordings that differ most: TensorFlow's XPlane of an input pipeline on a CPU, with steps that were
marked, and PyTorch's Chrome trace of a GPU, with flows, counters and launches. Format, framework, device,
evidence of steps and every kind of event but the slice are in one of them only."""

ROOT = FULL if ALL and FULL.exists() else unpack()


def path(name: str) -> Path:
    """The file or folder `name` of the corpus; skips the test, visibly, when it is not there."""
    found = ROOT / name
    if not found.exists():
        pytest.skip(f"not among the samples: ../shared/corpus/{name}")
    return found


def each(paths: Iterable[Path]) -> list[ParameterSet]:
    """Parameters of a test of any recording: the two that differ most; the rest where all tests run."""
    found = []
    repeats = getattr(pytest.mark, MARK)("the two recordings that differ most tell as much")
    for one in paths:
        kept = one.relative_to(SAMPLES).as_posix() in DIFFER if one.is_relative_to(SAMPLES) else False
        marks = () if kept else (repeats,)
        found.append(pytest.param(one, id=f"{one.parent.name}/{one.name}", marks=marks))
    return found


def files(pattern: str) -> list[Path]:
    """All files of the corpus that match a glob, in order."""
    return sorted(ROOT.glob(pattern))
