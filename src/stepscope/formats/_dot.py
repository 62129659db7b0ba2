"""DOT, graphviz' language, as XLA dumps it: nodes and edges of a graph, and what their labels say.

The grammar is graphviz': statements in braces, of which nodes, edges and subgraphs count here; styles do not.
A node is called by the first line of its label, below the titles of the subgraphs around it: XLA's own names
of nodes are addresses. In a label of XLA, the first line is the instruction in bold; its opcode is the second
line, unless the name begins with it.
"""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|\#[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)
    |(?P<id>[A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]*|-?(?:\.\d+|\d+(?:\.\d*)?))
    |(?P<text>"(?:[^"\\]|\\.)*")|(?P<html><)|(?P<arrow>->|--)|(?P<sign>[{}\[\];,=:+])""",
    re.VERBOSE | re.DOTALL,
)
_OPCODE = re.compile(r"[A-Za-z][\w-]*(?: [\w-]+)?")
_NUMBERS = re.compile(r"[._-]?\d+(?:\.\d+)*$")


_MOST_DEPTH = 100
_KEYWORDS = ("node", "edge", "graph", "subgraph", "digraph", "strict")
_MOST_EDGES = 5_000_000


class BadDot(ValueError):
    """What is no DOT, and where: offset in the text."""

    def __init__(self, what: str, at: int) -> None:
        super().__init__(f"{what} at {at:,}")
        self.at = at


@dataclass
class DotScope:
    """The graph or a subgraph: its title, that around it, and what was named in it."""

    title: str = ""
    parent: DotScope | None = None
    nodes: list[str] = field(default_factory=list)

    def path(self) -> str:
        """Titles from the outermost subgraph, with slashes."""
        titles: list[str] = []
        scope = self
        while scope.parent is not None:
            titles += [scope.title] if scope.title else []
            scope = scope.parent
        return "".join(f"{title}/" for title in reversed(titles))


@dataclass
class DotNode:
    """A node: its label's lines, whether the first is bold, its tooltip, and where it was first named."""

    id: str
    scope: DotScope
    lines: list[str] = field(default_factory=list)
    bold: bool = False
    tooltip: str = ""


@dataclass
class DotEdge:
    """An edge between nodes' ids. slot: operand of the consumer, where XLA says so; control: no data."""

    producer: str
    consumer: str
    slot: int = 0
    control: bool = False


@dataclass
class Dot:
    """What a file has. cut: why it was not read to its end, and where; None for a whole file."""

    nodes: dict[str, DotNode] = field(default_factory=dict)
    edges: list[DotEdge] = field(default_factory=list)
    cut: BadDot | None = None


def is_dot(head: str) -> bool:
    """Whether text begins as a graph of DOT does: [strict] (graph | digraph) [ID] {."""
    words = _tokens(head)
    try:
        kind, text, _ = next(words, _NOTHING)
        if (kind, text.lower()) == ("id", "strict"):
            kind, text, _ = next(words, _NOTHING)
        if kind != "id" or text.lower() not in ("graph", "digraph"):
            return False
        kind, text, _ = next(words, _NOTHING)
        if kind in ("id", "text", "html"):
            kind, text, _ = next(words, _NOTHING)
    except BadDot:
        return False
    return (kind, text) == ("sign", "{")


Token = tuple[str, str, int]
"""Kind (id, text, html, arrow, sign), what it says, and where."""
_NOTHING: Token = ("", "", 0)


def _tokens(text: str) -> Iterator[Token]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise BadDot(f"what is no word of DOT, {text[at : at + 20]!r}", at)
        kind, content, begun = str(found.lastgroup), found[0], at
        at = found.end()
        if kind == "html":
            at = _html_end(text, begun)
            content = text[begun + 1 : at - 1]
        elif kind == "text":
            content = re.sub(
                r"\\(.)", lambda pair: "\n" if pair[1] in "nlr" else pair[1], content[1:-1], flags=re.DOTALL
            )
        if kind != "skip":
            yield kind, content, begun


def _html_end(text: str, at: int) -> int:
    """Behind the angle bracket that closes the one at `at`."""
    depth = 0
    for bracket in re.compile("[<>]").finditer(text, at):
        depth += 1 if bracket[0] == "<" else -1
        if depth == 0:
            return bracket.end()
    raise BadDot("a label that is not closed", at)


