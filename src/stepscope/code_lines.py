"""Lines of a program: which of the frames that made an op, or took memory, is the program's own."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FRAMEWORK = re.compile(
    r"(^|[/\\])"
    r"(site-packages|dist-packages|tensorflow|keras|tf_keras|torch|jax|jaxlib|torchinductor_[^/\\]+)[/\\]"
)
"""Folders of frameworks, and of the code that torch.compile writes."""


@dataclass(frozen=True)
class CodeLine:
    """A line of the program."""

    file: str
    line: int | None
    function: str | None


def is_framework(file: str) -> bool:
    """True for files of TensorFlow and its like, in which every op is made in the end."""
    return not file or file.startswith("<") or _FRAMEWORK.search(file) is not None


def innermost(frames: list[CodeLine]) -> CodeLine | None:
    """The innermost line that is the program's own; the innermost of all where none is."""
    own = [frame for frame in frames if not is_framework(frame.file)]
    found = own or frames
    return found[-1] if found else None
