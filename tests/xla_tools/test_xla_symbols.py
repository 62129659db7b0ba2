"""What gdb can show of a library: held against readelf and nm, and against files made byte by byte."""

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stepscope import _core
from stepscope.cli import main
from stepscope.errors import StepscopeError, UnreadableSource
from stepscope.formats._elf import Elf
from stepscope.xla_tools import symbols
from tests.each import each
from tests.tiers import cases

OURS = Path(_core.__file__)


def library(order: str = "<", *, debug: bool = False, build_id: bytes = b"\xab\xcd") -> bytes:
    """A library with two functions, one of which is in another library, and an object."""
    names = b"\0_ZN1a1bEi\0_ZNK1a1bEv\0plain\0data\0"
    rows = [(0, 0, 0, 0, 0)]
    for name, kind, place, value in (
        (b"_ZN1a1bEi", 2, 1, 0x10),
        (b"_ZNK1a1bEv", 2, 0, 0),
        (b"plain", 2, 1, 0x20),
        (b"data", 1, 1, 0x30),
    ):
        rows.append((names.index(b"\0" + name + b"\0") + 1, kind, place, value, 8))
    table = b"".join(struct.pack(order + "IBBHQQ", n, k, 0, p, v, s) for n, k, p, v, s in rows)
    note = struct.pack(order + "III", 4, len(build_id), 3) + b"GNU\0" + build_id
    parts = [
        (b"", 0, b"", 0, 0),
        (b".strtab", 3, names, 0, 0),
        (b".symtab", 2, table, 1, 24),
        (b".note.gnu.build-id", 7, note, 0, 0),
        (b".eh_frame", 1, b"\0" * 8, 0, 0),
        (b".gnu_debuglink", 1, b"apart.debug\0", 0, 0),
    ]
    if debug:
        parts += [(b".debug_line", 1, b"\0", 0, 0), (b".debug_info", 1, b"\0", 0, 0)]
    section_names = b"\0".join(name for name, *_ in parts) + b"\0.shstrtab\0"
    parts.append((b".shstrtab", 3, section_names, 0, 0))
    body, headers = b"", b""
    for name, kind, content, link, entry in parts:
        at = section_names.index(b"\0" + name + b"\0") + 1 if name else 0
        headers += struct.pack(
            order + "IIQQQQIIQQ", at, kind, 0, 0, 64 + len(body), len(content), link, 0, 1, entry
        )
        body += content
    start = 64 + len(body)
    ident = b"\x7fELF" + bytes([2, 1 if order == "<" else 2, 1]) + b"\0" * 9
    head = ident + struct.pack(
        order + "HHIQQQIHHHHHH", 3, 62, 1, 0, 0, start, 0, 64, 0, 0, 64, len(parts), len(parts) - 1
    )
    return head + body + headers


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("debug", [False, True])
def test_a_library_made_byte_by_byte(tmp_path: Path, order: str, debug: bool) -> None:
    path = tmp_path / "lib.so"
    path.write_bytes(library(order, debug=debug))
    (row,) = symbols.rows([path])
    assert row["library"] == str(path)
    assert (row["machine"], row["build_id"], row["debug_link"]) == ("x86-64", "abcd", "apart.debug")
    assert (row["symbols"], row["dynamic_symbols"], row["functions"]) == (4, 0, 2)
    assert (row["lines"], row["arguments"], row["unwinds"]) == (debug, debug, True)
    assert row["shows"] == ("functions, lines and arguments" if debug else "functions")
    found = symbols.find([path], "a::b")
    assert [(one["symbol"], one["defined"], one["address"]) for one in found] == [
        ("_ZN1a1bEi", True, "0x10"),
        ("_ZNK1a1bEv", False, "0x0"),
    ]
    assert [one["symbol"] for one in symbols.find([path], "plain")] == ["plain"]
    assert [one["is_function"] for one in symbols.find([path], "data")] == [False]
    assert symbols.find([path], "plai") == []


