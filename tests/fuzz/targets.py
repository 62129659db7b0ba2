"""Python targets: functions that take any bytes and must come back, or raise an error of stepscope.

`python -m tests.fuzz.targets NAME [libFuzzer options]` runs one of them under atheris.
"""

import importlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_FOLDER = Path(tempfile.gettempdir()) / f"stepscope-fuzz-{os.getpid()}"
# What atheris instruments: it only sees modules that it imports itself.
IMPORTED = (
    "session.trace", "session.decoding", "formats", "sources.find", "sources.archive", "engines.duckdb",
    "formats.models.files",
)  # fmt: skip
_TABLES = ("slice", "instant", "counter", "flow", "node", "op_run", "source_note")


def sniffers(data: bytes) -> None:
    """At most one format claims a file, and asking costs no exception."""
    from stepscope import formats

    head = data[: formats.HEAD_BYTES]
    claims = [one.NAME for one in formats.formats() if one.sniff(head, "file")]
    assert len(claims) < 2, claims
    formats.recognise(head, "file")


def recording(data: bytes) -> None:
    """A file of any bytes: search, decoding, steps, tables. Every event seen is stored or lost."""
    _read(data, "recording")


def zipped(data: bytes) -> None:
    """The same through the reader of zip archives."""
    _read(data, "recording.zip")


def tarred(data: bytes) -> None:
    """The same through the reader of tar archives."""
    _read(data, "recording.tar")


def packed(data: bytes) -> None:
    """The same through gzip, whatever the head says."""
    _read(b"\x1f\x8b\x08\x00" + data, "recording.json.gz")


def model(data: bytes) -> None:
    """A file of any bytes as what tfprof takes a model from: graph, step, op log, profile, event file."""
    from stepscope import _core
    from stepscope.errors import StepscopeError
    from stepscope.formats.models import files
    from stepscope.instruments.tfprof import TfprofModel

    with _file(data, "model") as path:
        try:
            found = files.find_files([str(path)])
            steps = found.files.get("run_meta_path", [])
            kinds = ("graph_path", "op_log_path", "checkpoint_path", "profile_path")
            graph, op_log, checkpoint, profile = map(found.one, kinds)
            made = TfprofModel(graph, steps, op_log, checkpoint=checkpoint, profile=profile)
            for view in ("scope", "op"):
                made.show(view, _core.TfprofOptions())
        except StepscopeError as error:
            told = [error.seen, error.todo]
        else:
            told = ["a view"]
    assert all(told), "an error that does not say what was seen and what to do"


def program(data: bytes) -> None:
    """Any bytes as a compiled program, and as the XPlane that keeps it."""
    from stepscope import _core
    from stepscope.formats.xla import hlo_protos

    for proto in (data, *(proto for _, proto in hlo_protos.programs(memoryview(data)))):
        try:
            module = _core.hlo_module(bytes(proto))
        except _core.CoreError:
            continue
        assert len(module["instruction_rows"]) == module["instructions"]
        assert module["instructions"] + len(module["frames"]) <= len(data)


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target for target in (sniffers, recording, zipped, tarred, packed, model, program)
}


@contextmanager
def _file(data: bytes, name: str) -> Iterator[Path]:
    shutil.rmtree(_FOLDER, ignore_errors=True)
    _FOLDER.mkdir()
    path = _FOLDER / name
    path.write_bytes(data)
    try:
        yield path
    finally:
        shutil.rmtree(_FOLDER, ignore_errors=True)


def _read(data: bytes, name: str) -> None:
    from stepscope.errors import StepscopeError
    from stepscope.session import trace

    try:
        with _file(data, name) as path, trace.open(path, cache=False) as opened:
            for table in _TABLES:
                opened.query(f"SELECT count(*) FROM {table}").rows()
            sums = "SELECT events_seen, events_stored + events_lost FROM source WHERE error IS NULL"
            for seen, told in opened.query(sums).rows():
                assert seen == told, f"{seen} events seen, {told} stored or lost"
    except StepscopeError as error:
        told = [error.seen, error.todo]
    else:
        told = ["rows"]
    assert all(told), "an error that does not say what was seen and what to do"


def main() -> None:
    """Runs the target named first under atheris."""
    import atheris

    target = TARGETS[sys.argv.pop(1)]
    with atheris.instrument_imports(include=["stepscope"]):
        for name in IMPORTED:
            importlib.import_module(f"stepscope.{name}")
    atheris.Setup(sys.argv, target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
