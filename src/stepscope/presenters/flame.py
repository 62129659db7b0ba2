"""Trees whose nodes have a size as a flame graph: one SVG, without a library.

Boxes have widths in percent, so that the graph fits any page, and text of the page's own size that the edge
of its box cuts. A click on a box zooms in on it (page.js); the graph is complete without that.
"""

from __future__ import annotations

from html import escape

from stepscope import units
from stepscope.presenters.axis import size
from stepscope.presenters.outline import place
from stepscope.presenters.plain import plain
from stepscope.report import Node, Tree

_ROW = 19
"""Height of a box, in pixels."""
_NAME = 120
"""Characters of a name; the box cuts it much earlier."""
_KINDS = {
    "program": "the program",
    "library": "libraries",
    "python": "Python's own library",
    "native": "native code",
    "unknown": "not known",
    "folded": "folded",
}


def draw(tree: Tree) -> str:
    """The graph as HTML; empty when no node has a size."""
    at = next(i for i, column in enumerate(tree.columns) if column.name == tree.size)
    sizes = [size(node.values[at]) for node in tree.nodes]
    whole = sum(one for node, one in zip(tree.nodes, sizes, strict=True) if not node.depth)
    if not whole:
        return ""
    free = [0.0]  # by depth: where the next node begins
    boxes = []
    for node, one in zip(tree.nodes, sizes, strict=True):
        begin = free[node.depth]
        boxes.append(_box(tree, node, begin / whole * 100, one / whole * 100))
        free[node.depth :] = [begin + one, begin]  # of the next one beside it, and of the first within it
    height = _ROW * (1 + max(node.depth for node in tree.nodes))
    label = escape(plain(f"flame graph of {units.count(len(boxes), 'box', 'boxes')}"))
    return (
        f'<figure class="chart">{_legend(tree)}<svg class="flame" height="{height}" role="img" '
        f'aria-label="{label}"><svg class="zoomed" x="0" width="100%" height="{height}">\n'
        f"{''.join(boxes)}</svg></svg></figure>\n"
    )


def _box(tree: Tree, node: Node, left: float, width: float) -> str:
    values = "; ".join(
        f"{column.title} {units.show(value, column.unit)}"
        for column, value in zip(tree.columns, node.values, strict=True)
        if value is not None
    )
    beside = "; ".join(part for part in (place(node), node.about) if part)
    title = "\n".join(escape(plain(line, 400)) for line in (node.name, beside, values) if line)
    where = f"{plain(node.name, _NAME)} {place(node).rpartition('/')[2]}".strip()
    return (
        f'<svg x="{left:.4g}%" y="{node.depth * _ROW}" width="{width:.4g}%" height="{_ROW}">'
        f'<title>{title}</title><rect class="{_kind(node)}" width="100%" height="{_ROW - 1}"/>'
        f'<text x="4" y="13">{escape(plain(where, _NAME + 60))}</text></svg>\n'
    )


def _kind(node: Node) -> str:
    return f"f-{node.kind}" if node.kind in _KINDS else "f-unknown"


def _legend(tree: Tree) -> str:
    there = {node.kind if node.kind in _KINDS else "unknown" for node in tree.nodes}
    entries = "".join(
        f'<span><svg width="10" height="10"><rect class="f-{kind}" width="10" height="10"/></svg> '
        f"{escape(name)}</span>"
        for kind, name in _KINDS.items()
        if kind in there
    )
    return f'<p class="legend">{entries}</p>'
