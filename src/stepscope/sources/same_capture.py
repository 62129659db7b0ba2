"""One recording written several times is read once.

People keep x.json beside x.json.gz, and profilers write one capture in several formats, which formats know
(see stepscope.formats). Reading all of them would count every event two or three times, so only the richest
is read. Only files in the same folder are compared, unless their content alone proves that they are the same,
and a file that the user names is always read.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath

from stepscope.sources.source import Skipped, Source

Twin = tuple[Source, Source, str]
"""The one not read, the one read instead, and why."""
Rule = Callable[[list[Source]], Iterator[Twin]]
"""Finds twins among the sources of one folder, or of all."""


def choose(
    sources: list[Source], explicit: frozenset[str], rules: Sequence[Rule]
) -> tuple[list[Source], list[Skipped]]:
    """The sources to read, each with a note about the files it replaces, and those left out."""
    kept = list(sources)
    skipped: list[Skipped] = []
    for rule in rules:
        # The winner's path, because notes make new objects of the sources.
        losers: dict[str, tuple[str, str]] = {}
        for loser, winner, why in rule(kept):
            if loser.path not in explicit:
                losers.setdefault(loser.path, (winner.path, why))
        stood_for: dict[str, list[str]] = defaultdict(list)
        for path, (winner_path, why) in losers.items():
            skipped.append(Skipped(path, "same-capture", f"{why} {PurePosixPath(winner_path).name}"))
            stood_for[winner_path].append(PurePosixPath(path).name)
        kept = [_noted(source, stood_for.get(source.path)) for source in kept if source.path not in losers]
    return kept, skipped


def _noted(source: Source, others: list[str] | None) -> Source:
    if not others:
        return source
    more = f" and {len(others) - 3} more" if len(others) > 3 else ""
    detail = f"{', '.join(sorted(others)[:3])}{more}: the same recording, not read again"
    return source._replace(notes=(*source.notes, ("same-capture", detail)))


def _packed_twins(folder: list[Source]) -> Iterator[Twin]:
    """x.json.gz beside x.json."""
    plain = {(source.name, source.format): source for source in folder if _is_plain(source)}
    for source in folder:
        twin = plain.get((source.name, source.format))
        if twin is not None and not _is_plain(source):
            yield source, twin, "packed copy of"


def _is_plain(source: Source) -> bool:
    return source.name == PurePosixPath(source.path.rsplit("!", 1)[-1]).name


def _text_twins(folder: list[Source]) -> Iterator[Twin]:
    """run_meta_0005.pbtxt beside run_meta_0005.pb."""
    binary = {(_stem(source), source.format): source for source in folder if not _is_text(source)}
    for source in folder:
        twin = binary.get((_stem(source), source.format))
        if twin is not None and _is_text(source):
            yield source, twin, "text form of"


def _stem(source: Source) -> str:
    return PurePosixPath(source.name).stem


def _is_text(source: Source) -> bool:
    return source.name.endswith((".pbtxt", ".prototxt"))


OF_A_FOLDER: tuple[Rule, ...] = (_packed_twins, _text_twins)
"""Rules for files of any format, by their names."""
