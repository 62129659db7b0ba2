"""A level of a graph as a file: SVG that any viewer opens, a page with it to move and search in, DOT for
Graphviz, JSON for programs."""

import json
import zlib
from collections.abc import Iterator
from html import escape
from importlib import resources
from itertools import chain

from stepscope import units
from stepscope.escapes import escaped
from stepscope.instruments.graphs.level import LETTER, SMALL_LETTER, GraphBox, Level
from stepscope.kernel_names import shorten

FORMAT = 1
_ROOM = 20.0
_STYLE = """text{font:12px system-ui,sans-serif;text-anchor:middle;fill:#10151a}
.s{font-size:10px;fill:#4a545d}rect{stroke:#5c6872;fill:#f4f6f7}.o{stroke-width:1.6}path{fill:none;stroke:#5c6872;stroke-opacity:.45}
svg{background:#fff}"""

_PAGE = """body{margin:0;font:14px system-ui,sans-serif;display:flex;flex-direction:column;height:100vh}
header{padding:6px 10px;border-bottom:1px solid #c8ced3}main{flex:1;overflow:hidden;cursor:grab}
main svg{width:100%;height:100%}g.hit rect{stroke:#b3261e;stroke-width:3}
g.near rect{stroke:#0b57d0;stroke-width:2.5}
path.near{stroke:#0b57d0;stroke-opacity:1}g.dim,path.dim{opacity:.25}"""


def svg(level: Level, title: str, paint: str | None = None) -> str:
    """The boxes and edges of a level. paint: time, bytes, cluster, type or device; None for time where there
    is any, else op type."""
    return "".join(_svg(level, title, paint))


def page(level: Level, title: str, paint: str | None = None) -> str:
    """The drawing as a self-contained page: the wheel zooms, the mouse moves, a search finds boxes, and a
    click marks a box with its neighbours."""
    script = resources.files("stepscope.exporters").joinpath("drawing.js").read_text("utf-8")
    edges = json.dumps([[edge.producer, edge.consumer] for edge in level.edges], separators=(",", ":"))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{_text(title, 300)}</title>\n'
        f"<style>{_PAGE}</style></head>\n"
        f'<body><header><label>Find <input type="search" id="find"></label> <output id="found"></output>'
        f" <span>{units.count(len(level.boxes), 'box', 'boxes')}, "
        f"{units.count(len(level.edges), 'edge')}</span></header>\n"
        f'<main id="drawing">{svg(level, title, paint)}</main>\n'
        f'<script type="application/json" id="edges">{edges}</script>\n'
        f"<script>{script}</script></body></html>\n"
    )


def _svg(level: Level, title: str, paint: str | None) -> Iterator[str]:
    wide = max((box.x + box.width for box in level.boxes), default=0.0) + 2 * _ROOM
    high = max((box.y + box.height for box in level.boxes), default=0.0) + 2 * _ROOM
    most = max((box.time_ps for box in level.boxes), default=0)
    paint = paint or ("time" if most else "type")
    if paint == "bytes":
        most = max((box.output_bytes for box in level.boxes), default=0)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-_ROOM:g} {-_ROOM:g} {wide:g} {high:g}" '
    yield f'width="{wide:g}" height="{high:g}">\n<title>{_text(title, 300)}</title>\n'
    yield f"<style>{_STYLE}</style>\n"
    for edge in level.edges:
        a, b = level.boxes[edge.producer], level.boxes[edge.consumer]
        x0, y0, x1, y1 = a.x + a.width / 2, a.y + a.height, b.x + b.width / 2, b.y
        bend = max(18.0, abs(y1 - y0) / 2.5)
        yield f'<path d="M{x0:g} {y0:g}C{x0:g} {y0 + bend:g} {x1:g} {y1 - bend:g} {x1:g} {y1:g}" '
        yield f'stroke-width="{min(edge.count.bit_length(), 6)}">'
        edges = units.count(edge.count, "edge")
        yield f"<title>{_text(a.path, 120)} → {_text(b.path, 120)}: {edges}</title></path>\n"
    for box in level.boxes:
        yield from _box(box, most, paint)
    yield "</svg>\n"


