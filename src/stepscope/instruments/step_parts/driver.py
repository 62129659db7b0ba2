"""The thread that drives the steps, and what its slices say it does at each instant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stepscope.instruments.step_parts import labels
from stepscope.instruments.step_parts.labels import Meaning
from stepscope.instruments.step_parts.sweep import Segment

Row = tuple[int, int, str, str | None, bool, bool]
"""Begin, end, name, category, whether it names an op, whether a tf.function was traced in it."""

SHORT_PS = 500_000_000
"""Copying between two calls that takes no longer is part of launching them: more would be what a call takes
or gives, moved in bulk."""


def choose(candidates: Iterable[tuple[int, str, int, int]]) -> int | None:
    """The driving thread of a source: of track, its name, how many steps begin on it, and how many slices
    it has that only such a thread has. None when no thread has any."""
    best = max(
        (
            (steps, _is_main(name), calls, -track)
            for track, name, steps, calls in candidates
            if steps or calls
        ),
        default=None,
    )
    return None if best is None else -best[3]


def _is_main(name: str) -> bool:
    plain = name.lower()
    return plain.startswith(("python", "main")) or "(python)" in plain or plain.endswith("mainthread")


def segments(rows: Iterable[Row]) -> list[Segment]:
    """What a thread does, from its slices in order of begin, outer ones first. Stretches are disjoint;
    where no slice says anything there is none. Slices that cross, as those of a thread should not, are
    beside each other, and the later one decides: so reading a thread bit by bit changes nothing."""
    found: list[Segment] = []
    stack: list[tuple[int, Meaning]] = []  # end, what it stands for with all around it
    at = 0
    rows = list(rows)
    compiled = _compiled(rows)

    def until(moment: int) -> None:
        nonlocal at
        if moment > at:
            if stack and (label := stack[-1][1].label) is not None:
                found.append(Segment(at, moment, label))
            at = moment

    for number, (begin, end, name, category, is_op, traced) in enumerate(rows):
        while stack and stack[-1][0] <= begin:
            until(stack[-1][0])
            stack.pop()
        until(begin)
        meaning = labels.of_slice(name, category, is_op, traced or number in compiled, end - begin)
        around = next((outer for until_ps, outer in reversed(stack) if until_ps >= end), labels.NOTHING)
        stack.append((end, labels.within(around, meaning)))
    while stack:
        until(stack[-1][0])
        stack.pop()
    return found


def _compiled(rows: Sequence[Row]) -> set[int]:
    """Numbers of the calls of jitted functions in which something was compiled. JAX traces the function
    before that, in slices that do not say so."""
    open_: list[tuple[int, int]] = []  # end and number of such calls
    found: set[int] = set()
    for number, (begin, end, name, _, _, _) in enumerate(rows):
        while open_ and open_[-1][0] <= begin:
            open_.pop()
        if open_ and labels.builds(name):
            found.update(one for _, one in open_)
        if name.startswith("PjitFunction("):
            open_.append((end, number))
    return found


def joined(found: Iterable[Segment]) -> list[Segment]:
    """The same with neighbours of one label made one."""
    kept: list[Segment] = []
    for one in found:
        if kept and kept[-1].label == one.label and kept[-1].to_ps == one.from_ps:
            kept[-1] = Segment(kept[-1].from_ps, one.to_ps, one.label)
        else:
            kept.append(one)
    return kept


def launching(stacks: Sequence[Segment], slices: Sequence[Segment]) -> list[Segment]:
    """The samples' segments, in which copying between two calls is launching where it takes no longer than
    SHORT_PS: a session that is run for one value after the other spends its time around its runs, in the
    lines that convert what it takes and gives."""
    found: list[Segment] = []
    number = 0
    for one in stacks:
        if one.label != "copy":
            found.append(one)
            continue
        at = one.from_ps
        while number < len(slices) and slices[number].to_ps <= at:
            number += 1
        ahead = number
        while at < one.to_ps:
            before = slices[ahead - 1].to_ps if ahead else None
            after = slices[ahead].from_ps if ahead < len(slices) else None
            until = one.to_ps if after is None else min(max(after, at), one.to_ps)
            short = before is not None and after is not None and after - before <= SHORT_PS
            if until > at:
                found.append(Segment(at, until, "dispatch" if short else "copy"))
            if after is None:
                break
            at = min(max(slices[ahead].to_ps, until), one.to_ps)
            if at > until:
                found.append(Segment(until, at, "copy"))
            ahead += 1
    return joined(found)
