"""What a recording may not do to a terminal, and what files and pipes get instead: the exact text."""

import contextlib
import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
import threading
import tty
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope import escapes
from stepscope.cli import main
from stepscope.exporters.terminal_text import Showing
from stepscope.presenters.rows import write_csv
from tests.tiers import cases

FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]|\r(?!\n)"
)
NAMES = [
    "\x1b[2J\x1b]0;title\x07", "\x9b31m\x90q\x9c", "\u202egnp.exe\u202c", "\u2066a\u2069\u200e\u200f\u061c",
    "back\rspace\x08\x7f\x00", "line\u2028separator\u2029\ufeff", "\U000e0041tag", "=cmd|'/C calc'!A0", "-1",
    "plain",
]  # fmt: skip


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    events = [
        {"ph": "X", "name": name, "ts": 10 * i, "dur": 5, "pid": 1, "tid": 1, "args": {name: name}}
        for i, name in enumerate(NAMES)
    ]
    events += [
        {"ph": "M", "name": f"{what}_name", "pid": 1, "tid": 1, "args": {"name": NAMES[0]}}
        for what in ("process", "thread")
    ]
    path = tmp_path_factory.mktemp("hostile") / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def on_terminal(*words: str) -> str:
    """stdout of a command that writes to a terminal."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    pieces: list[bytes] = []

    def drain() -> None:
        with contextlib.suppress(OSError):  # the other side is closed
            while piece := os.read(ours, 1 << 16):
                pieces.append(piece)

    reader = threading.Thread(target=drain)
    reader.start()
    try:
        with os.fdopen(theirs, "w", encoding="utf-8") as screen:
            code, talk = run(screen, words)
    finally:
        reader.join()
        os.close(ours)
    assert code in (0, 1), talk
    return b"".join(pieces).decode("utf-8")


def piped(*words: str) -> str:
    """stdout of a command that writes to a pipe."""
    pipe = io.BytesIO()
    with io.TextIOWrapper(pipe, encoding="utf-8") as out:
        code, talk = run(out, words)
        out.flush()
        assert code in (0, 1), talk
        return pipe.getvalue().decode("utf-8")


def run(out: TextIO, words: Sequence[str]) -> tuple[int, str]:
    """Exit code and stderr of a command whose stdout is `out`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", io.StringIO())
        code = main(list(words))
        return code, cast("io.StringIO", sys.stderr).getvalue()


