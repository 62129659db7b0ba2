"""Trees and changes on a screen: each thing below what holds it, each change with the line to edit."""

from collections.abc import Callable, Sequence

from stepscope import units
from stepscope.presenters.cells import Grid, cells, cut_around_change, shorten_cells
from stepscope.presenters.plain import plain
from stepscope.report import Change, Column, Diff, Tree, TreeNode

Paint = Callable[[str, str], str]
_NARROWEST = 20
"""Cells that the text of a change keeps; columns of numbers give way to it."""
_SHORTEST = 4
"""Cells of a name that stay, however deep it lies."""
_NARROWEST_NAME = 16
"""Cells of a name with what is drawn before it, whatever else there is."""
_HEADING = 14
"""Cells of a heading."""


def branches(nodes: Sequence[TreeNode]) -> list[str]:
    """What is drawn before the name of each node: lines from its parent, none for a root."""
    # From the end on: a node is the last child when no later one follows at its depth before a smaller one.
    drawn = []
    open_: set[int] = set()
    for node in reversed(nodes):
        last = node.depth not in open_
        open_ = {depth for depth in open_ if depth < node.depth} | {node.depth}
        rails = ["│  " if depth in open_ else "   " for depth in range(1, node.depth)]
        drawn.append("".join(rails) + ("└─ " if last else "├─ ") if node.depth else "")
    return drawn[::-1]


def value(column: Column, value: object) -> str:
    """One value with its unit; nothing where there is none, or where it says no."""
    if value is None or value is False:
        return ""
    return column.title.lower() if value is True else units.show(value, column.unit)


def place(node: TreeNode) -> str:
    """The line of the program that made a node."""
    return f"{node.line.file}:{node.line.line}" if node.line is not None else ""


def tree_lines(tree: Tree, room: int, paint: Paint) -> list[str]:
    """Heading and nodes, their values aligned beside the names."""
    names = [before + _name(node) for before, node in zip(branches(tree.nodes), tree.nodes, strict=True)]
    rows = [
        [name, *(value(*pair) for pair in zip(tree.columns, node.values, strict=True)), _margin(node)]
        for name, node in zip(names, tree.nodes, strict=True)
    ]
    head = ["", *(shorten_cells(plain(column.title), _HEADING) for column in tree.columns), ""]
    right = [False, *(column.unit not in ("text", "bool") for column in tree.columns), False]
    (head, *rows), right = _fitted([head, *rows], right, room)
    marked = [row[-1] for node, row in zip(tree.nodes, rows, strict=True) if node.mark]
    widths = _tree_widths(Grid.fitting([head, *rows], right).widths, right, room, marked)
    head, *rows = [row[: len(widths)] for row in [head, *rows]]
    right = right[: len(widths)]
    grid = Grid(widths, right)
    for row, before, node in zip(rows, branches(tree.nodes), tree.nodes, strict=True):
        row[0] = before + _name_in(node, max(widths[0] - cells(before), _SHORTEST))
        if not right[-1]:
            row[-1] = shorten_cells(row[-1], widths[-1])
    lines = [paint("dim", shorten_cells(grid.row(head), room))]
    for node, row in zip(tree.nodes, rows, strict=True):
        line = shorten_cells(grid.row(row), room)
        lines.append(paint("high", line) if node.mark else line)
    return lines