class _Label(HTMLParser):
    """Lines of an HTML label, and whether the first is bold."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = [""]
        self.first_tag = ""
        self.bold = ""
        self._in_bold = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._in_bold = self._in_bold or tag == "b"
        if tag in ("br", "tr", "td"):
            self.lines.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_bold = self._in_bold and tag != "b"

    def handle_data(self, data: str) -> None:
        self.lines[-1] += data
        if self._in_bold and not self.bold:
            self.bold = data


class _DotReader:
    """Reads statements one after the other. chain: the ends of the edge that is read, each some nodes."""

    def __init__(self) -> None:
        self.dot = Dot()
        self.root = self.scope = DotScope()
        self._outer: list[tuple[DotScope, list[list[str]], bool]] = []
        self.chain: list[list[str]] = []
        self.joins = False  # an arrow was read, and its right end was not
        self.new_edges: list[DotEdge] = []
        self.named = ""

    def read(self, tokens: Iterator[Token]) -> None:
        waiting: Token | None = None
        for kind, content, at in tokens:
            if waiting is not None:
                if (kind, content) == ("sign", "="):
                    _, value, _ = next(tokens, ("", "", at))
                    self._attribute(waiting[1], value, "html")
                    waiting = None
                    continue
                self._end(waiting[1])
                waiting = None
                if len(self.dot.edges) > _MOST_EDGES:
                    raise BadDot(f"more than {_MOST_EDGES:,} edges", at)
            if kind in ("id", "text", "html"):
                if kind == "id" and content.lower() in _KEYWORDS:
                    self._finish()
                    self.named = content.lower()
                else:
                    waiting = kind, content, at
            elif kind == "arrow":
                self.joins = True
            elif content == "{":
                self._open(at)
            elif content == "}":
                self._close(at)
            elif content == "[":
                self._attributes(tokens, at)
                if self.named:
                    self._finish()
            elif content == ":":
                next(tokens, None)  # a port of the node
            elif content in ";,":
                self._finish()

    def _end(self, node: str) -> None:
        """A node as a statement, or as an end of an edge; after subgraph, its id."""
        if self.named:
            return
        if node not in self.dot.nodes:
            self.dot.nodes[node] = DotNode(node, self.scope)
        self.scope.nodes.append(node)
        self._join([node])

    def _join(self, nodes: list[str]) -> None:
        if not self.joins:
            self._finish()
        elif self.chain:
            pairs = itertools.product(self.chain[-1], nodes)
            new = [DotEdge(*pair) for pair in itertools.islice(pairs, _MOST_EDGES + 1)]
            self.new_edges += new
            self.dot.edges += new
        self.joins = False
        self.chain.append(nodes)

    def _finish(self) -> None:
        self.chain, self.new_edges, self.joins, self.named = [], [], False, ""

    def _open(self, at: int) -> None:
        if len(self._outer) > _MOST_DEPTH:
            raise BadDot(f"more than {_MOST_DEPTH} subgraphs within each other", at)
        self._outer.append((self.scope, self.chain, self.joins))
        if len(self._outer) > 1:
            self.scope = DotScope(parent=self.scope)
        self._finish()

    def _close(self, at: int) -> None:
        if not self._outer:
            raise BadDot("a brace that closes nothing", at)
        inner = self.scope
        self.scope, self.chain, self.joins = self._outer.pop()
        self.named = ""
        if inner is not self.scope:
            self.scope.nodes += inner.nodes
            self._join(inner.nodes)

    def _attributes(self, tokens: Iterator[Token], at: int) -> None:
        """A list of attributes, of what was read before it."""
        name, after, of = "", False, self.named
        for kind, content, _ in tokens:
            if (kind, content) == ("sign", "]"):
                return
            if kind == "sign":
                after = content == "="
            elif after:
                if not of or of == "graph":
                    self._attribute(name, content, kind)
                after = False
            else:
                name = content
        raise BadDot("attributes that are not closed", at)

    def _attribute(self, name: str, value: str, kind: str) -> None:
        if self.new_edges:
            for edge in self.new_edges:
                if name == "headlabel" and value.isdigit() and len(value) < 9:
                    edge.slot = int(value)
                elif name == "label" and value == "ctrl":
                    edge.control = True
        elif self.chain and len(self.chain[-1]) == 1 and name in ("label", "tooltip"):
            node = self.dot.nodes[self.chain[-1][0]]
            if name == "tooltip":
                node.tooltip = value
            else:
                node.lines, node.bold = _label_lines(value, kind)
        elif name == "label" and not self.chain:
            label = _Label(value)
            self.scope.title = (label.bold or label.lines[0]).strip()


def _label_lines(label: str, kind: str) -> tuple[list[str], bool]:
    """Lines of a label, and whether the first is bold. Fields of a record are lines."""
    if kind == "html":
        found = _Label(label)
        lines = [line.strip() for line in found.lines]
        return [line for line in lines if line], bool(found.bold) and lines[0] == found.bold.strip()
    fields = re.split(r"[{}|\n]", re.sub(r"<[^<>]*>", "", label)) if label[:1] in "{<" else label.split("\n")
    return [field.strip() for field in fields if field.strip()], False


def parse(text: str) -> Dot:
    """The graph of a text. What was read before damage stays, and `cut` says what that is."""
    reader = _DotReader()
    try:
        reader.read(_tokens(text))
        if reader._outer:
            reader.dot.cut = BadDot("a graph that is not closed", len(text))
    except BadDot as error:
        reader.dot.cut = error
    return reader.dot


def title(node: DotNode) -> str:
    """What a node is called in its scope."""
    return node.lines[0] if node.lines else node.id


def op_of(node: DotNode) -> str:
    """The type of a node: of XLA its opcode, of others what its label begins with."""
    name = title(node)
    if not node.bold:
        return name if node.lines else "node"
    if name.startswith("Parameter "):
        return "parameter"
    if len(node.lines) > 1 and _OPCODE.fullmatch(node.lines[1]):
        return node.lines[1]
    return _NUMBERS.sub("", name) or name


def facts_of(node: DotNode) -> dict[str, str]:
    """What a tooltip of XLA says of an instruction: op_name, and others by their names."""
    first, *others = html.unescape(node.tooltip).strip().split("\n")
    found = {"op_name": first} if first and node.bold else {}
    for line in others:
        key, colon, value = line.partition(": ")
        if colon:
            found[key.strip()] = value.strip()
    return found
