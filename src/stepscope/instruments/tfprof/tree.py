"""tfprof's views as data: trees of nodes with exact figures, for Python.

profile = stepscope.tfprof("graph.pb", "run_meta.pb")
tree = profile.scope(max_depth=4, order_by="params")
print(tree)
tree.total.params
{node.name: node.own.params for node in tree.walk() if node.own.params}
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from stepscope import _core, units
from stepscope._core import TfprofOptions
from stepscope.errors import UsageError
from stepscope.instruments.tfprof import TfprofModel, ViewName, columns, names, orders, set_option, show_all

DEFAULT_DEPTH = 10_000
"""Levels shown when nobody says how many; tfprof's own default of 10 is for reading lines."""


@dataclass(frozen=True)
class Figures:
    """What is counted. Executions of all steps are averaged unless a step is chosen, as in tfprof.

    RunMetadata tells whole microseconds; a trace may tell fractions, and then they are floats."""

    runs: int
    """Executions."""
    definitions: int
    """Nodes."""
    micros: int | float
    """Microseconds on accelerators and on the devices that schedule ops, added up."""
    accelerator_micros: int | float
    """Microseconds of kernels on accelerators."""
    cpu_micros: int | float
    """Microseconds on devices that schedule ops."""
    requested_bytes: int
    """Bytes asked for."""
    peak_bytes: int
    """Bytes held at most, added up over executions."""
    residual_bytes: int
    """Bytes still held at the end of the ops."""
    output_bytes: int
    """Bytes of outputs."""
    params: int
    """Elements of variables."""
    float_ops: int
    """Floating point operations."""


FIGURES: dict[str, tuple[str, Callable[[Any], str]]] = {
    "bytes": ("requested_bytes", lambda value: units.show(value, "bytes")),
    "peak_bytes": ("peak_bytes", lambda value: units.show(value, "bytes")),
    "residual_bytes": ("residual_bytes", lambda value: units.show(value, "bytes")),
    "output_bytes": ("output_bytes", lambda value: units.show(value, "bytes")),
    "micros": ("micros", lambda value: units.show(round(value * 10**6), "ps")),
    "accelerator_micros": ("accelerator_micros", lambda value: units.show(round(value * 10**6), "ps")),
    "cpu_micros": ("cpu_micros", lambda value: units.show(round(value * 10**6), "ps")),
    "params": ("params", lambda value: f"{value:,}"),
    "float_ops": ("float_ops", lambda value: f"{value:,}"),
    "occurrence": ("runs", lambda value: f"{value:,}"),
}
"""Words of -select that are figures: the figure, and how it is written."""


