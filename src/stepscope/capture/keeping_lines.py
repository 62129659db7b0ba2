"""The line on which the program puts something into a variable, found in its source."""

import ast
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

MOST_BYTES = 2 << 20
"""Most bytes of a source file that is read."""
_MODULE = (0, 1 << 31)
"""First and last line of a module's own variables: no function begins there."""
_PUTS = frozenset(
    (
        "append",
        "appendleft",
        "add",
        "extend",
        "extendleft",
        "insert",
        "put",
        "put_nowait",
        "setdefault",
        "update",
    )
)


class KeepingLine(NamedTuple):
    """A line of the program. grows: the line adds to the variable; else it sets it."""

    line: int
    function: str
    grows: bool


class FunctionLine(NamedTuple):
    """A line in a function that spans `first` to `last`."""

    line: KeepingLine
    first: int
    last: int


class Keeping:
    """Finds lines in files of the program, and reads each file once."""

    def __init__(self) -> None:
        self._found: Dict[str, Dict[Tuple[str, ...], List[FunctionLine]]] = {}

    def of(self, path: str, name: str, begin: Optional[int]) -> Optional[KeepingLine]:
        """The line that adds to `name`, a variable with attributes; else one that sets it; else one that sets
        the object of the attribute. begin: first line of the function with the variable; None for a module's.
        None without such a line."""
        lines = self._lines(path)
        words = tuple(name.split("."))
        # For model.optimizer it is the line that makes the model, if the program sets nothing else.
        for end in range(len(words), 0, -1):
            chosen = _choose(lines.get(words[:end], []), begin)
            if chosen is None and end > 1:
                # Methods of a class mostly set and fill its attributes: self.losses.append(…).
                chosen = _choose(lines.get(("self", *words[1:end]), []), None)
            if chosen is not None:
                return chosen if end == len(words) else chosen._replace(grows=False)
        return None

    def _lines(self, path: str) -> Dict[Tuple[str, ...], List[FunctionLine]]:
        if path not in self._found:
            found: Dict[Tuple[str, ...], List[FunctionLine]] = {}
            self._found[path] = found
            try:
                if Path(path).stat().st_size <= MOST_BYTES:
                    tree = ast.parse(Path(path).read_bytes())
                    for words, line in _stored(tree, "", _MODULE):
                        found.setdefault(words, []).append(line)
            except (OSError, SyntaxError, ValueError, RecursionError):
                found.clear()  # the file changed or disappeared since it was imported: no line
        return self._found[path]


def _choose(lines: List[FunctionLine], begin: Optional[int]) -> Optional[KeepingLine]:
    """The first line that adds, before the first that sets: in the function that begins there, the functions
    around it, and those inside; for a module's variable, before functions with a variable of the same
    name."""
    mine = lines
    if begin is not None:
        lines_around = [line for line in lines if line.first <= begin <= line.last]
        last = max((line.last for line in lines_around if line.first == begin), default=begin)
        mine = lines_around + [line for line in lines if begin < line.first <= last]
    best = min(
        mine,
        key=lambda line: (not line.line.grows, line.first != (begin or _MODULE[0]), line.line.line),
        default=None,
    )
    return None if best is None else best.line


def _stored(
    node: ast.AST, function: str, span: Tuple[int, int]
) -> Iterator[Tuple[Tuple[str, ...], FunctionLine]]:
    """Variables with the lines that add to them or set them, and the span of their function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
            inner = f"{function}.{child.name}" if function else child.name
            for arg in ast.walk(child.args):
                if isinstance(arg, ast.arg):
                    yield (
                        (arg.arg,),
                        FunctionLine(KeepingLine(child.lineno, inner, False), first, _last(child)),
                    )
            yield from _stored(child, inner, (first, _last(child)))
            continue
        if isinstance(child, ast.ClassDef):
            yield from _stored(child, f"{function}.{child.name}" if function else child.name, span)
            continue
        for target, grows in _targets(child):
            words = _words(target)
            if words:
                line = KeepingLine(getattr(child, "lineno", 0), function or "<module>", grows)
                yield words, FunctionLine(line, *span)
        yield from _stored(child, function, span)


def _targets(node: ast.AST) -> Iterator[Tuple[ast.AST, bool]]:
    """The targets of a node, and whether it adds to them."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _PUTS:
        yield _container(node.func.value), True
    elif isinstance(node, ast.AugAssign):
        yield _container(node.target), True
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        for part in ast.walk(node.target):
            if isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Store):
                yield part, False
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            whole = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
            for part in whole:
                yield _container(part), isinstance(part, ast.Subscript)


def _container(node: ast.AST) -> ast.AST:
    """The variable of history["loss"][0]."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _words(node: ast.AST) -> Tuple[str, ...]:
    """self.losses as its parts; empty for anything but a variable with attributes."""
    words: List[str] = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ()
    return (node.id, *reversed(words))


def _last(node: ast.AST) -> int:
    """The last line of a function, as Python 3.8 and newer record it."""
    last = 0
    for inner in ast.walk(node):
        for name in ("lineno", "end_lineno"):
            line = getattr(inner, name, None)
            last = max(last, line) if isinstance(line, int) else last
    return last
