"""The rooms of the house: packages of stepscope, and modules beside them, import one another in no circle,
and at the top of files."""

import ast
import functools
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import stepscope

ROOT = Path(stepscope.__file__).parent
LONGEST = 60
"""Lines of a function."""
NO_NAMES = frozenset({"one", "own", "said", "there", "told"})
"""What no variable may be called: a step is a step, and a row a row."""
PREPOSITIONS = {
    *("against", "around", "as", "at", "before", "below", "beside", "between", "beyond", "by", "for", "from"),
    *("in", "inside", "into", "near", "of", "on", "over", "since", "than", "through", "to", "under", "until"),
    *("with", "within", "without"),
}

LATE = {
    ("stepscope", "notebook"): "IPython asks for it by a name of the package; importing it takes IPython",
    (
        "cli",
        "the verbs",
    ): "`stepscope VERB --help` takes 30 ms of processor time, with report and session 120",
    ("notebook", "capture"): "it patches nothing before a cell is recorded",
}
"""Imports of other rooms inside functions, and what was measured. There are no others."""
LATE_WITHIN = {
    # A decoder loads what fills its tables when it has a file, and a source what unpacks one.
    "formats": {"formats._session_runs", "formats.models.op_log"},
    "formats._profile_events": {"formats._chrome_rows"},
    "formats.checkpoint": {"formats._checkpoint_rows"},
    "formats.chrome_trace": {"formats._chrome_rows"},
    "formats.event_file": {"formats._host_trace"},
    "formats.safetensors": {"formats._checkpoint_rows"},
    "formats.torch_checkpoint": {"formats._checkpoint_rows", "formats._torch_archive"},
    "formats.run_metadata": {"formats._capture_steps", "formats._host_trace"},
    "formats.tfprof_profile": {"formats._host_trace"},
    "formats.xla_dump": {"formats.xla.dump_tables"},
    "formats.xplane": {"formats._capture_steps", "formats.xla.xplane_tables"},
    "sources.archive": {"sources.tars", "sources.zips"},
    "sources.files": {"sources.remote"},
    "sources.inspection": {"sources.archive"},
    "sources.spool": {"sources.archive"},
    # The engine starts while files are looked at, the tables are made while they are decoded, and what makes
    # them loads all instruments.
    "engines.duckdb": {"engines.duckdb.several"},
    "engines.early_start": {"engines.duckdb"},
    "lake.cache": {"lake.schema"},
    "session.tables": {"session.derived_tables", "session.table_makers"},
    # One opens files or a lake, and few write one.
    "session.compacting": {"session.lake_tables", "session.open_trace"},
    "session.ingest": {"session.lake_derivation", "session.lake_tables", "session.open_trace"},
    "session.lake_derivation": {"session.lake_tables", "session.open_trace"},
    "session.on_spark": {"session.ingest"},
    "session.trace": {
        *("session.compacting", "session.ingest", "session.lake_derivation", "session.lake_tables"),
        *("session.lakes", "session.tables"),
    },
    # One output of several.
    "exporters.duckdb": {"exporters.events"},
    "objects.result": {"objects.arrow"},
    "objects.trace": {"objects.widget"},
}
"""Imports inside functions from the room itself. Verbs and the recorder load what they need when
they need it, too: the program may not have imported its framework yet."""
VERBS = {
    *("_core", "attach", "engines", "exporters", "formats", "instruments", "lake", "library", "presenters"),
    *("agents", "profilers", "reference", "report", "server", "session", "sources", "xla_tools"),
}
"""What verbs import inside `run`: all of it loads engines or the core, or much of the standard library."""


class Module(NamedTuple):
    """What the tests ask of a file, which is parsed once for all of them."""

    path: Path
    imports: frozenset[str]
    """Modules of stepscope that it imports anywhere: at its top, in a function, or for its types only.

    Imports within functions count, because they run. Imports for types count, too: a reader follows them, and
    a room that names another's classes cannot be read without it."""
    late: tuple[tuple[str, int], ...]
    """Rooms that it imports inside functions, and in which line."""
    late_modules: frozenset[str]
    """Modules that it imports inside functions."""
    classes: tuple[str, ...]
    top_functions: tuple[str, ...]
    """Functions that are in no class and in no other function."""
    functions: tuple[tuple[str, int], ...]
    """Functions with their numbers of lines."""
    unnamed: tuple[tuple[str, int], ...]
    """Variables that are called by one of NO_NAMES, and in which line."""


_LEAVES = (ast.expr_context, ast.operator, ast.cmpop, ast.Constant)
"""Two thirds of the nodes of a file; they hold nothing that is looked at."""


