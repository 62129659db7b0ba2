"""The labels of the time of a step, and how each is said and drawn.

step_labels.json has all that is told of a label, in the order in which labels are listed; the page is built
from the same file. A new label is one entry there and its name here.
"""

import json
from pathlib import Path
from typing import Literal, NamedTuple, get_args

Label = Literal[
    "input",
    "compile",
    "compute",
    "communication",
    "copy",
    "dispatch",
    "setup",
    "python",
    "wait",
    "idle",
    "unknown",
]
LABELS: tuple[Label, ...] = get_args(Label)
"""All of them, in the order in which they are listed."""


class LabelStyle(NamedTuple):
    """How a label is said and drawn."""

    about: str
    """What counts to it."""
    word: str
    """What takes time."""
    takes: str
    """A sentence about {part} of a step that goes to it."""
    limits: str
    """A sentence about what it limits."""
    mark: str
    """The character of its part of a bar, which tells parts apart without colour. Neighbours in a bar differ
    in both."""
    terminal: str
    """Its colour in a terminal, as in an escape code."""
    light: str
    """Its colour in a light page."""
    dark: str
    """Its colour in a dark page."""
    on: str | None = None
    """What is written on it: dark, or faint for what is dark in a light page only."""


LOOKS: dict[Label, LabelStyle] = {
    label: LabelStyle(**look)
    for label, look in json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")).items()
}
"""How each label is said and drawn."""
