"""A view of tfprof as a profile for pprof and speedscope: scopes, inputs or calls as stacks.

Each line is a frame on top of its parent line, with its own figures. Figures of lines that are hidden below
it (by depth or by -hide…) count to the line itself, so that a flame graph is as wide as the totals of the
view.
"""

from collections.abc import Sequence

from stepscope import _core
from stepscope.errors import UsageError
from stepscope.exporters.pprof import Sample
from stepscope.instruments.tfprof.tree import FIGURES, ViewNode

VIEWS = ("scope", "graph", "code")
_NANOSECONDS = 1000


def check(view: str, select: Sequence[str]) -> None:
    """UsageError for a view that is not a tree, and without a selected figure."""
    if view not in VIEWS:
        raise UsageError(
            "A profile of stacks is made of a tree",
            seen=f"the {view} view, which is a list",
            todo=f"take {', '.join(VIEWS[:-1])} or {VIEWS[-1]}",
        )
    if not any(word in FIGURES for word in select):
        raise UsageError(
            "A profile of stacks needs a figure",
            seen=f"-select {','.join(select)}",
            todo=f"select one of {', '.join(FIGURES)}",
        )


def write(view: str, root: ViewNode) -> bytes:
    """The profile, not compressed. Errors of `check`."""
    check(view, root.select)
    kinds = [word for word in root.select if word in FIGURES]
    names: dict[str, int] = {}
    stacks: list[tuple[int, int]] = []
    samples: list[Sample] = []
    open_: list[ViewNode] = []
    above: list[int] = []
    for node in root.walk():
        del open_[node.level :], above[node.level :]
        short = _short(view, node, open_[-1] if open_ else None)
        stacks.append((above[-1] if above else -1, names.setdefault(short, len(names))))
        open_.append(node)
        above.append(len(stacks) - 1)
        values = [_own(node, word) for word in kinds]
        if any(values):
            samples.append((above[-1], values, [("op type", "|".join(node.types))]))
    units = [(word, _unit(word)) for word in kinds]
    return _core.pprof(units, names, stacks, samples, default=kinds[0])


def _own(node: ViewNode, word: str) -> int:
    """Figures of the line itself, and of hidden lines below it."""
    figure, unit = FIGURES[word][0], _unit(word)
    held = getattr(node.total, figure) - sum(getattr(child.total, figure) for child in node.children)
    # Means over steps are rounded line by line: the parts may be one more than the whole.
    return max(round(held * _NANOSECONDS) if unit == "nanoseconds" else int(held), 0)


def _unit(word: str) -> str:
    """Unit of the values of a figure in the profile."""
    if word.endswith("micros"):
        return "nanoseconds"
    return "bytes" if word.endswith("bytes") else "count"


def _short(view: str, node: ViewNode, above: ViewNode | None) -> str:
    """Name of the frame: in the scope view without the scopes below it in the stack."""
    if view == "scope" and above is not None and node.name.startswith(f"{above.name}/"):
        return node.name[len(above.name) + 1 :]
    return node.name
