"""What a trace shows of each stage: its calls, and when its function ran."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stepscope.instruments.intervals import Interval, difference, union
from stepscope.instruments.pipeline.calls import EXECUTE, StageCall
from stepscope.instruments.pipeline.stages import PipelineStage


@dataclass
class StageActivity:
    """A stage in the trace, call by call. Intervals are in picoseconds."""

    own: list[Interval] = field(default_factory=list)
    """Its calls without those of its inputs."""
    called: list[Interval] = field(default_factory=list)
    """Calls of its function, until they returned."""
    ran: list[Interval] = field(default_factory=list)
    """Pieces of its function that executors ran."""
    pieces: defaultdict[str | None, list[Interval]] = field(default_factory=lambda: defaultdict(list))
    """The same pieces, by call of the function."""
    threads: set[int] = field(default_factory=set)
    between_ps: int = 0
    """Time that executors spent between kernels."""
    asked: list[Interval] = field(default_factory=list)
    """For a stage that works ahead: its calls, in which its consumer waits."""
    fetching: list[Interval] = field(default_factory=list)
    """For a stage that works ahead: when its threads took from its input."""
    single_ops: bool = False
    """What ran of its function are ops, without the executors that ran them."""
    python: bool = False

    def between_ops(self) -> list[Interval]:
        """When it was waited for, and neither its input nor an op of its function was at work."""
        if not self.single_ops:
            return []
        return difference(union(self.asked), union([*self.fetching, *self.ran]))

    def add(self, call: StageCall, ahead: bool) -> None:
        """Adds a call. ahead: the stage works ahead."""
        whole = (call.ts_ps, call.end_ps)
        if call.kind == "next":
            self.own += () if ahead else call.own
            self.asked += [whole] if ahead else ()
            self.threads.add(-1 if call.is_lane else call.track_id)
        elif call.kind in ("ahead", "make"):
            self.own += call.own
            self.fetching += [whole] if call.kind == "ahead" else ()
        elif call.kind == "function":
            self.called += call.own
        elif call.kind == "execute":
            self.ran.append(whole)
            self.pieces[call.iterator].append(whole)
            self.single_ops = self.single_ops or call.name != EXECUTE
            self.between_ps += min(call.self_ps or 0, call.end_ps - call.ts_ps)
            self.threads.add(call.track_id)
        elif call.kind == "python":
            self.python = True


def activities(
    calls: Sequence[StageCall], stages: Sequence[PipelineStage], of: dict[str, PipelineStage]
) -> dict[PipelineStage, StageActivity]:
    """The activity of each stage."""
    seen = {stage: StageActivity() for stage in stages}
    for call in calls:
        stage = of.get(call.stage or "")
        # The function of a device's Generator takes what the host's pipeline makes, and waits for it: its
        # only work is handover, which is unknown where calls do not tell what is inside them.
        hands_over = call.kind == "next" and not call.is_unnumbered
        if stage is not None and (stage.fed_by is None or hands_over):
            seen[stage].add(call, stage.ahead)
        if call.is_unnumbered and (taking := of.get(call.consumer or "")) is not None:
            seen[taking].fetching.append((call.ts_ps, call.end_ps))
    return seen


def working(pieces: Mapping[str | None, Sequence[Interval]], full: Sequence[Interval]) -> list[Interval]:
    """When a function worked: from the first piece of each call to the last. In between it hands over from
    piece to piece; while no thread is free for that, it waits."""
    found: list[Interval] = []
    for some in pieces.values():
        if len(some) == 1:
            found += some
        else:
            span = (min(begin for begin, _ in some), max(end for _, end in some))
            found += union([*some, *difference([span], full)])
    return found


def spans(pieces: Mapping[str | None, Sequence[Interval]]) -> list[Interval]:
    """Each call of a function from its first piece to its last."""
    return [(min(begin for begin, _ in some), max(end for _, end in some)) for some in pieces.values()]
