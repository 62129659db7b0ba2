"""One recording written several times is read once.

JAX writes the same capture as vm.xplane.pb, vm.trace.json.gz and perfetto_trace.json.gz; ProfilerHook
writes timeline-15.json beside an event file with the run metadata of step 15; people keep x.json beside
x.json.gz. Reading all of them would count every event two or three times, so only the richest is read. Only
files in the same folder are compared, and a file that the user names is always read.
"""

from __future__ import annotations

import re
import struct
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from stepscope.sources.source import Skipped, Source

_RECORDS = 200_000
"""Records of an event file that are searched for tags."""

_MOST_LOOKED_AT = 20
"""Files beside a timeline that are searched for its nodes."""

Twin = tuple[Source, Source, str]
"""The one not read, the one read instead, and why."""


def choose(folder: list[Source], explicit: frozenset[str]) -> tuple[list[Source], list[Skipped]]:
    """The sources of one folder to read, each with a note about the files it replaces, and those left out."""
    kept = list(folder)
    skipped: list[Skipped] = []
    for rule in _RULES:
        # The winner's path, because notes make new objects of the sources.
        losers: dict[str, tuple[str, str]] = {}
        for loser, winner, why in rule(kept):
            if loser.path not in explicit:
                losers.setdefault(loser.path, (winner.path, why))
        stood_for: dict[str, list[str]] = defaultdict(list)
        for path, (winner_path, why) in losers.items():
            skipped.append(Skipped(path, "same-capture", f"{why} {PurePosixPath(winner_path).name}"))
            stood_for[winner_path].append(PurePosixPath(path).name)
        kept = [_noted(one, stood_for.get(one.path)) for one in kept if one.path not in losers]
    return kept, skipped


def _noted(source: Source, others: list[str] | None) -> Source:
    if not others:
        return source
    more = f" and {len(others) - 3} more" if len(others) > 3 else ""
    detail = f"{', '.join(sorted(others)[:3])}{more}: the same recording, not read again"
    return source._replace(notes=(*source.notes, ("same-capture", detail)))


def _packed_twins(folder: list[Source]) -> Iterator[Twin]:
    """x.json.gz beside x.json."""
    plain = {(one.name, one.decoder): one for one in folder if _is_plain(one)}
    for one in folder:
        twin = plain.get((one.name, one.decoder))
        if twin is not None and not _is_plain(one):
            yield one, twin, "packed copy of"


def _is_plain(source: Source) -> bool:
    return source.name == PurePosixPath(source.path.rsplit("!", 1)[-1]).name


def _text_twins(folder: list[Source]) -> Iterator[Twin]:
    """run_meta_0005.pbtxt beside run_meta_0005.pb."""
    binary = {(_stem(one), one.format): one for one in folder if not _is_text(one)}
    for one in folder:
        twin = binary.get((_stem(one), one.format))
        if twin is not None and _is_text(one):
            yield one, twin, "text form of"


def _stem(source: Source) -> str:
    return PurePosixPath(source.name).stem


def _is_text(source: Source) -> bool:
    return source.name.endswith((".pbtxt", ".prototxt"))


def _profile_folder(folder: list[Source]) -> Iterator[Twin]:
    """vm.trace.json and perfetto_trace.json, made from vm.xplane.pb."""
    by_host = {one.name.removesuffix(".xplane.pb"): one for one in folder if one.decoder == "xplane"}
    traces = [one for one in folder if one.decoder == "chrome_trace" and one.name.endswith("trace.json")]
    hosts = [one for one in traces if one.name.endswith(".trace.json")]
    for one in traces:
        if one.name == "perfetto_trace.json":
            best = min(by_host.values(), key=lambda source: source.path, default=None) or (
                min(hosts, key=lambda source: source.path, default=None)
            )
        else:
            best = by_host.get(one.name.removesuffix(".trace.json"))
        if best is not None:
            yield one, best, "made from" if best.decoder == "xplane" else "the same recording as"


