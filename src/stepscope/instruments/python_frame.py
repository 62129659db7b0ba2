"""Python calls by the names of slices: how recorders write the file, the line and the function."""

import re

Frame = tuple[str, int, str]
"""A Python call: file, line (0: not told), function."""

_PYTORCH = re.compile(r"([^\n]+?)\((\d{1,9})\): ([^\n]+)")
_XPLANE = re.compile(r"\$(\S+?)(?::(\d{1,9}))? (.*)", re.DOTALL)
_VIZTRACER = re.compile(r"(.+) \((.+):(\d{1,9})\)", re.DOTALL)


def pytorch_call(name: str) -> Frame | None:
    """The call that PyTorch writes as `train.py(12): step`; None for other names.

    It alone tells the folder as well: nothing in `$train.py:12 step`, as TensorFlow's and JAX's profilers
    write, tells the program's own files from those of a framework.
    """
    found = _PYTORCH.fullmatch(name) if "): " in name else None
    return (found[1], int(found[2]), found[3]) if found else None


def recorded_call(name: str) -> Frame | None:
    """The call that a name tells: `train.py(12): step`, `$train.py:12 step` or `step (train.py:12)`."""
    if frame := pytorch_call(name):
        return frame
    if name.startswith("$") and (found := _XPLANE.fullmatch(name)):
        return (found[1], int(found[2] or 0), found[3])
    if name.endswith(")") and (found := _VIZTRACER.fullmatch(name)):
        return (found[2], int(found[3]), found[1])
    return None