def process_on_terminal(*words: str) -> str:
    """The same as on_terminal(), of a process that finds the terminal as its stdout."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    child = subprocess.Popen(
        [sys.executable, "-m", "stepscope", *words], stdin=subprocess.DEVNULL, stdout=theirs
    )
    os.close(theirs)
    data = b""
    with contextlib.suppress(OSError):  # the other side is closed
        while piece := os.read(ours, 1 << 16):
            data += piece
    os.close(ours)
    assert child.wait() in (0, 1)
    return data.decode("utf-8")


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


FORMS = pytest.mark.repeats("a query in the same form goes through the same writer")
ASK = "SELECT name, ts_ps - 25000000 AS n FROM slice ORDER BY ts_ps"


@pytest.mark.parametrize(
    "words",
    [
        ("query", "{}", ASK, "--format", "csv"),
        ("query", "{}", ASK, "--format", "json"),
        ("query", "{}", ASK, "--format", "md"),
        ("query", "{}", ASK, "--color", "never"),
        pytest.param(("{}", "--format", "csv"), marks=FORMS),
        pytest.param(("{}", "--format", "json"), marks=FORMS),
        ("{}", "--color", "never"),
        ("report", "{}", "-o", "-"),
        ("export", "{}", "--to", "csv", "-o", "-"),
        ("export", "{}", "--to", "ndjson", "-o", "-"),
        ("export", "{}", "--to", "json", "-o", "-"),
    ],
    ids=lambda words: " ".join(word for word in words if word not in ("{}", ASK)),
)
def test_no_control_character_reaches_a_terminal(recording: Path, words: tuple[str, ...]) -> None:
    text = on_terminal(*(str(recording) if word == "{}" else word for word in words))
    assert not FORBIDDEN.findall(text)
    assert len(text) > 100


@pytest.mark.repeats("the same, in a process of its own")
def test_a_process_of_its_own_writes_the_same(recording: Path) -> None:
    words = ("query", str(recording), ASK, "--format", "json")
    assert process_on_terminal(*words) == on_terminal(*words)
    done = subprocess.run([sys.executable, "-m", "stepscope", *words], stdout=subprocess.PIPE, check=True)
    assert done.stdout.decode("utf-8") == piped(*words)


def test_json_on_a_terminal_is_json_with_the_same_values(recording: Path) -> None:
    lines = on_terminal("export", str(recording), "--to", "ndjson", "-o", "-").splitlines()
    assert {json.loads(line)["name"] for line in lines} >= set(NAMES)
    trace = json.loads(on_terminal("export", str(recording), "--to", "json", "-o", "-"))
    assert {event["name"] for event in trace["traceEvents"]} >= set(NAMES)
    answer = json.loads(on_terminal("query", str(recording), ASK, "--format", "json"))
    assert [row["name"] for row in answer["rows"]] == NAMES


def test_pipes_get_the_exact_text(recording: Path) -> None:
    rows = read(piped("query", str(recording), ASK, "--format", "csv"))
    assert [row[0] for row in rows[1:]] == NAMES
    rows = list(
        csv.reader(io.StringIO(piped("export", str(recording), "--to", "csv", "-o", "-"), newline=""))
    )
    assert {row[rows[0].index("name")] for row in rows[1:]} >= set(NAMES)
    lines = piped("export", str(recording), "--to", "ndjson", "-o", "-").split("\n")[:-1]
    assert {json.loads(line)["name"] for line in lines} >= set(NAMES)


def test_spreadsheets_get_no_formula_on_request(recording: Path, tmp_path: Path) -> None:
    rows = read(piped("query", str(recording), ASK, "--format", "csv", "--spreadsheet"))
    assert [row[0] for row in rows[1:]] == [f"'{name}" if name[0] in "=-" else name for name in NAMES]
    assert rows[1][1] == "-25000000", "a negative number stays a number"
    out = tmp_path / "events.csv"
    piped("export", str(recording), "-o", str(out), "--spreadsheet")
    rows = read(out.read_bytes().decode())
    names = {row[rows[0].index("name")] for row in rows[1:]}
    assert "'=cmd|'/C calc'!A0" in names
    assert not [name for name in names if name.startswith(("=", "+", "-", "@", "\t", "\r"))]


@pytest.mark.parametrize("form", ["csv.gz", "pb"])
def test_a_terminal_gets_no_binary(recording: Path, form: str) -> None:
    with pytest.raises(AssertionError, match="binary and is not written to a terminal"):
        on_terminal("export", str(recording), "--to", form, "-o", "-")


@pytest.mark.parametrize(
    "words",
    [("query", "{}", ASK, "--spreadsheet"), ("export", "{}", "-o", "-", "--to", "json", "--spreadsheet")],
)
def test_spreadsheet_is_for_csv(recording: Path, words: tuple[str, ...]) -> None:
    code, talk = run(io.StringIO(), [str(recording) if word == "{}" else word for word in words])
    assert code == 2
    assert "Only CSV has formulas" in talk


ODD = st.text(
    st.one_of(st.characters(), st.sampled_from("\x00\x1b\x7f\x9b\r\n\t\u202e\u2066\u061c\U000e0041"))
)


@settings(max_examples=cases(40, 400))
@given(ODD)
def test_escapes_hide_nothing_and_keep_json(text: str) -> None:
    assert not FORBIDDEN.findall(escapes.escaped_lines(text))
    assert not FORBIDDEN.findall(escapes.escaped(text))
    document = json.dumps(text, ensure_ascii=False)
    shown = escapes.escaped_json(document)
    assert not FORBIDDEN.findall(shown)
    assert json.loads(shown) == text


@given(ODD, st.lists(st.integers(0, 40)))
def test_chunks_of_any_size_give_the_same_text(text: str, sizes: list[int]) -> None:
    data = text.encode("utf-8", "replace")
    out = io.BytesIO()
    sink = Showing(out, escapes.escaped_lines)
    at = 0
    for size in [*sizes, len(data)]:
        sink.write(data[at : at + size])
        at += size
    sink.flush()
    assert out.getvalue().decode() == escapes.escaped_lines(data.decode())


@given(st.lists(ODD, min_size=1, max_size=5))
def test_guarded_csv_holds_no_formula(texts: list[str]) -> None:
    out = io.StringIO(newline="")
    write_csv(["c"] * len(texts), [texts, [-1] * len(texts)], out, spreadsheet=True)
    _, row, numbers = read(out.getvalue())
    for cell, text in zip(row, texts, strict=True):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
        assert cell.removeprefix("'") == text or cell == text
    assert numbers == ["-1"] * len(texts)
