"""A level of a graph as a file: SVG that any viewer opens, DOT for Graphviz, JSON for programs."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from html import escape
from itertools import chain

from stepscope import units
from stepscope.hidden import escaped
from stepscope.instruments.graphs import HEIGHT, Box, Level

FORMAT = 1
_ROOM = 20.0
_LETTERS = 7.0
_STYLE = """text{font:12px system-ui,sans-serif;text-anchor:middle;fill:#10151a}
.s{font-size:10px;fill:#4a545d}rect{stroke:#5c6872;fill:#f4f6f7}.o{stroke-width:1.6}path{fill:none;stroke:#5c6872;stroke-opacity:.45}
svg{background:#fff}"""


def svg(level: Level, title: str) -> str:
    """The boxes and edges of a level. Colour is the share of the time, or else the op type."""
    return "".join(_svg(level, title))


def _svg(level: Level, title: str) -> Iterator[str]:
    wide = max((box.x + box.width for box in level.boxes), default=0.0) + 2 * _ROOM
    high = max((box.y + HEIGHT for box in level.boxes), default=0.0) + 2 * _ROOM
    most = max((box.time_ps for box in level.boxes), default=0)
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-_ROOM:g} {-_ROOM:g} {wide:g} {high:g}" '
    yield f'width="{wide:g}" height="{high:g}">\n<title>{_text(title, 300)}</title>\n'
    yield f"<style>{_STYLE}</style>\n"
    for edge in level.edges:
        a, b = level.boxes[edge.producer], level.boxes[edge.consumer]
        x0, y0, x1, y1 = a.x + a.width / 2, a.y + HEIGHT, b.x + b.width / 2, b.y
        bend = max(18.0, abs(y1 - y0) / 2.5)
        yield f'<path d="M{x0:g} {y0:g}C{x0:g} {y0 + bend:g} {x1:g} {y1 - bend:g} {x1:g} {y1:g}" '
        yield f'stroke-width="{min(edge.count.bit_length(), 6)}">'
        edges = units.count(edge.count, "edge")
        yield f"<title>{_text(a.path, 120)} → {_text(b.path, 120)}: {edges}</title></path>\n"
    for box in level.boxes:
        yield from _box(box, most)
    yield "</svg>\n"


def _box(box: Box, most: int) -> Iterator[str]:
    size = f'width="{box.width:g}" height="{HEIGHT:g}" rx="{4 if box.op_type else 9}"'
    yield f'<g transform="translate({box.x:g} {box.y:g})"><title>{_text(box.path, 300)} · '
    time = units.show(box.time_ps, "ps") if box.time_ps else ""
    yield f"{units.count(box.nodes, 'node')}{' · ' * bool(time)}{time}</title>"
    if box.copies > 1:
        yield f'<rect x="4" y="4" {size}/>'
    edge = ' class="o"' if box.can_open else ""
    yield f"<rect {size}{_fill(box, most)}{edge}/>"
    name = _text(box.name, max(int(box.width / _LETTERS), 3)) + (
        f" \u00d7{box.copies}" if box.copies > 1 else ""
    )
    below = time or box.op_type or units.count(box.nodes, "node")
    yield f'<text x="{box.width / 2:g}" y="15">{name}</text>'
    below = _text(below, max(int(box.width / 6), 3))
    yield f'<text class="s" x="{box.width / 2:g}" y="28">{below}</text></g>\n'


def _fill(box: Box, most: int) -> str:
    if most:
        return f' style="fill:hsl(203 56% {96 - 36 * box.time_ps / most:.0f}%)"' if box.time_ps else ""
    if not box.op_type:
        return ""
    return f' style="fill:hsl({zlib.crc32(box.op_type.encode("utf-8", "replace")) % 360} 45% 85%)"'


def dot(level: Level, title: str) -> str:
    """The same for Graphviz, which makes its own layout."""
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


def _label(box: Box) -> str:
    copies = f" x{box.copies}" if box.copies > 1 else ""
    below = box.op_type or units.count(box.nodes, "node")
    time = f", {units.show(box.time_ps, 'ps')}" if box.time_ps else ""
    return f"{box.name}{copies}\n{below}{time}"


def _quoted(text: str) -> str:
    """A string of DOT; a line break is the only thing that its backslash may mean."""
    lines = (_plain(line, 1000).replace("\\", "\\\\").replace('"', '\\"') for line in text.split("\n"))
    return '"' + "\\n".join(lines) + '"'


def data(level: Level, title: str) -> str:
    """Boxes and edges with all that is known of them; times are picoseconds, places are pixels."""
    told = {
        "format": FORMAT,
        "graph": title,
        "boxes": [vars(box) for box in level.boxes],
        "edges": [[edge.producer, edge.consumer, edge.count] for edge in level.edges],
        "edges_inside": level.inside,
        "edges_outside": level.outside,
    }
    return json.dumps(told, separators=(",", ":")) + "\n"


def _plain(text: str, most: int) -> str:
    """Text whose hidden characters are escapes, cut in the middle: names of ops differ at both ends."""
    half = most // 2
    return escaped(text if len(text) <= most else f"{text[:half]}…{text[-half:]}")


def _text(text: str, most: int) -> str:
    return escape(_plain(text, most))


FORMS = {".svg": svg, ".dot": dot, ".json": data}
"""What can be written, by the ending of the file."""