def _box(box: GraphBox, most: int, paint: str) -> Iterator[str]:
    size = f'width="{box.width:g}" height="{box.height:g}" rx="{4 if box.op_type else 9}"'
    yield f'<g transform="translate({box.x:g} {box.y:g})"><title>{_text(box.path, 300)} · '
    time = units.show(box.time_ps, "ps") if box.time_ps else ""
    yield f"{units.count(box.nodes, 'node')}{' · ' * bool(time)}{time}"
    size_of = units.show(box.output_bytes, "bytes") if box.output_bytes else ""
    for what, value in (("outputs", size_of), ("cluster", box.cluster), ("device", box.device)):
        if value:
            yield f" · {what} {_text(value, 120)}"
    yield "</title>"
    if box.copies > 1:
        yield f'<rect x="4" y="4" {size}/>'
    edge = ' class="o"' if box.can_open else ""
    yield f"<rect {size}{_fill(box, most, paint)}{edge}/>"
    name = _text(box.name, max(int(box.width / LETTER), 3)) + (
        f" \u00d7{box.copies}" if box.copies > 1 else ""
    )
    below = time or box.op_type or units.count(box.nodes, "node")
    yield f'<text x="{box.width / 2:g}" y="15">{name}</text>'
    below = _text(below, max(int(box.width / SMALL_LETTER), 3))
    yield f'<text class="s" x="{box.width / 2:g}" y="28">{below}</text></g>\n'


def _fill(box: GraphBox, most: int, paint: str) -> str:
    if paint in ("time", "bytes"):
        value = box.time_ps if paint == "time" else box.output_bytes
        return f' style="fill:hsl(203 56% {96 - 36 * value / most:.0f}%)"' if value and most else ""
    name = {"cluster": box.cluster, "device": box.device}.get(paint, box.op_type)
    if not name:
        return ""
    return f' style="fill:hsl({zlib.crc32(name.encode("utf-8", "replace")) % 360} 45% 82%)"'


def dot(level: Level, title: str, _paint: str | None = None) -> str:
    """The level for Graphviz, which computes its own layout."""
    head = [f"digraph {_quoted(title)} {{", "  node [shape=box];"]
    boxes = (
        f"  n{number} [label={_quoted(_label(box))}, tooltip={_quoted(box.path)}"
        f"{'' if box.op_type else ', style=rounded'}];"
        for number, box in enumerate(level.boxes)
    )
    edges = (
        f"  n{edge.producer} -> n{edge.consumer}{f' [label={edge.count}]' if edge.count > 1 else ''};"
        for edge in level.edges
    )
    return "\n".join([*chain(head, boxes, edges), "}", ""])


def _label(box: GraphBox) -> str:
    copies = f" x{box.copies}" if box.copies > 1 else ""
    below = box.op_type or units.count(box.nodes, "node")
    time = f", {units.show(box.time_ps, 'ps')}" if box.time_ps else ""
    return f"{box.name}{copies}\n{below}{time}"


def _quoted(text: str) -> str:
    """A string of DOT; its backslash escapes nothing but line breaks."""
    lines = (_plain(line, 1000).replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n"))
    return '"' + "\\n".join(lines) + '"'


def data(level: Level, title: str, _paint: str | None = None) -> str:
    """Boxes and edges with all their data; times in picoseconds, places in pixels."""
    members = {
        "format": FORMAT,
        "graph": title,
        "boxes": [vars(box) for box in level.boxes],
        "edges": [[edge.producer, edge.consumer, edge.count] for edge in level.edges],
        "edges_inside": level.inside,
        "edges_outside": level.outside,
    }
    return json.dumps(members, separators=(",", ":")) + "\n"


def _plain(text: str, most: int) -> str:
    """Text cut to a number of characters, with hidden characters escaped."""
    return escaped(shorten(text, most))


def _text(text: str, most: int) -> str:
    return escape(_plain(text, most))


FORMS = {".svg": svg, ".html": page, ".dot": dot, ".json": data}
"""The writers by file ending."""
