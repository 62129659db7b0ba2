"""The program's line for each stage, from the capture, and the same line after a change."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from stepscope import strict_json
from stepscope.code_lines import CodeLine, is_framework_or_library
from stepscope.instruments.pipeline.stages import FUSED, PipelineStage, placed

AUTOTUNE = "tf.data.AUTOTUNE"
ANY_ORDER = "deterministic=False"

CUT = 200
"""Characters of a line that a capture stores; the rest of a longer line is unknown."""
_ITERATES = re.compile(r"_?make_\w*iterator|_?(get_)?next|__(iter|next)__|iter")
"""Calls that take batches of a dataset. TensorFlow adds datasets of its own there, on a line that makes
none."""

_Edit = Callable[[str, int, int, int, str], str]
"""Makes the new line from the old one, the positions of a call's name and parentheses in it, and the spelling
of AUTOTUNE in the program's TensorFlow."""


_FUNCTION = re.compile(r"(\S+) \((.+):(\d{1,9})\)")
"""The recorder's form of a function among the arguments of a transformation."""


def function_in(arguments: str) -> CodeLine | None:
    """The first function of the program's own among the arguments of a transformation, a JSON object: its
    first line, and its name without the class or function that contains it."""
    for value in strict_json.members(arguments).values():
        found = _FUNCTION.fullmatch(value) if isinstance(value, str) else None
        if found is not None and not is_framework_or_library(found[2]):
            return CodeLine(found[2], int(found[3]), found[1].rpartition(".")[2])
    return None


def is_iterator(transformation: str) -> bool:
    """Whether the row takes batches of a dataset, and makes none."""
    return _ITERATES.fullmatch(transformation) is not None


@dataclass(frozen=True)
class UserStage:
    """A transformation as the user wrote it: a row of the table user_stage."""

    iterator: int
    position: int
    transformation: str
    dataset: str | None
    file: str | None
    line: int | None
    text: str | None
    arguments: str = "{}"
    """Its small arguments, as a JSON object."""

    @property
    def function(self) -> CodeLine | None:
        """The function of the program's own that it was given, if any."""
        return function_in(self.arguments)


@dataclass(frozen=True)
class Code:
    """A line to change. `after` is None when the change is no edit of this one line."""

    file: str
    line: int
    before: str
    after: str | None


def locate(
    stages: Sequence[PipelineStage], places: Sequence[UserStage]
) -> dict[PipelineStage, list[UserStage]]:
    """The transformations of each stage, where the capture knows them. A transformation qualifies when it is
    the only one of its kind, or of its kind at that position; where several qualify, none is taken. A stage
    that a function makes has the place of the transformation with that function."""
    found: dict[PipelineStage, list[UserStage]] = {}
    numbers: dict[str, list[int]] = {}
    for stage in stages:
        if stage.nested_in is None:
            for kind, number in placed(stage.user_stage):
                numbers.setdefault(kind, []).append(number)
    places = [place for place in places if not is_iterator(place.transformation)]
    for stage in stages:
        if stage.nested_in is not None:
            continue
        if known := list(_known_places(stage, places, numbers)):
            found[stage] = known
    for stage in stages:
        if stage.nested_in in found:
            found[stage] = found[stage.nested_in]
    return found


def _fused_places(word: str, places: Sequence[UserStage]) -> Sequence[UserStage]:
    """The only two transformations that became one stage; none where the program wrote that one."""
    if word not in FUSED or any(place.transformation == word for place in places):
        return ()
    at = {(place.iterator, place.position): place for place in places}
    pairs = [(place, at.get((place.iterator, place.position + 1))) for place in places]
    found = {
        (first.file, first.line, first.position): (first, second)
        for first, second in pairs
        if second is not None and (first.transformation, second.transformation) == FUSED[word]
    }
    return next(iter(found.values())) if len(found) == 1 else ()


def _known_places(
    stage: PipelineStage, places: Sequence[UserStage], numbers: Mapping[str, Sequence[int]]
) -> Iterator[UserStage]:
    """The only transformations that a stage can be. numbers: of all stages by kind, as TensorFlow counts."""
    for word, (kind, number) in zip(stage.written, placed(stage.user_stage), strict=True):
        yield from _fused_places(word, places)
        alike = [place for place in places if _same(place, word, kind)]
        exact = [place for place in alike if place.position == number]
        chosen = _counterparts(alike, numbers[kind], number) or exact or alike
        if len({(place.file, place.line, place.position) for place in chosen}) == 1:
            yield chosen[0]


def _counterparts(alike: Sequence[UserStage], numbers: Sequence[int], number: int) -> list[UserStage]:
    """The transformation of a kind that comes as late in its chain as a stage among the stages of that kind:
    of some transformations TensorFlow makes several datasets, or takes them out, and what follows is counted
    otherwise. None where they are not as many, or of several chains."""
    written = sorted({place.position for place in alike})
    several = len({place.iterator for place in alike}) > 1 or len(set(numbers)) < len(numbers)
    if several or len(written) != len(numbers):
        return []
    return [place for place in alike if place.position == written[sorted(numbers).index(number)]]


