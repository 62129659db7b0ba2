"""How sentences name what they speak of: hosts, ops, steps, and lines of the program."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from stepscope import kernel_names
from stepscope.code_lines import CodeLine, parts
from stepscope.instruments.causes.judgement import Judgement

_MOST = 40
"""Characters of an op's name within a sentence."""


def host_of(name: str) -> str:
    """A host, also one whose recorder gave it no name."""
    return "a host without a name" if name == "unknown" else name


def shortened(name: str) -> str:
    """The name of an op: kernels of GPUs have names of hundreds of characters."""
    if len(name) <= _MOST:
        return name
    return kernel_names.sentence_name(name, _MOST) or f"{name[:24]}…{name[-15:]}"


def distinct_names(names: Sequence[str]) -> list[str]:
    """Names of different ops for one sentence."""
    return kernel_names.distinct_names(names, shortened, _MOST)


def endings(paths: Iterable[str]) -> dict[str, str]:
    """The end of each path, as long as it takes to tell it from the others."""
    short_names: dict[str, str] = {}
    left = {path: parts(path) or (path,) for path in paths}
    length = 1
    while left:
        ends = {path: str(PurePath(*folders[-length:])) for path, folders in left.items()}
        shared = Counter(ends.values())
        done = {path for path, end in ends.items() if shared[end] == 1 or length >= len(left[path])}
        short_names |= {path: ends[path] for path in done}
        left = {path: folders for path, folders in left.items() if path not in done}
        length += 1
    return short_names


RUN = "recorded run"
"""A run of a session of which nothing else of its step was recorded."""


def unit_of(judgement: Judgement) -> str:
    """What the steps of a host are called."""
    return "batch" if judgement.serves else RUN if judgement.of_runs else "step"


def line_of(place: CodeLine) -> str:
    """A line by its file, without folders: train.py:69."""
    name = (parts(place.file) or ("",))[-1]
    return name if place.line is None else f"{name}:{place.line}"


def place_of(place: CodeLine) -> str:
    """A line with the function that it is in: train.py:69 `main`."""
    return line_of(place) + (f" `{function_of(place.function)}`" if place.function else "")


def function_of(name: str) -> str:
    """A function's name without the class or function that contains it."""
    return name.rpartition(".")[2]


def listed(words: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