@dataclass
class ViewNode:
    """A line of a view, with the lines below it."""

    name: str
    """Name of a node, scope, call or op type; the root's is `_TFProfRoot`."""
    counts: bool
    """Whether it counts itself (account_type_regexes), or only holds what counts."""
    own: Figures
    """Of its own."""
    total: Figures
    """With what is below it; in the op view, with the types listed behind it."""
    types: tuple[str, ...] = ()
    """Its types, or those of its nodes."""
    devices: tuple[str, ...] = ()
    """Where it ran."""
    shape: tuple[int, ...] = ()
    """Shape of a variable."""
    nodes: tuple[str, ...] = ()
    """The graph's nodes that it stands for; empty for a scope that is none."""
    level: int = 0
    """Levels below the root."""
    children: list[ViewNode] = field(default_factory=list)
    select: tuple[str, ...] = ()
    """What is shown of it."""

    def walk(self) -> Iterator[ViewNode]:
        """It and all below it, in the order of the view's lines."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def find(self, name: str) -> ViewNode:
        """The first one of that name. KeyError when there is none."""
        for node in self.walk():
            if node.name == name:
                return node
        raise KeyError(name)

    def rows(self) -> list[dict[str, Any]]:
        """One flat dictionary a line: name, level, types, devices, shape, each figure as own_ and total_."""
        return [
            {
                "name": node.name,
                "level": node.level,
                "counts": node.counts,
                "types": "|".join(node.types),
                "devices": "|".join(node.devices),
                "shape": "x".join(map(str, node.shape)),
                **{f"own_{figure.name}": getattr(node.own, figure.name) for figure in fields(Figures)},
                **{f"total_{figure.name}": getattr(node.total, figure.name) for figure in fields(Figures)},
            }
            for node in self.walk()
        ]

    def to_pandas(self) -> Any:
        """The rows as a pandas.DataFrame. ImportError without pandas, which stepscope does not need."""
        import pandas  # type: ignore[import-untyped,unused-ignore]

        return pandas.DataFrame(self.rows())

    def __str__(self) -> str:
        return "\n".join("  " * node.level + _line(node) for node in self.walk())

    def _repr_html_(self) -> str:
        """A tree that opens and closes, for notebooks."""
        return f'<div style="font-family:monospace">{_html(self)}</div>'


def _shown_figures(node: ViewNode) -> list[str]:
    figures = []
    for word in node.select:
        if word in FIGURES:
            name, write = FIGURES[word]
            own_figure, total = getattr(node.own, name), getattr(node.total, name)
            figures.append(
                f"{word} {write(own_figure)} of {write(total)}"
                if own_figure != total
                else f"{word} {write(own_figure)}"
            )
        elif word == "device" and node.devices:
            figures.append("|".join(node.devices))
        elif word == "op_types" and node.types:
            figures.append("|".join(node.types))
    return figures


def _line(node: ViewNode) -> str:
    shape = f" {'x'.join(map(str, node.shape))}" if node.shape else ""
    figures = ", ".join(_shown_figures(node))
    return f"{node.name}{shape}" + (f" ({figures})" if figures else "")


def _html(root: ViewNode) -> str:
    """Lists nested as the tree is; without recursion, for graphs are thousands of levels deep."""
    out: list[str] = []
    level = -1
    for node in root.walk():
        for _ in range(level - node.level + 1):
            out.append("</details>")
        level = node.level
        is_open = " open" if node.level < 2 else ""
        text = html.escape(_line(node))
        style = ' style="margin-left:1.2em"'
        out.append(f"<details{style}{is_open}><summary>{text}</summary>")
    out.append("</details>" * (level + 1))
    return "".join(out)


class TfprofProfile:
    """A model and its recorded steps, to be asked for views."""

    def __init__(self, model: TfprofModel) -> None:
        self._model = model

    @property
    def notes(self) -> list[str]:
        """What to know about the files."""
        return self._model.notes

    def scope(self, **options: Any) -> ViewNode:
        """By name scope. Options are tfprof's: max_depth=4, min_params=100, order_by="params",
        account_type_regexes=["_trainable_variables"], select=["params", "micros"], step=1, …
        There are no minimums but those given, so that negative figures are shown, which tfprof hides.
        UsageError for an unknown one."""
        return self._view("scope", options)

    def graph(self, **options: Any) -> ViewNode:
        """From outputs to inputs, each node where it is met first. Options as in scope()."""
        return self._view("graph", options)

    def op(self, **options: Any) -> ViewNode:
        """By op type, below one root. Options as in scope()."""
        return self._view("op", options)

    def code(self, **options: Any) -> ViewNode:
        """By line of Python. UnreadableSource when no op log has any. Options as in scope()."""
        return self._view("code", options)

    def _view(self, view: ViewName, options: dict[str, Any]) -> ViewNode:
        chosen = _core.TfprofOptions()
        show_all(chosen)
        select = _words(options.get("select", ("micros", "params", "bytes")))
        for name, value in {"max_depth": DEFAULT_DEPTH, **options}.items():
            _set(chosen, name, value)
        rows, warnings = self._model.outline(view, chosen)
        self._model.notes.extend(warnings)
        return tree(rows, select, self._model.ticks_per_us)


def _set(chosen: TfprofOptions, name: str, value: Any) -> None:
    if name not in names() or name == "output":
        raise UsageError(
            f"tfprof has no option {name}",
            seen=f"{name}={value!r}",
            todo=f"options are {', '.join(option for option in names() if option != 'output')}",
        )
    if name == "select" and (unknown := [word for word in _words(value) if word not in columns()]):
        raise UsageError(
            "There is no such column", seen=", ".join(unknown), todo=f"there are {', '.join(columns())}"
        )
    if name == "order_by" and value not in orders():
        raise UsageError("There is no such order", seen=str(value), todo=f"there are {', '.join(orders())}")
    if isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, str) or not isinstance(value, Sequence):
        text = str(value)
    else:
        text = ",".join(map(str, value))
    set_option(chosen, name, text)


def _words(value: Any) -> tuple[str, ...]:
    return tuple(value.split(",")) if isinstance(value, str) else tuple(value)


def _figures(values: Sequence[int], ticks: int) -> Figures:
    """The figures of a line. ticks: units of time in a microsecond."""
    times = [value / ticks if value % ticks else value // ticks for value in values[2:5]]
    return Figures(*values[:2], *times, *values[5:])


def tree(rows: Sequence[tuple[Any, ...]], select: tuple[str, ...], ticks: int = 1) -> ViewNode:
    """The lines of a view (see `TfprofModel.outline`) as a tree. ticks: units of time in a microsecond."""
    open_: list[ViewNode] = []
    for level, name, counts, own_figures, total, (types, devices, shape, nodes) in rows:
        node = ViewNode(
            name,
            counts,
            _figures(own_figures, ticks),
            _figures(total, ticks),
            tuple(types),
            tuple(devices),
            tuple(shape),
            tuple(nodes),
            level,
            select=select,
        )
        del open_[level:]
        if open_:
            open_[-1].children.append(node)
        open_.append(node)
    return open_[0]


def servers(profile: TfprofProfile) -> dict[str, int]:
    """Parameters by device: how well variables are balanced over parameter servers."""
    sums: dict[str, int] = {}
    for node in profile.scope().walk():
        for device in node.devices[:1]:
            if node.own.params:
                sums[device] = sums.get(device, 0) + node.own.params
    return sums


__all__ = ["FIGURES", "Figures", "TfprofProfile", "ViewNode", "servers", "tree"]
