"""The maps of the project lead somewhere: the house, the READMEs of folders, and the way of a trace."""

import re
import subprocess
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from stepscope.cli import main

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PACKAGE, CORE = ROOT / "src" / "stepscope", ROOT / "crates" / "core" / "src"
HOUSE, WAY = ROOT / "docs" / "the-house.md", ROOT / "docs" / "the-way-of-a-trace.md"
TRACE = "tests/samples/kineto/capitals_of_2021.json"
NO_ROOMS = {"__pycache__", "_start", "assets", "frame", "page", "analyses", "base", "findings", "reads"}
"""Folders without a README of their own: what is built, and what the README of the folder above explains."""
DEEP = {"flags", "replay"}


def contract() -> list[set[str]]:
    """The layers of stepscope from the lowest to the highest, as lint-imports checks them."""
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (arrow,) = (one for one in tool["contracts"] if one["id"] == "arrow")
    assert arrow["exhaustive"]
    return [{name.strip() for name in layer.split("|")} for layer in reversed(arrow["layers"])]


def rooms(folder: Path) -> set[str]:
    """Modules and packages directly in a folder of source."""
    return {
        path.stem
        for path in folder.iterdir()
        if (
            path.suffix in (".py", ".rs") or (path.is_dir() and path.name != "__pycache__" and _is_kept(path))
        )
        and path.name not in ("__init__.py", "lib.rs")
    }


def tables() -> dict[str, list[list[str]]]:
    """The names in each row of the map, by heading."""
    text = HOUSE.read_text(encoding="utf-8").partition("## Rooms\n")[2].partition("\n## ")[0]
    found = {}
    for part in text.split("\n### ")[1:]:
        heading, _, rest = part.partition("\n")
        firsts = [line.split("|")[1] for line in rest.splitlines() if line.startswith("| `")]
        found[heading] = [re.findall(r"`([^`]+)`", first) for first in firsts]
    return found


def test_every_room_is_in_the_contract() -> None:
    assert set.union(*contract()) == rooms(PACKAGE)


def test_the_map_names_every_room_in_the_order_of_the_contract() -> None:
    rows = tables()["The package, in Python"]
    named = [name for row in rows for name in row]
    assert sorted(named) == sorted(rooms(PACKAGE))
    height = {name: number for number, layer in enumerate(contract()) for name in layer}
    heights = [height[name] for name in named]
    assert heights == sorted(heights)
    assert all(len({height[name] for name in row}) == 1 for row in rows)


def test_the_map_names_every_room_of_the_core() -> None:
    names = [name for row in tables()["The native core, in Rust"] for name in row]
    others = {name for name in names if re.match(r"crates/(?!core)", name)}
    assert {name.rpartition("/")[2] for name in names if name not in others} == rooms(CORE)
    crates = {f"crates/{path.parent.name}" for path in (ROOT / "crates").glob("*/Cargo.toml")}
    assert others | {"crates/core"} == crates


def test_the_map_names_every_other_folder() -> None:
    named = {name for row in tables()["Everything else"] for name in row}
    assert all((ROOT / name).is_dir() for name in named)
    git = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if git.returncode:
        pytest.skip("not a git checkout: no list of tracked files")
    tracked = {name.partition("/")[0] for name in git.stdout.splitlines() if "/" in name}
    assert {name.partition("/")[0] for name in named} | {"crates", "src"} == tracked - {".cargo"}


def folders() -> list[Path]:
    """Folders of source that explain themselves."""
    within = [
        path for path in PACKAGE.rglob("*") if not (NO_ROOMS | DEEP) & set(path.relative_to(PACKAGE).parts)
    ]
    return sorted(path for path in (*within, *CORE.iterdir()) if path.is_dir() and _is_kept(path))


def _is_kept(folder: Path) -> bool:
    """Whether a folder has files of its own: where one was moved away, Python's bytecode stays behind."""
    return any(path.suffix != ".pyc" for path in folder.rglob("*.*"))


@pytest.mark.parametrize("folder", folders(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_folder_says_what_comes_in_and_what_goes_out(folder: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 20
    assert all(f"**{word}**" in text for word in ("In", "Out", "Start reading"))
    for name in re.findall(r"`([\w/.-]+\.(?:py|rs|sql|md))`", text):
        places = (folder / name, PACKAGE / name, PACKAGE.parent / name, ROOT / name)
        assert any(place.exists() for place in places), name


def stations(page: Path = WAY) -> list[tuple[str, str]]:
    """File and function of each station on the way of a trace, or on the walks of the house."""
    text = page.read_text(encoding="utf-8").rpartition("## Three walks")[2]
    return re.findall(r"^\| `([^`]+)` \| (?:`(\w+)`)? ?", text, re.MULTILINE)


def entered(words: list[str]) -> list[tuple[str, str]]:
    """Files and functions in the order in which a command enters them; those of the core by the name of the
    decoder, statements by the name of their file."""
    order: dict[tuple[str, str], None] = {}
    root, ours = f"{ROOT}/", f"{PACKAGE}/"
    reads = {path.stem: path.relative_to(ROOT).as_posix() for path in PACKAGE.rglob("reads/*.sql")}

    def see(frame: FrameType, event: str, what: Any) -> None:
        if not frame.f_code.co_filename.startswith(ours):
            return
        path = frame.f_code.co_filename[len(root) :]
        function = frame.f_code.co_name
        if event == "c_call" and path.endswith("formats/_pieces.py") and what.__name__ == "decode":
            order.setdefault((f"core:{frame.f_locals['name']}", "decode"))
        if event == "call":
            order.setdefault((path, function))
            if path.endswith("library/statements.py") and function == "statement":
                order.setdefault((reads[frame.f_locals["name"]], ""))

    before = sys.getprofile()
    threading.setprofile(see)
    sys.setprofile(see)
    try:
        assert main(words) == 0
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return list(order)


def test_the_way_of_a_trace_is_the_one_that_is_taken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")  # as the page shows it
    text = WAY.read_text(encoding="utf-8")
    assert TRACE in text
    way = stations()
    assert len(way) == 12
    assert all((ROOT / path).is_file() for path, _ in way)
    order = entered([TRACE, "--no-cache"])
    core = {"crates/core/src/formats/chrome/mod.rs": "core:chrome_trace"}
    taken = [order.index((core.get(path, path), function)) for path, function in way]
    assert taken == sorted(taken)
    sentence = text.partition("```text\n")[2].partition("\n```")[0]
    lines = sentence.splitlines()
    assert lines == capsys.readouterr().out.splitlines()[1 : 1 + len(lines)]


def test_the_walks_of_the_house_are_short_and_lead_past_files_that_are_there() -> None:
    walks = HOUSE.read_text(encoding="utf-8").partition("## Three walks")[2].split("\n### ")[1:]
    assert len(walks) == 3
    for walk in walks:
        files = re.findall(r"^\| `([^`]+)`", walk, re.MULTILINE)
        assert len(files) <= 25
        assert all((ROOT / path).is_file() for path in files)


def test_the_walk_of_tfprof_is_the_one_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    walk = [one for one in stations(HOUSE) if one[1]]
    order = entered(["tfprof", "scope", "-graph_path", str(ROOT / "tests/samples/graph/small.pb")])
    taken = [order.index(one) for one in walk]
    assert taken == sorted(taken)
    assert capsys.readouterr().out