@pytest.mark.skipif(shutil.which("readelf") is None, reason="no readelf here")
def test_our_own_library_as_readelf_has_it() -> None:
    (row,) = symbols.rows([OURS])

    def said(*words: str) -> str:
        return subprocess.run(["readelf", "-W", *words, str(OURS)], capture_output=True, text=True).stdout

    lines = [line.split() for line in said("--dyn-syms").splitlines() if line.strip()[:1].isdigit()]
    assert row["dynamic_symbols"] == sum(len(line) > 7 for line in lines)
    table = "--symbols" if row["symbols"] else "--dyn-syms"
    every = [line.split() for line in said(table).splitlines() if line.strip()[:1].isdigit()]
    if not row["symbols"]:
        assert row["functions"] == sum(
            line[3] in ("FUNC", "IFUNC") and line[6] != "UND" for line in every if len(line) > 7
        )
    assert row["lines"] == (".debug_line" in said("--sections"))
    built = [line.split()[-1] for line in said("--notes").splitlines() if "Build ID" in line]
    assert row["build_id"] == (built[0] if built else None)


def test_a_function_that_python_calls() -> None:
    found = symbols.find([OURS], "PyInit__core")
    assert {(one["defined"], one["is_function"]) for one in found} == {(True, True)}
    others = symbols.find([OURS], "PyErr_SetString")
    assert {one["defined"] for one in others} == {False}


@each(
    ("name", "symbol"),
    [
        ("tensorflow::TF_NewSessionRef", "_ZN10tensorflow16TF_NewSessionRefEP8TF_Graph"),
        ("xla::HloModule::ToString", "_ZNK3xla9HloModule8ToStringB5cxx11Ev"),
        ("xla::HloModule::HloModule", "_ZN3xla9HloModuleC1ERKNS_9HloModuleE"),
        ("xla::HloModule::~HloModule", "_ZN3xla9HloModuleD0Ev"),
        ("std::foo::bar(int)", "_ZNSt3foo3barEi"),
        ("absl::Span", "_ZN4absl4SpanIiE"),
        ("main", "main\0"),
        ("run", "_Z3runi"),
        ("_ZN1a1bE", "_ZN1a1bEv"),
    ],
)
def test_names_of_c_plus_plus(name: str, symbol: str) -> None:
    assert symbol.encode().startswith(symbols._beginnings(name))


@settings(max_examples=cases(40, 300), deadline=None)
@given(
    changes=st.lists(st.tuples(st.integers(0, 1 << 12), st.integers(0, 255)), max_size=6),
    cut=st.none() | st.integers(0, 1200),
)
@example(changes=[(1515, 128)], cut=None)  # names of sections lie behind the end of all memory
def test_damaged_files_end_in_rows_or_our_error(
    changes: list[tuple[int, int]], cut: int | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = bytearray(library())
    for at, value in changes:
        data[at % len(data)] = value
    path = tmp_path_factory.getbasetemp() / "mutant.so"
    path.write_bytes(data[:cut])
    raised = None
    try:
        symbols.rows([path])
        symbols.find([path], "a::b")
    except UnreadableSource as error:
        raised = error
    assert raised is None or raised.path == str(path)
    assert raised is None or raised.offset is None or 0 <= raised.offset <= len(data)


def test_what_is_no_library(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, content, seen in (
        ("text", b"#!/bin/sh\n", "begins with"),
        ("small", b"\x7fELF\x01\x01" + b"\0" * 60, "32 bits"),
        ("empty", b"", "an empty file"),
    ):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(StepscopeError) as raised:
            Elf(path)
        assert seen in raised.value.seen
    assert main(["xla", "symbols", str(tmp_path / "gone.so")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert main(["xla", "symbols", str(OURS), "--find", "a b"]) == 2
    assert "not a function's name" in capsys.readouterr().err
    assert main(["xla", "symbols", str(OURS), "--find", "no_such_function_anywhere"]) == 2
    assert "No symbol" in capsys.readouterr().err


def test_the_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["xla", "symbols", str(OURS), "--format", "csv"]) == 0
    shown = capsys.readouterr()
    assert ("--copt=-g --strip=never" in shown.err) is (not symbols.rows([OURS])[0]["lines"])
    head, row = shown.out.splitlines()
    assert head == ",".join(symbols.COLUMNS)
    assert row.startswith(str(OURS))
    assert main(["xla", "symbols", str(OURS), "--find", "PyErr_SetString"]) == 0
    assert "gdb can stop at none of these" in capsys.readouterr().err
