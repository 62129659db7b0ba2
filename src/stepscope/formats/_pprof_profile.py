"""The message that pprof's files hold: samples with their stacks, read field by field."""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from stepscope import protobuf
from stepscope.errors import LimitReached
from stepscope.formats._profile_events import MOST_DEPTH
from stepscope.protobuf import fields

_MOST_ENTRIES = 5_000_000
"""Samples, places, functions and texts that are read: Python holds them all."""


class PprofFrame(NamedTuple):
    """A call. file and line are where it is at work."""

    function: str
    file: str | None
    line: int | None

    @property
    def name(self) -> str:
        """As other profiles name calls: step (train.py:12)."""
        if self.file is None:
            return self.function
        return f"{self.function} ({self.file}{f':{self.line}' if self.line else ''})"


class PprofSample(NamedTuple):
    """A stack as numbers of its places, the innermost first, and its values and labels."""

    places: tuple[int, ...]
    numbers: tuple[int, ...]
    labels: dict[str, str]

    def values(self, place: int) -> int:
        """The value of a type; 0 where the sample has fewer values than there are types."""
        return self.numbers[place] if place < len(self.numbers) else 0


@dataclass
class PprofProfile:
    """A profile with its texts in place."""

    types: list[tuple[str, str]] = field(default_factory=list)
    """What the values of samples are: kind and unit."""
    samples: list[PprofSample] = field(default_factory=list)
    period: int = 0
    period_type: tuple[str, str] = ("", "")
    default: str = ""
    cut: bool = False
    """It ends within a field, or holds something else than fields."""
    unnamed: int = 0
    """Places that samples name and that have no name, or do not exist."""
    _frames: dict[int, list[PprofFrame]] = field(default_factory=dict)
    """The calls of a place, the outermost first: more than one where calls were inlined."""

    def stack(self, sample: PprofSample) -> list[PprofFrame]:
        """The calls of a sample, the outermost first."""
        found: list[PprofFrame] = []
        for place in reversed(sample.places):
            frames = self._frames.get(place)
            if frames is None:
                self.unnamed += 1
                frames = self._frames[place] = [PprofFrame(f"place {place}", None, None)]
            found += frames
        return found


def read(data: bytes) -> PprofProfile:
    """The profile in these bytes, as far as they are one."""
    return _PprofReader().read(memoryview(data))


class _PprofReader:
    """Collects the tables that a profile's parts refer to, then puts them in place."""

    def __init__(self) -> None:
        self.profile = PprofProfile()
        self.texts: list[str] = []
        self.functions: dict[int, tuple[int, int]] = {}
        self.places: dict[int, tuple[int, int, list[tuple[int, int]]]] = {}
        self.files: dict[int, int] = {}
        self.types: list[tuple[int, int]] = []
        self.samples: list[tuple[tuple[int, ...], tuple[int, ...], list[tuple[int, int, int]]]] = []
        self.period_type = (0, 0)
        self.default = 0

    def read(self, data: memoryview) -> PprofProfile:
        for entries, (number, wire, body, cut) in enumerate(fields(data)):
            if entries > _MOST_ENTRIES:
                raise LimitReached(
                    "The profile has too many entries.",
                    seen=f"more than {_MOST_ENTRIES:,}",
                    todo="record for a shorter time, or at a lower rate",
                )
            if number == 0 or cut:
                self.profile.cut = True
                break
            self._take(number, wire, body)
        return self._placed()

    def _take(self, number: int, wire: int, body: memoryview) -> None:
        if wire == 0:
            value = protobuf.signed(body)
            if number == 12:
                self.profile.period = value
            elif number == 14:
                self.default = value
            return
        if wire != 2:
            return
        if number == 1:
            self.types.append(_value_type(body))
        elif number == 11:
            self.period_type = _value_type(body)
        elif number == 2:
            self.samples.append(_sample(body))
        elif number == 3:
            numbers = _numbers(body)
            self.files[numbers.get(1, 0)] = numbers.get(5, 0)
        elif number == 4:
            numbers = _numbers(body)
            self.places[numbers.get(1, 0)] = (numbers.get(2, 0), numbers.get(3, 0), _frame_lines(body))
        elif number == 5:
            numbers = _numbers(body)
            self.functions[numbers.get(1, 0)] = (numbers.get(2, 0), numbers.get(4, 0))
        elif number == 6:
            self.texts.append(protobuf.text(body))

    def _placed(self) -> PprofProfile:
        found = self.profile
        found.types = [(self._text(kind), self._text(unit)) for kind, unit in self.types]
        found.period_type = (self._text(self.period_type[0]), self._text(self.period_type[1]))
        found.default = self._text(self.default)
        for number, (mapping, address, lines) in self.places.items():
            frames = [self._frame(function, line) for function, line in reversed(lines[:MOST_DEPTH])]
            if not frames:
                file = self._text(self.files.get(mapping, 0)).rpartition("/")[2]
                frames = [PprofFrame(f"{file}+{address:#x}" if file else f"{address:#x}", None, None)]
            found._frames[number] = frames
        for places, values, labels in self.samples:
            sample_labels = {
                self._text(key): self._text(text) if text or not value else str(value)
                for key, text, value in labels
            }
            found.samples.append(PprofSample(places, values, sample_labels))
        return found

    def _frame(self, function: int, line: int) -> PprofFrame:
        name, file = self.functions.get(function, (0, 0))
        if function not in self.functions:
            self.profile.unnamed += 1
        function_name = self._text(name) or f"function {function}"
        return PprofFrame(function_name, self._text(file) or None, line if 0 < line < 2**31 else None)

    def _text(self, number: int) -> str:
        return self.texts[number] if 0 <= number < len(self.texts) else ""


def _value_type(body: memoryview) -> tuple[int, int]:
    """What is counted, and its unit: numbers of texts."""
    numbers = _numbers(body)
    return numbers.get(1, 0), numbers.get(2, 0)


def _frame_lines(location: memoryview) -> list[tuple[int, int]]:
    """Function and line of each frame at an address, the inlined ones first."""
    lines = [_numbers(inner) for number, wire, inner, _ in fields(location) if number == 4 and wire == 2]
    return [(line.get(1, 0), line.get(2, 0)) for line in lines]


def _sample(body: memoryview) -> tuple[tuple[int, ...], tuple[int, ...], list[tuple[int, int, int]]]:
    places: deque[int] = deque(maxlen=MOST_DEPTH)
    values: list[int] = []
    labels: list[tuple[int, int, int]] = []
    for number, wire, part, _ in fields(body):
        if number == 1:
            places.extend(protobuf.numbers(part) if wire in (0, 2) else ())
        elif number == 2 and len(values) < 64:
            values += map(protobuf.sign, protobuf.numbers(part) if wire in (0, 2) else ())
        elif number == 3 and wire == 2 and len(labels) < 64:
            label_fields = _numbers(part)
            labels.append(
                (label_fields.get(1, 0), label_fields.get(2, 0), protobuf.sign(label_fields.get(3, 0)))
            )
    return tuple(places), tuple(values[:64]), labels


def _numbers(body: memoryview) -> dict[int, int]:
    """The numbers of a message, the last one of each field."""
    return {number: protobuf.number(part) for number, wire, part, _ in fields(body) if wire == 0}
