"""What `make test` never reads: the shards of the nightly workflow cover it, and what it imports is there."""

import ast
import json
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests import tiers

TESTS = Path(__file__).parent
ROOT = TESTS.parent
REPEATS = sorted(TESTS.rglob("repeats_*.py"))
"""Files of the second tier as a whole. Nothing of the first imports them, or it would see them break."""


def test_each_file_is_in_one_shard_of_the_night() -> None:
    lines = (ROOT / ".github/workflows/nightly.yml").read_text(encoding="utf-8").splitlines()
    (listed,) = (line.partition(":")[2] for line in lines if line.strip().startswith("shard:"))
    assert any(line.strip() == "- run: make test-all" for line in lines)
    assert any("STEPSCOPE_TEST_ENGINES:" in line for line in lines), "the Spark cluster is asked nowhere else"
    shards = json.loads(listed)
    assert shards == [f"{number}/{len(shards)}" for number in range(1, len(shards) + 1)]
    for path in [*REPEATS, *TESTS.rglob("test_*.py")]:
        assert sum(tiers.in_shard(path, shard) for shard in shards) == 1, path
    dearest = [path for path in REPEATS if path.name in tiers.DEAREST]
    assert len(dearest) == len(tiers.DEAREST)
    for shard in shards:
        assert sum(tiers.in_shard(path, shard) for path in dearest) == 1, shard


def test_what_repeats_is_found_by_the_pattern_of_make() -> None:
    """Each file with tests, wherever it lies."""
    (patterns,) = re.findall(r'^EVERY := -o python_files="([^"]*)"$', (ROOT / "Makefile").read_text(), re.M)
    assert len(REPEATS) > 10
    for path in TESTS.rglob("*.py"):
        found = any(fnmatch(path.name, pattern) for pattern in patterns.split())
        if found and "\ndef test_" in path.read_text(encoding="utf-8"):
            continue  # as nearly all are: to parse them takes seconds
        tests = [one for one in _defined(path) if one.startswith("test_")]
        assert found == bool(tests), f"{path.name} has tests {tests}, and make looks for {patterns}"


def _module(name: str) -> Path | None:
    """The file of a module of ours."""
    for place in (root.joinpath(*name.split(".")) for root in (ROOT, ROOT / "src")):
        for path in (place.with_suffix(".py"), place.with_suffix(".pyi"), place / "__init__.py"):
            if path.exists():
                return path
    return None


def _defined(path: Path) -> set[str]:
    """Names at the top of a module, in whatever branch."""
    found: set[str] = set()
    nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while nodes:
        for node in ast.iter_child_nodes(nodes.pop()):
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    found.add(name)
                case ast.Import(names=names) | ast.ImportFrom(names=names):
                    found |= {(one.asname or one.name).partition(".")[0] for one in names}
                case ast.Name(id=name, ctx=ast.Store()):
                    found.add(name)
                case _:
                    nodes.append(node)
    return found


def _imported(path: Path) -> Iterator[tuple[str, str]]:
    """Modules of ours that a file imports from, anywhere in it, and the name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and re.match(r"(stepscope|tests)\b", node.module or ""):
            yield from ((str(node.module), one.name) for one in node.names)


@pytest.mark.parametrize("path", REPEATS, ids=lambda path: path.name)
def test_what_it_imports_of_ours_is_there(path: Path) -> None:
    for module, name in _imported(path):
        file = _module(module)
        assert file is not None, f"{module} is gone"
        there = name in _defined(file) or _module(f"{module}.{name}") is not None
        assert there or "__getattr__" in _defined(file), f"{module} has no {name}"
