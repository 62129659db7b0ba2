"""Lines of a program: which of the frames that made an op, or took memory, is the program's own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from stepscope.escapes import printable

_FRAMEWORKS = r"tensorflow|tensorflow_core|tensorflow_estimator|keras|tf_keras|torch|jax|jaxlib"
_BUILT_ON_THEM = (
    r"torch_xla|pytorch_lightning|lightning|accelerate|transformers|horovod|flax|optax|haiku|chex|equinox"
)
_FRAMEWORK = re.compile(
    r"(^|[/\\])"
    rf"(site-packages|dist-packages|{_FRAMEWORKS}|torchinductor_[^/\\]+|stepscope[/\\]capture)[/\\]"
)
"""Folders of frameworks, of the code that torch.compile writes, and of the recorder that stands between."""
_FRAMEWORK_OR_LIBRARY = re.compile(rf"(^|[/\\])({_FRAMEWORKS}|{_BUILT_ON_THEM})[/\\]")

_INSTALLED = re.compile(r"(^|[/\\])(site-packages|dist-packages)[/\\]")


@dataclass(frozen=True)
class CodeLine:
    """A line of the program."""

    file: str
    line: int | None
    function: str | None


def parts(file: str) -> tuple[str, ...]:
    """The folders of a path and its file. Programs of Windows have paths of their own kind."""
    on_windows = "\\" in file and ("/" not in file or file[1:2] == ":")
    return (PureWindowsPath(file) if on_windows else PurePosixPath(file)).parts


def is_framework(file: str) -> bool:
    """True for files of TensorFlow and its like, in which every op is made in the end."""
    return not file or file.startswith("<") or _FRAMEWORK.search(file) is not None


def is_framework_or_library(file: str) -> bool:
    """Whether a file is a framework's or of a library built on one, by the name of its folder. What else is
    installed may be the program."""
    return _FRAMEWORK_OR_LIBRARY.search(file) is not None


def innermost(frames: list[CodeLine]) -> CodeLine | None:
    """The innermost line that is the program's own; the innermost of all where none is. frames: the outermost
    first."""
    # A program may lie in a folder that is called torch or jax: what counts is the way from where it begins.
    home = frames[0].file[: _folder(frames[0].file)] if frames else ""
    if (not home.startswith("/") and home[1:2] != ":") or _INSTALLED.search(home):
        home = ""  # what is not absolute begins with a package
    program_frames = [
        frame
        for frame in frames
        if not is_framework(frame.file[len(home) :] if home and frame.file.startswith(home) else frame.file)
    ]
    found = program_frames or frames
    return found[-1] if found else None


def _folder(file: str) -> int:
    """How many characters of a path are its folder, with the separator."""
    return max(file.rfind("/"), file.rfind("\\")) + 1


def frame_line(frames: Sequence[Sequence[Any]], number: int) -> tuple[str | None, int | None]:
    """File and line of a frame of a compiled program; frames are counted from 1, and 0 is none."""
    if not 0 < number <= len(frames):
        return None, None
    file, line = frames[number - 1][:2]
    return (printable(file) or None), (line or None)
