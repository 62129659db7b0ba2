"""The rooms of the native core: which may import which."""

import re
from collections import defaultdict
from pathlib import Path

import pytest
from tests.each import each

CRATES = Path(__file__).parents[2] / "crates"
CORE = CRATES / "core" / "src"

# Each room with those that it may import. Writing a store into a folder needs bytes (random access, unnamed
# files), and a table of a store is read as columns.
MAY_IMPORT = {
    "classes": set(),
    "error": set(),
    "facts": set(),
    "columns": set(),
    "input": {"error"},
    "options": {"error"},
    "json": set(),
    "layout": {"error", "wanted"},
    "lod": {"error", "wanted"},
    "proto": {"error"},
    "store": {"columns", "error", "facts", "input", "options"},
    "rollup": {"classes", "columns", "error", "store"},
    "replay": {"error", "wanted"},
    "spans": set(),
    "steps": {"spans"},
    "wanted": {"error"},
    "formats": {
        "classes",
        "columns",
        "error",
        "facts",
        "input",
        "json",
        "options",
        "proto",
        "spans",
        "store",
    },
}


def _code(text: str) -> str:
    """Without comments, and without the tests at the end of a file."""
    return re.sub(r"//[^\n]*", "", text.split("#[cfg(test)]\nmod tests {")[0])


def _sources() -> list[tuple[str, Path, str]]:
    """Room, file and code of each module that is no test."""
    found = []
    for path in sorted(CORE.rglob("*.rs")):
        inner = path.relative_to(CORE)
        if inner.name != "lib.rs" and "tests" not in inner.stem and "tests" not in inner.parts:
            found.append((inner.parts[0].removesuffix(".rs"), path, _code(path.read_text())))
    return found


def _imports() -> dict[str, dict[str, list[str]]]:
    """Rooms that each room imports, with the files where it does."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for room, path, code in _sources():
        for other in re.findall(r"\bcrate::([a-z_]+)", code):
            if other != room:
                found[room][other].append(str(path.relative_to(CORE)))
    return found


def test_every_room_is_known() -> None:
    assert {room for room, _, _ in _sources()} == set(MAY_IMPORT)


@each("room", sorted(MAY_IMPORT))
def test_rooms_import_earlier_rooms_only(room: str) -> None:
    strange = {other: sorted(set(files)) for other, files in _imports()[room].items()}
    assert not {other: files for other, files in strange.items() if other not in MAY_IMPORT[room]}


def test_there_is_no_circle_between_rooms() -> None:
    done: set[str] = set()
    while len(done) < len(MAY_IMPORT):
        free = {room for room, others in MAY_IMPORT.items() if room not in done and others <= done}
        assert free, f"a circle among {set(MAY_IMPORT) - done}"
        done |= free


def test_the_check_sees_an_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = tmp_path / "store"
    room.mkdir()
    (room / "table.rs").write_text("// crate::json::Cursor\nuse crate::formats::xplane::LAZY;\n")
    monkeypatch.setitem(globals(), "CORE", tmp_path)
    assert dict(_imports()["store"]) == {"formats": ["store/table.rs"]}


def test_only_the_binding_knows_all_crates() -> None:
    for crate, others in {"core": set(), "tfprof": {"core"}, "python": {"core", "tfprof"}}.items():
        manifest = (CRATES / crate / "Cargo.toml").read_text()
        assert set(re.findall(r"^stepscope-(\w+) = \{ path", manifest, re.MULTILINE)) == others
