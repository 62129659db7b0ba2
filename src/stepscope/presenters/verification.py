"""A prediction held against a measurement, for the terminal and as JSON."""

from __future__ import annotations

import io
import json

from stepscope import units
from stepscope.instruments.pipeline.verify import Verification
from stepscope.presenters.pipeline import predicted, wrap

FORMAT = 1
"""Version of the JSON form."""


def render(result: Verification, *, width: int, color: bool) -> str:
    """What was changed, what was predicted and what was measured."""
    out = io.StringIO()

    def bold(text: str) -> str:
        return f"\x1b[1m{text}\x1b[0m" if color else text

    out.write(bold("What was changed") + "\n")
    for sentence in result.edits:
        wrap(sentence, out, width, "  ")
    out.write(bold("What it gained") + "\n")
    which = "A step that is not traced" if result.untraced else "A traced step"
    measured = f"{which} took {_ps(result.before_ps)} and takes {_ps(result.after_ps)}: "
    measured += f"{units.show(result.ratio, 'ratio')} of it."
    wrap(measured, out, width, "  ")
    if result.change is None:
        wrap("None of the changes that were predicted is what was made.", out, width, "  ")
        return out.getvalue()
    if result.change.unknown:
        wrap(f"What {result.change.name} gains was not known: {result.change.unknown}.", out, width, "  ")
        return out.getvalue()
    p = result.change.prediction
    wrap(
        f"Predicted for {result.change.name}: {_ps(p.step_ps)} ({_ps(p.low_ps)} to {_ps(p.high_ps)}).",
        out, width, "  ",
    )  # fmt: skip
    held = "The prediction held." if result.as_predicted else "The prediction did not hold."
    if not result.as_predicted:
        faster = result.after_ps < p.low_ps
        held += (
            " The step is shorter than was predicted."
            if faster
            else " The step is longer than was predicted."
        )
    wrap(held, out, width, "  ")
    return out.getvalue()


def to_json(result: Verification, before: str, after: str) -> str:
    """The same for programs; times are integer picoseconds."""
    change = result.change
    return (
        json.dumps(
            {
                "format": FORMAT,
                "before": before,
                "after": after,
                "edits": list(result.edits),
                "before_step_ps": result.before_ps,
                "after_step_ps": result.after_ps,
                "untraced": result.untraced,
                "helped": result.helped,
                "as_predicted": result.as_predicted,
                "change": None if change is None else change.name,
                **predicted(change),
            },
            indent=2,
        )
        + "\n"
    )


def _ps(value: int) -> str:
    return units.show(value, "ps")
