"""What every format has to keep."""

import ast
import gzip
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepscope
from stepscope import _core, formats

SAMPLES = Path(__file__).parents[1] / "samples"
NATIVE = ("checkpoint", "chrome_trace", "event_file", "graph", "run_metadata", "xplane")


def test_formats_are_listed_by_name() -> None:
    names = [one.NAME for one in formats.formats()]
    assert sorted(names) == names
    assert {*NATIVE, "capture"} <= set(names)
    assert [formats.named_format(name).NAME for name in names] == names
    with pytest.raises(KeyError):
        formats.named_format("no such format")


KNOWN_ELSEWHERE = {
    "attach/py_spy.py": "an option of py-spy",
    "capture": "the recorder knows no format",
    "cli/record.py": "what a recorder may lack, by the names of its own files",
    "instruments/ranks": "Horovod's timeline says who is ready; PyTorch's kernels are of any group",
    "library/base": "what a slice is: rules about names, which depend on who gives them",
    "library/reads/evidence_kinds.sql": "the same",
    "xla_tools/replay": "a flag of XLA",
}
"""What names a format or a writer outside of this package, and why."""


def test_nothing_else_names_a_format() -> None:
    """But for words that mean something else as well: graph, checkpoint, capture, pprof, jax."""
    root = Path(stepscope.__file__).parent
    names = {one.NAME for one in formats.formats()} - {"graph", "checkpoint", "capture", "pprof"}
    names |= ({"horovod", "viztracer"} | formats.WRITERS.keys()) - {"jax"}
    found = set()
    for path in (*root.rglob("*.py"), *root.rglob("*.sql")):
        place, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
        words = set(re.findall(r"'([a-z_]+)'", text))
        if path.suffix == ".py":
            nodes = ast.walk(ast.parse(text))
            words = {
                one.value for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str)
            }
        if words & names and not place.startswith(("formats/", *KNOWN_ELSEWHERE)):
            found.add((place, *sorted(words & names)))
    assert found == set()


def test_what_is_several_files_is_not_cached() -> None:
    assert {one.NAME for one in formats.formats() if not one.cached} >= {"capture", "checkpoint"}


def test_formats_of_programs_fill_their_tables() -> None:
    assert {one.NAME for one in formats.formats() if one.fill is not None} == {"xla_dump", "xplane"}


def test_the_core_knows_its_own_formats_only() -> None:
    with pytest.raises(ValueError, match="capture"):
        _core.sniff("capture", b"{}", "capture.json")


@given(st.binary(max_size=300), st.sampled_from(["x", "x.xplane.pb", "trace.json", "model.index"]))
def test_any_bytes_are_claimed_or_not(data: bytes, name: str) -> None:
    for one in formats.formats():
        assert one.sniff(data, name) in (True, False)


REPEATED = rb"""/ // # /* /**/ * a a; ; ;; 1 " \\" { } [ ] [1, {"a": < > - -- . _ a{ a: node{ graph strict"""


@pytest.mark.parametrize("before", [b"", b"{", b"[", b"#", b"/*", b"graph ", b'digraph "', b"HloModule "])
def test_a_long_head_of_anything_is_soon_judged(before: bytes) -> None:
    """A sniffer that tries every way to split a head would hang here."""
    for unit in [
        *REPEATED.split(b" "),
        b" ",
        b"\n",
        b"\t",
        b"a ",
        b"#\n",
        b"a 1\n",
        b"\x00",
        b"\x08\x12",
        b"\xff",
    ]:
        head = (before + unit * formats.HEAD_BYTES)[: formats.HEAD_BYTES]
        owners = [one.NAME for one in formats.formats() if one.sniff(head, "file")]
        assert len(owners) <= 1, (unit, owners)


def test_each_sample_has_one_owner() -> None:
    owners = {}
    for path in sorted(SAMPLES.rglob("*")):
        if path.is_file() and path.suffix != ".md":
            with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
                head = file.read(formats.HEAD_BYTES)
            owners[path] = [one.NAME for one in formats.formats() if one.sniff(head, path.stem)]
    assert {path.parent.name for path, names in owners.items() if len(names) == 1} >= {
        "checkpoint", "chrome", "event_file", "graph", "kineto", "run_metadata", "tf_data", "xplane",
    }  # fmt: skip
    assert not {path: names for path, names in owners.items() if len(names) > 1}