@functools.cache
def modules() -> dict[str, Module]:
    """All modules of the package by their dotted names."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return {name: parsed(name, path, found.keys()) for name, path in found.items()}


def parsed(name: str, path: Path, known: Collection[str]) -> Module:
    """What is in a file. known: all modules of stepscope."""
    imported: list[str] = []
    late: list[tuple[str, int]] = []
    late_modules: set[str] = set()
    classes: list[str] = []
    functions: list[tuple[str, int]] = []
    unnamed: list[tuple[str, int]] = []
    fields: set[ast.expr] = set()  # each is read with its object: `node.own`
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = tuple(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    todo: list[tuple[ast.AST, bool]] = [(tree, False)]
    while todo:
        node, within = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions.append((node.name, (node.end_lineno or 0) - node.lineno + 1))
            within = True
        elif isinstance(node, ast.ClassDef):
            classes.append(node.name)
            fields |= {child.target for child in node.body if isinstance(child, ast.AnnAssign)}
        elif isinstance(node, ast.Import):
            imported += (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            imported += imports(name, path, node, known)
            if within:
                late += rooms_of(node)
                late_modules |= set(imports(name, path, node, known))
        elif isinstance(node, ast.arg) and node.arg in NO_NAMES:
            unnamed.append((node.arg, node.lineno))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in fields:
            unnamed += [(node.id, node.lineno)] if node.id in NO_NAMES else []
        todo += ((child, within) for child in ast.iter_child_nodes(node) if not isinstance(child, _LEAVES))
    return Module(
        path, frozenset(imported), tuple(late), frozenset(late_modules), tuple(classes), top,
        tuple(functions), tuple(unnamed),
    )  # fmt: skip


def imports(name: str, path: Path, node: ast.ImportFrom, known: Collection[str]) -> Iterator[str]:
    """Modules of stepscope that a statement of a module imports."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    above = package[: len(package) - node.level + 1] if node.level else []
    base = ".".join([*above, *([node.module] if node.module else [])])
    for alias in node.names:
        whole = f"{base}.{alias.name}"
        if whole in known:
            yield whole
        elif base in known:
            yield base


def rooms_of(node: ast.ImportFrom) -> Iterator[tuple[str, int]]:
    """Rooms from which a statement imports, and in which line."""
    if node.module is not None:
        package, _, rest = node.module.partition(".")
        if package == "stepscope":
            named = [rest.partition(".")[0]] if rest else [alias.name for alias in node.names]
            yield from ((name, node.lineno) for name in named)


def room(module: str) -> str:
    """The package or module directly under stepscope that a module belongs to."""
    return module.split(".")[1] if "." in module else module


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Sets of nodes that reach one another, by Tarjan's algorithm."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            members = stack[at:]
            del stack[at:]
            if len(members) > 1:
                found.append(sorted(members))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def graph() -> dict[str, set[str]]:
    """What imports what, by module. `stepscope` itself offers names on first use, and nothing needs that."""
    edges: dict[str, set[str]] = defaultdict(set)
    for name, module in modules().items():
        if name != "stepscope":
            edges[name] = set(module.imports) - {"stepscope", name}
    return edges


def test_imports_stand_at_the_top_of_files() -> None:
    found = []
    for name, module in modules().items():
        importer = room(name)
        for other, line in module.late:
            verbs = importer == "cli" and name.count(".") == 2 and other in VERBS
            if other != importer and not verbs and (importer, other) not in LATE:
                found.append(f"{module.path.relative_to(ROOT)}:{line}: {other}")
    assert found == []


def test_late_imports_within_a_room_are_listed() -> None:
    found = {
        name.removeprefix("stepscope."): {
            other.removeprefix("stepscope.") for other in module.late_modules if room(other) == room(name)
        }
        for name, module in modules().items()
        if room(name) not in ("stepscope", "capture", "cli")
    }
    assert {name: others for name, others in found.items() if others} == LATE_WITHIN


def test_no_circle_goes_through_files_of_two_rooms() -> None:
    crossing = [c for c in circles(graph()) if len({room(module) for module in c}) > 1]
    assert crossing == []


def test_no_circle_of_rooms() -> None:
    rooms: dict[str, set[str]] = defaultdict(set)
    for module, others in graph().items():
        rooms[room(module)] |= {room(other) for other in others} - {room(module)}
    assert {"session", "engines", "lake", "formats"} <= rooms.keys()
    assert circles(rooms) == []


@pytest.mark.parametrize(
    ("edges", "wanted"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}, [["a", "b", "c"]]),
        ({"a": {"b"}, "b": {"a"}, "c": {"d", "a"}, "d": {"c"}}, [["a", "b"], ["c", "d"]]),
    ],
)
def test_circles_are_found(edges: dict[str, set[str]], wanted: list[list[str]]) -> None:
    assert circles(edges) == wanted


def test_no_two_classes_have_one_name() -> None:
    """Whoever reads a name knows which class it is."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name, module in modules().items():
        for called in module.classes:
            found[called].append(name)
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_functions_fit_on_a_screen() -> None:
    """Ruff holds how complex a function may be; this holds how long."""
    long = {
        f"{name}.{called}": length
        for name, module in modules().items()
        for called, length in module.functions
        if length > LONGEST
    }
    assert long == {}


def test_variables_are_called_by_nouns() -> None:
    found = [
        f"{module.path.relative_to(ROOT)}:{line}: {called}"
        for module in modules().values()
        for called, line in module.unnamed
    ]
    assert found == []


def test_functions_are_called_by_what_they_give_or_do() -> None:
    """A call is read as a noun or a verb: `spans.intersection(a, b)`, not `spans.within(a, b)`."""
    found = [
        f"{module.path.relative_to(ROOT)}: {called}"
        for module in modules().values()
        for called in module.top_functions
        if called.strip("_").partition("_")[0] in PREPOSITIONS
    ]
    assert found == []