def _session_runs(folder: list[Source]) -> Iterator[Twin]:
    """Runs of sessions that are in several files, whatever these are called."""
    from stepscope.sources.session_runs import twins

    yield from twins(folder)


def _timelines(folder: list[Source]) -> Iterator[Twin]:
    """timeline-15.json, made from the run metadata of step 15 in a file or an event file beside it."""
    timelines = [
        one for one in folder if one.decoder == "chrome_trace" and one.name.lower().startswith("timeline")
    ]
    if not timelines:
        return
    made_from = {one.step: one for one in folder if one.decoder.startswith("run_metadata")}
    whole = [one for one in folder if one.decoder.startswith("run_metadata")]
    if len(whole) > 1 or len([one for one in timelines if one.step is None]) > 1:
        made_from.pop(None, None)
    for events in (one for one in folder if one.decoder == "event_file"):
        for step in tagged_steps(events):
            made_from.setdefault(step, events)
    for one in timelines:
        if one.step in made_from:
            yield one, made_from[one.step], "made from the run metadata in"


def _renamed_timelines(folder: list[Source]) -> Iterator[Twin]:
    """tl_4.json, whatever it is called, when a file beside it holds its nodes at its times."""
    from stepscope.sources.made_from import holds, nodes

    stats = [one for one in folder if one.decoder.startswith("run_metadata")]
    stats += [one for one in folder if one.decoder == "event_file" and tagged_steps(one)]
    if not stats:
        return
    for one in folder:
        if one.decoder != "chrome_trace" or not (wanted := nodes(one)):
            continue
        # Those of the number in its name first: in a folder of thousands one look has to do.
        numbers = {int(digits) for digits in re.findall(r"\d{1,15}", one.name)}
        likely = sorted(stats, key=lambda other: (other.step not in numbers, other.decoder == "event_file"))
        for other in likely[:_MOST_LOOKED_AT]:
            if holds(other, wanted):
                yield one, other, "made from the run metadata in"
                break


_RULES: tuple[Callable[[list[Source]], Iterator[Twin]], ...] = (
    _packed_twins,
    _text_twins,
    _profile_folder,
    _session_runs,
    _timelines,
    _renamed_timelines,
)


def tagged_steps(source: Source) -> set[int]:
    """Numbers of the steps whose run metadata an event file holds, by its tags (step_15).

    Only the framing and the tags are looked at; a damaged file gives the steps before the damage. Packed
    files and members of archives give none, so their timelines are read as well.
    """
    if source.bytes.codec != "plain" or source.bytes.unpack:
        return set()
    steps: set[int] = set()
    with Path(source.bytes.path).open("rb") as file:
        file.seek(source.bytes.offset)
        end = source.bytes.offset + (source.bytes.length or source.size)
        for _ in range(_RECORDS):
            header = file.read(12)
            if len(header) < 12:
                break
            (length,) = struct.unpack_from("<Q", header)
            at = file.tell()
            if at + length > end:
                break
            tag = _run_metadata_tag(file.read(min(length, 256)))
            if tag is not None and (match := re.search(r"(\d+)$", tag)):
                steps.add(int(match[1]))
            file.seek(at + length + 4)
    return steps


def _run_metadata_tag(event: bytes) -> str | None:
    """The tag of an Event's tagged_run_metadata (field 8); None when it is another event."""
    at = 0
    while at < len(event):
        key, at = _varint(event, at)
        field, wire = key >> 3, key & 7
        if wire == 1:
            at += 8
        elif wire == 0:
            _, at = _varint(event, at)
        elif wire == 2:
            size, at = _varint(event, at)
            if field == 8:
                inner, start = _varint(event, at)
                length, start = _varint(event, start)
                return event[start : start + length].decode("utf-8", "replace") if inner == 10 else None
            at += size
        else:
            return None
    return None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return value, at
