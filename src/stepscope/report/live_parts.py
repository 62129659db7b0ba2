"""What the thread of the steps did in the last seconds, by the stacks in live.json: parts and lines."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stepscope.instruments.step_breakdown import labels
from stepscope.step_labels import LABELS, LOOKS, Label

_FRAMEWORK: tuple[Label, ...] = ("compute", "dispatch")
"""Without a trace of ops, a call of the framework may launch or compute."""


class LivePart(NamedTuple):
    """A part of the time of the thread that runs the steps."""

    label: Label
    share: float
    place: str | None
    """The line of the program with most of it."""


def parts(record: Mapping[str, Any]) -> list[LivePart]:
    """The parts by label, in the order in which labels are listed. Empty where there are no stacks."""
    frames = record.get("frames")
    shares: defaultdict[Label, float] = defaultdict(float)
    places: defaultdict[Label, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for stack in _dicts(record.get("stacks")):
        share, ran = stack.get("share"), stack.get("ran")
        if not isinstance(share, (int, float)) or not 0 < share <= 1:
            continue
        on = list(_frames(stack.get("frames"), frames if isinstance(frames, list) else []))
        meaning = labels.NOTHING
        for function, file, _, code in on:
            meaning = labels.nested_meaning(meaning, labels.frame_meaning(file, function, code))
        place = next(
            (f"{file}:{line} {name}" for name, file, line, code in reversed(on) if code == "program"), ""
        )
        for label, part in labels.shares(meaning.label, ran if isinstance(ran, (int, float)) else None):
            shares[label or "unknown"] += share * part
            places[label or "unknown"][place] += share * part
    total = sum(shares.values())
    return [
        LivePart(label, shares[label] / total, max(places[label], key=places[label].__getitem__) or None)
        for label in LABELS
        if label in shares
    ]


def sentence(found: Sequence[LivePart]) -> str:
    """The largest part of the last seconds, and its line; empty if unknown."""
    most = max(found, key=lambda part: part.share, default=None)
    if most is None or most.label == "unknown":
        return ""
    part = f"{100 * most.share:.0f} % of the last 10 s"
    if most.label in _FRAMEWORK:
        text = f"calls of the framework take {part}"
    elif most.label == "copy":  # the call that fetches a result waits for it first
        text = f"copying data, or waiting for what computes it, takes {part}"
    else:
        text = LOOKS[most.label].takes.format(part=part)
    where = f", in {most.place}" if most.place else ""
    return f"{text[:1].upper()}{text[1:]}{where}."


def _frames(numbers: Any, frames: Sequence[Any]) -> Iterator[tuple[str, str, int, str]]:
    """Function, file, line and whose code it is, from the outermost on; what is damaged is left out."""
    for number in numbers if isinstance(numbers, list) else ():
        frame = frames[number] if isinstance(number, int) and 0 <= number < len(frames) else None
        if isinstance(frame, list) and len(frame) == 4 and isinstance(frame[0], str):
            function, file, line, code = frame
            yield (
                function,
                file if isinstance(file, str) else "",
                line if isinstance(line, int) else 0,
                code if isinstance(code, str) else "unknown",
            )


def _dicts(value: Any) -> Iterator[Mapping[str, Any]]:
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item