def _tree_widths(widths: Sequence[int], right: Sequence[bool], room: int, marked: Sequence[str]) -> list[int]:
    """The widths of the columns in a room. The column beside the name shrinks, unless it holds marks, before
    names have less than half of the room, and is left out where too little of it would stay."""
    name, *numbers, beside = widths if not right[-1] else [*widths, 0]
    taken = sum(width + 2 for width in numbers)
    marks = max(map(cells, marked), default=0)
    left = room - taken - max(min(name, room // 2), _NARROWEST_NAME) - 2
    kept = min(beside, max(left, marks)) if marks or left >= 2 * _SHORTEST else 0
    name = max(min(name, room - taken - (kept + 2 if kept else 0)), _NARROWEST_NAME)
    return [name, *numbers, kept] if kept else [name, *numbers]


def _fitted(table: list[list[str]], right: list[bool], room: int) -> tuple[list[list[str]], list[bool]]:
    """Heading and rows without the columns that find no room, and which columns are aligned right."""
    widths = Grid.fitting(table, right).widths
    kept = _shown_columns(table[1:], widths, room)
    table = [[row[i] for i in kept] for row in table]
    right = [right[i] for i in kept]
    if sum(widths[i] + 2 for i in kept) - 2 > room and not right[-2]:
        # A mark behind the text of its row takes less room than one in a column.
        return [[*row[:-2], "  ".join(filter(None, row[-2:]))] for row in table], right[:-1]
    return table, right


def _name(node: TreeNode) -> str:
    """Its name, and the line that it stands for."""
    return plain("  ".join(part for part in (node.name, place(node)) if part), 400)


def _name_in(node: TreeNode, room: int) -> str:
    """The same in so many cells: the name gives way, and not the lines that show what it is in, nor the place
    where that leaves room for some of the name."""
    at = plain(place(node), 400)
    left = room - cells(at) - 2 if at and node.name else 0
    if cells(_name(node)) <= room or left < 2 * _SHORTEST:
        return shorten_cells(_name(node), room)
    return f"{shorten_cells(plain(node.name, 400), left)}  {at}"


def _shown_columns(rows: Sequence[Sequence[str]], widths: Sequence[int], room: int) -> list[int]:
    """The columns to show. Where room is short, one that says the same everywhere goes before a name is
    cut."""
    kept = list(range(len(widths)))
    for i in range(len(widths) - 2, 1, -1):
        if sum(widths[k] + 2 for k in kept) - 2 > room and len({row[i] for row in rows if row[i]}) < 2:
            kept.remove(i)
    return kept


def _margin(node: TreeNode) -> str:
    parts = (f"◀ {plain(node.mark, 40)}" if node.mark else "", plain(node.about, 200))
    return "  ".join(part for part in parts if part)


def diff_lines(diff: Diff, room: int, paint: Paint) -> list[str]:
    """A heading, then each change: its numbers, what it is, and the line to edit."""
    texts = [
        [_number(column, value) for column, value in zip(diff.columns, change.values, strict=False)]
        for change in diff.changes
    ]
    heads = [shorten_cells(plain(column.title), _HEADING) for column in diff.columns]
    used = _used(texts, len(heads))
    grid = Grid.fitting([[row[i] for i in used] for row in [heads, *texts]], [True] * len(used))
    while used and room - grid.width - 2 < _NARROWEST:
        used.pop()
        grid = Grid(grid.widths[: len(used)], [True] * len(used))
    left = grid.width + 2 if used else 0
    whole = Grid([*grid.widths, max(room - left, 16)], [*([True] * len(used)), False])
    lines = [paint("dim", whole.row([*(heads[i] for i in used), "Change"]))]
    for change, row in zip(diff.changes, texts, strict=True):
        style = "" if change.helps else "dim"
        cells_of = [*(row[i] for i in used), plain(_sentence(change), 4000)]
        lines += [paint(style, line) for line in whole.lines(cells_of)]
        lines += [f"      {line}" for line in _edit(change, max(room - 6, 16), paint)]
    return lines


def _used(rows: Sequence[Sequence[str]], columns: int) -> list[int]:
    """The columns that have any value."""
    return [i for i in range(columns) if any(row[i] for row in rows)]


def _number(column: Column, number: object) -> str:
    return "" if number is None else units.show(number, column.unit)


def _sentence(change: Change) -> str:
    outcome = f"; {change.outcome}" if change.outcome else ""
    return f"{change.what}{outcome}."


def _edit(change: Change, room: int, paint: Paint) -> list[str]:
    """The line to change, and what it would be then."""
    edit = change.edit
    if edit is None:
        return []
    lines = [paint("dim", shorten_cells(plain(f"{edit.at.file}:{edit.at.line}", 400), room))]
    if edit.after is not None:
        shown = cut_around_change(plain(edit.before, 400), plain(edit.after, 400), max(room - 2, 8))
        for mark, text, style in zip("-+", shown, ("hot", "mild"), strict=True):
            lines.append(paint(style, f"{mark} {text}"))
    return lines