def _same(place: UserStage, word: str, kind: str) -> bool:
    plain = re.sub(r"Dataset(V\d+)?$|(V\d+)$", "", place.dataset or "").removeprefix("Parallel")
    return place.transformation == word or plain.lower() == kind.lower().removeprefix("parallel")


def code(
    change: str, place: UserStage | None, places: Sequence[UserStage], autotune: str = AUTOTUNE
) -> Code | None:
    """The line to change for a change of changes.py; None when the capture does not know it. autotune: the
    spelling of AUTOTUNE in the program's TensorFlow."""
    if change == "prefetch" and place is not None:
        place = _last_made(place.iterator, places)
    if place is None or place.file is None or place.line is None or not place.text:
        return None
    edit = _buffer if (change, place.transformation) == ("prefetch", "prefetch") else _EDITS.get(change)
    if len(place.text) >= CUT:
        edit = None
    span = _call(place.text, place.transformation, _earlier_on_line(place, places))
    after = edit(place.text, *span, autotune) if edit is not None and span is not None else None
    if after is not None and (after == place.text or (_is_code(place.text) and not _is_code(after))):
        after = None
    return Code(place.file, place.line, place.text, after)


def _last_made(iterator: int, places: Sequence[UserStage]) -> UserStage | None:
    """The last transformation that the program wrote."""
    same = [stage for stage in places if stage.iterator == iterator]
    made = [stage for stage in same if not is_iterator(stage.transformation)]
    return max(made, key=lambda stage: stage.position, default=None)


def _earlier_on_line(place: UserStage, places: Sequence[UserStage]) -> int:
    """How many transformations of the same name come before it on its line."""
    return sum(
        stage.file == place.file
        and stage.line == place.line
        and stage.transformation == place.transformation
        and stage.position < place.position
        and stage.iterator == place.iterator
        for stage in places
    )


def _is_code(line: str) -> bool:
    """Whether a line is complete by itself; one inside a call is not."""
    try:
        ast.parse(line.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _call(text: str, name: str, which: int) -> tuple[int, int, int] | None:
    """Where the call of a name is in a line: name, opening and closing parenthesis. which: of several calls.
    None when there is none, or it does not end on the line."""
    found = list(re.finditer(rf"\b{re.escape(name)}\s*\(", text))
    if which >= len(found):
        return None
    opened = found[which].end() - 1
    closed = _closing(text, opened)
    return None if closed is None else (found[which].start(), opened, closed)


def _closing(text: str, opened: int) -> int | None:
    depth, quote, at = 0, "", opened
    while at < len(text):
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "\"'":
            quote = char
        elif char == "#":
            return None
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return None


def _autotune(text: str, name: int, opened: int, closed: int, autotune: str) -> str:
    inner = text[opened + 1 : closed]
    arguments = re.sub(r"(num_parallel_calls\s*=\s*)[^,()]+(\([^()]*\))?", rf"\g<1>{autotune}", inner)
    if arguments == inner and "num_parallel_calls" not in inner:
        arguments = f"{inner.rstrip().rstrip(',')}, num_parallel_calls={autotune}"
    return text[: opened + 1] + arguments + text[closed:]


def _interleave(text: str, name: int, opened: int, closed: int, autotune: str) -> str:
    done = _autotune(text, name, opened, closed, autotune)
    return done[:name] + "interleave" + done[opened:] if text.startswith("flat_map", name) else done


def _cache(text: str, name: int, opened: int, closed: int, autotune: str) -> str:
    return f"{text[: closed + 1]}.cache(){text[closed + 1 :]}"


def _prefetch(text: str, name: int, opened: int, closed: int, autotune: str) -> str:
    return f"{text[: closed + 1]}.prefetch({autotune}){text[closed + 1 :]}"


def _buffer(text: str, name: int, opened: int, closed: int, autotune: str) -> str:
    """Another size for an existing prefetch."""
    return f"{text[: opened + 1]}{autotune}{text[closed:]}"


def _listed_once(text: str, name: int, opened: int, closed: int, autotune: str) -> str:
    pattern = text[opened + 1 : closed].partition(",")[0]
    return f"{text[:name]}from_tensor_slices(tf.io.gfile.glob({pattern})){text[closed + 1 :]}"


_EDITS: Mapping[str, _Edit] = {
    "parallelise_map": _autotune,
    "raise_parallelism": _autotune,
    "parallelise_batch": _autotune,
    "parallelise_reading": _interleave,
    "cache_here": _cache,
    "prefetch": _prefetch,
    "list_files_once": _listed_once,
}
