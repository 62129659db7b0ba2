"""Calls of Python that PyTorch traced (with_stack=True): which functions they are calls of, and which of
those are the program's own: PyTorch tells the folders of files."""

from functools import lru_cache

from stepscope.code_lines import CodeLine
from stepscope.instruments.python_frame import pytorch_call
from stepscope.instruments.step_breakdown import labels

CATEGORY = "python_function"
"""Of the slices of such calls."""


@lru_cache(maxsize=50_000)
def called(name: str, category: str | None) -> CodeLine | None:
    """The function that a slice is a call of, with the line where it begins; None for other slices."""
    frame = pytorch_call(name) if category == CATEGORY else None
    return None if frame is None else CodeLine(frame[0], frame[1] or None, frame[2])


def is_own(name: str) -> bool:
    """Whether a call is of the program's own code: neither of a framework nor a wait in one."""
    return labels.slice_meaning(name, CATEGORY, False, False).label == "python"
