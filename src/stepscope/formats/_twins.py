"""One recording in several formats: rules that find the files of a folder which say again what another says.

JAX writes the same capture as vm.xplane.pb, vm.trace.json.gz and perfetto_trace.json.gz; ProfilerHook writes
timeline-15.json beside an event file with the run metadata of step 15.
"""

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from stepscope import protobuf
from stepscope.formats._timeline_origin import holds, nodes
from stepscope.sources.same_capture import Twin
from stepscope.sources.source import Source

XPLANE, TIMELINE, RUN_METADATA, EVENT_FILE = "xplane", "chrome_trace", "run_metadata", "event_file"
_OF_TORCH = "trace_view.json"
_ASCEND = re.compile(r"trace_view\.json|msprof_[0-9_]+\.json")
_ASCEND_PART = re.compile(r"(?:hccl|task_time|step_trace)_([0-9_]+\.json)")
_RECORDS = 200_000
"""Records of an event file that are searched for tags."""
_MOST_LOOKED_AT = 20
"""Files beside a timeline that are searched for its nodes."""


def profile_folder(folder: list[Source]) -> Iterator[Twin]:
    """vm.trace.json and perfetto_trace.json, made from vm.xplane.pb."""
    by_host = {source.name.removesuffix(".xplane.pb"): source for source in folder if source.format == XPLANE}
    traces = [source for source in folder if source.format == TIMELINE and source.name.endswith("trace.json")]
    hosts = [trace for trace in traces if trace.name.endswith(".trace.json")]
    for trace in traces:
        if trace.name == "perfetto_trace.json":
            best = min(by_host.values(), key=lambda source: source.path, default=None) or (
                min(hosts, key=lambda source: source.path, default=None)
            )
        else:
            best = by_host.get(trace.name.removesuffix(".trace.json"))
        if best is not None:
            yield trace, best, "made from" if best.format == XPLANE else "the same recording as"


def timelines(folder: list[Source]) -> Iterator[Twin]:
    """timeline-15.json, made from the run metadata of step 15 in a file or an event file beside it."""
    named = [
        source
        for source in folder
        if source.format == TIMELINE and source.name.lower().startswith("timeline")
    ]
    if not named:
        return
    made_from = _metadata_by_step(folder, sum(source.step is None for source in named))
    for source in named:
        if source.step in made_from:
            yield source, made_from[source.step], "made from the run metadata in"


def _metadata_by_step(folder: Sequence[Source], without_step: int) -> Mapping[int | None, Source]:
    """The run metadata of each step. without_step: timelines whose names have no number."""
    made_from = {source.step: source for source in folder if source.format == RUN_METADATA}
    whole = [source for source in folder if source.format == RUN_METADATA]
    if len(whole) > 1 or without_step > 1:
        made_from.pop(None, None)
    for events in (source for source in folder if source.format == EVENT_FILE):
        for step in tagged_steps(events):
            made_from.setdefault(step, events)
    return made_from


def renamed_timelines(folder: list[Source]) -> Iterator[Twin]:
    """tl_4.json, whatever it is called, when a file beside it holds its nodes at its times."""
    stats = [source for source in folder if source.format == RUN_METADATA]
    stats += [source for source in folder if source.format == EVENT_FILE and tagged_steps(source)]
    if not stats:
        return
    for source in folder:
        if source.format != TIMELINE or not (wanted := nodes(source)):
            continue
        # Those of the number in its name first: in a folder of thousands one look has to do.
        numbers = {int(digits) for digits in re.findall(r"\d{1,15}", source.name)}
        likely = sorted(stats, key=lambda other: (other.step not in numbers, other.format == EVENT_FILE))
        for other in likely[:_MOST_LOOKED_AT]:
            if holds(other, wanted):
                yield source, other, "made from the run metadata in"
                break


def ascend_folder(folder: list[Source]) -> Iterator[Twin]:
    """What Ascend's profilers write of one recording: timelines, databases, tables of kernels. What records
    the framework as well has all that the others have."""
    timelines = [source for source in folder if source.format == TIMELINE and _ASCEND.fullmatch(source.name)]
    databases = [source for source in folder if source.format == "ascend_db"]
    tables = [source for source in folder if source.format == "ascend_csv"]
    of_framework = [source for source in timelines if source.name == _OF_TORCH]
    if of_framework or timelines:
        best, others = (of_framework or timelines)[0], [*databases, *tables]
        others += (source for source in timelines if of_framework and source.name != _OF_TORCH)
    else:
        of_framework = [source for source in databases if source.name.startswith("ascend_")]
        if len(of_framework or databases) != 1:
            return
        best = (of_framework or databases)[0]
        others = [*(source for source in databases if source is not best), *tables]
    yield from ((source, best, "the same recording as") for source in others)


def ascend_parts(folder: list[Source]) -> Iterator[Twin]:
    """task_time_0_2_1.json, a part of what is in msprof_0_2_1.json."""
    whole = {source.name: source for source in folder if source.format == TIMELINE}
    for source in whole.values():
        part = _ASCEND_PART.fullmatch(source.name)
        if part and (best := whole.get(f"msprof_{part[1]}")) is not None:
            yield source, best, "a part of"


def tagged_steps(source: Source) -> set[int]:
    """Numbers of the steps whose run metadata an event file holds, by its tags (step_15).

    Only the framing and the tags are looked at; a damaged file gives the steps before the damage. Packed
    files give none, so their timelines are read as well.
    """
    place = source.spooled or source.bytes
    if place.codec != "plain" or place.unpack:
        return set()
    steps: set[int] = set()
    with Path(place.path).open("rb") as file:
        file.seek(place.offset)
        end = place.offset + (place.length or source.size)
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
    for number, wire, body, _ in protobuf.fields(memoryview(event)):
        if (number, wire) == (8, 2):
            first = next(protobuf.fields(body), None)
            return protobuf.text(first[2]) if first is not None and first[:2] == (1, 2) else None
    return None
