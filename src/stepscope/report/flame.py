"""Flame graphs of Python as sections: one for each thread."""

from collections.abc import Sequence

from stepscope import units
from stepscope.instruments.flame import Flame, FlameBox, FlameFrame
from stepscope.library import statements
from stepscope.report.parts import Column, Section, SourceLine, Tree, TreeNode

_MOST_OTHERS = 3
"""Threads that are drawn besides those that run the steps."""
_COLUMNS = (
    Column("time_ps", "ps", "Time", "with all that it calls"),
    Column("share", "ratio", "Share", "of the thread's time"),
    Column("own_ps", "ps", "Own time", "while it calls nothing in Python"),
)
NOTE = (
    "A box is a function, or a line of the program, within what called it, and as wide as its time; larger "
    "ones come first, whatever ran first. Frames of libraries that only pass a call on are one box. "
    "`stepscope export -o stacks.speedscope.json` writes all of them."
)


def section(flames: Sequence[Flame]) -> Section | None:
    """All threads that are drawn; None when there are no samples."""
    mains = [flame for flame in flames if flame.steps is not None]
    others = [flame for flame in flames if flame.steps is None]
    shown = [*mains, *others[: _MOST_OTHERS if mains else _MOST_OTHERS + 1]]
    if not shown:
        return None
    several = len({(flame.run_id, flame.host_id) for flame in flames}) > 1
    parts = tuple(_thread(flame, several) for flame in shown)
    answer: tuple[str, ...] = ()
    if len(shown) < len(flames):
        more = units.count(len(flames) - len(shown), "more thread")
        answer = (f"{more} used less processor time; `stepscope export` writes the stacks of all.",)
    return Section("stacks", "Python stacks", "Which Python calls take the time?", answer, parts=parts)


def _thread(flame: Flame, several: bool) -> Section:
    name = flame.thread or "(thread without a name)"
    subject = f"{' '.join(dict.fromkeys((flame.run_id, flame.host_id)))} {name}" if several else name
    title = "The thread that runs the steps" if flame.steps is not None else "Thread"
    tree = Tree(_COLUMNS, tuple(_node(box, flame) for box in flame.boxes), NOTE, "time_ps")
    sql = statements.text("stacks_in_steps" if flame.steps is not None else "thread_stacks")
    return Section("flame", title, "", tuple(_sentences(flame)), sql=sql, tree=tree, subject=subject)


def _sentences(flame: Flame) -> list[str]:
    time = units.show(flame.time_ps, "ps")
    if flame.steps is None:
        sentence = f"{time} of samples, inside and outside steps."
    else:
        covered = units.show(flame.time_ps / flame.steps_ps, "ratio")
        them = units.agree(flame.steps, "the step", "the steps")
        sentence = (
            f"{time} of samples in {units.count(flame.steps, 'step')}: {covered} of the time of {them}."
        )
    if not flame.folded:
        return [sentence]
    each = units.agree(flame.folded, "which takes", "which take")
    least = units.show(flame.least_ps / flame.time_ps, "ratio")
    less = f"less than {least}" + ("" if flame.folded == 1 else " each")
    return [sentence, f"Folded: {units.count(flame.folded, 'frame')}, {each} {less}."]


def _node(box: FlameBox, flame: Flame) -> TreeNode:
    values = (box.time_ps, box.time_ps / flame.time_ps, box.own_ps)
    about = ", ".join(
        f"{label} {units.show(time_ps / box.time_ps, 'ratio')}"
        for label, time_ps in sorted(box.labels.items(), key=lambda item: (-item[1], item[0]))
    )
    if not box.frames:
        name = units.count(box.folded, "smaller frame")
        return TreeNode(box.depth, name, (*values[:2], None), about=about, kind="folded")
    first, last = box.frames[0], box.frames[-1]
    between = len(box.frames) - 2
    name = first.function if first is last else f"{first.function} → {last.function}"
    name += f" (and {between} between)" if between > 0 else ""
    at, place = _place(last)
    about = "; ".join(part for part in (place, about) if part)
    return TreeNode(box.depth, name, values, at, about=about, kind=first.code)


def _place(frame: FlameFrame) -> tuple[SourceLine | None, str]:
    if frame.file is None:
        return None, ""
    if frame.line is None:
        return None, frame.file
    return SourceLine(frame.file, frame.line), ""
