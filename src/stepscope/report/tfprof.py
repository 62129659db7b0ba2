"""A view of tfprof as a report: its lines as a tree with their figures; and what to know about options."""

from collections.abc import Sequence

from stepscope import units
from stepscope._core import TfprofOptions
from stepscope.instruments.tfprof import TfprofModel, ViewOutput, columns, orders
from stepscope.instruments.tfprof.tree import FIGURES, ViewNode, tree
from stepscope.report.parts import Column, Report, Section, Tree
from stepscope.report.parts import TreeNode as Line
from stepscope.units import Unit

_QUESTIONS = {
    "scope": "Which name scopes hold the figures?",
    "graph": "Which ops hold the figures, with all that they take from?",
    "op": "Which op types hold the figures?",
    "code": "Which calls of the program hold the figures?",
}
_PS_PER_MICRO = 10**6


def tree_of(model: TfprofModel, view: str, options: TfprofOptions) -> ViewNode:
    """A view of a model as a tree, with the figures that the options select."""
    rows, _ = model.outline(view, options)
    return tree(rows, tuple(options.select), model.ticks_per_us)


def build(view: str, root: ViewNode, notes: Sequence[str] = ()) -> Report:
    """The report of a view. Each selected figure comes twice: with all that is below a line, and its own."""
    meanings = columns()
    words = [word for word in root.select if word in FIGURES]
    heads = [
        Column(f"{whose}_{word}", _unit(word), f"{title} {word}", meanings[word])
        for word in words
        for whose, title in (("total", "All"), ("own", "Own"))
    ]
    lines = [
        Line(
            node.level,
            node.name,
            tuple(
                _value(word, getattr(figures, FIGURES[word][0]))
                for word in words
                for figures in (node.total, node.own)
            ),
            about="|".join(node.types) if "op_types" in root.select else "",
        )
        for node in root.walk()
    ]
    shown = units.count(len(lines), "line")
    section = Section(
        view, f"The {view} view", _QUESTIONS[view], tuple(notes), tree=Tree(tuple(heads), tuple(lines))
    )
    return Report(f"tfprof: {view} view, {shown}", (), (section,))


def _unit(word: str) -> Unit:
    if word.endswith("micros"):
        return "ps"
    return "bytes" if word.endswith("bytes") else "int"


def _value(word: str, figure: float) -> int:
    return round(figure * _PS_PER_MICRO) if _unit(word) == "ps" else round(figure)


def advice(words: dict[str, str], answer: ViewOutput) -> list[str]:
    """What to know about options that TensorFlow takes without a word and that do not do what they seem to.

    words: the options as they were typed.
    """
    sentences = []
    types = words.get("account_type_regexes", "").split(",")
    if "Variable" in types and "(--/0 params" in answer.text:
        sentences.append(
            "-account_type_regexes Variable: expressions match whole types, and variables are VariableV2 or"
            " VarHandleOp; Variable.*,VarHandleOp finds all"
        )
    sentences += [
        f"-account_type_regexes {word}: devices are in lower case here: {word.lower()}"
        for word in types
        if "CPU:" in word or "GPU:" in word
    ]
    order = words.get("order_by", "name")
    if order not in orders():
        sentences.append(
            f"-order_by {order}: there is no such order, so lines come by name; choose one of "
            f"{', '.join(orders())}"
        )
    selected = words.get("select", "").split(",")
    if "num_hidden_ops" in selected:
        sentences.append("-select num_hidden_ops: tfprof has never shown anything for this word")
    unknown = [word for word in selected if word not in ("", "num_hidden_ops", *columns())]
    if unknown:
        sentences.append(
            f"-select {','.join(unknown)}: there is no such column; choose among {', '.join(columns())}"
        )
    return sentences
