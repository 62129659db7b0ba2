"""Made-up jobs whose truth is known: ranks that meet in collectives, each with a clock of its own."""

import random
from dataclasses import dataclass, field

from stepscope.instruments.ranks.kinds import CollectiveFacts
from stepscope.instruments.ranks.parts import CollectivePart, Rank

US = 1_000_000
MS = 1000 * US
SECOND = 1000 * MS


@dataclass
class Job:
    """A job's parts as recordings would have them, and the truth: starts by a clock that all share."""

    parts: list[CollectivePart] = field(default_factory=list)
    ranks: dict[int, Rank] = field(default_factory=dict)
    begins: dict[int, int] = field(default_factory=dict)
    """True start by slice_id."""
    clocks: dict[int, tuple[float, int]] = field(default_factory=dict)
    """Rate and offset of each source."""

    def local(self, source_id: int, ps: int) -> int:
        """A true time by the clock of a source."""
        rate, offset = self.clocks[source_id]
        return round(ps * rate) + offset


def job(
    seed: int,
    ranks: int = 8,
    collectives: int = 160,
    drift_ppm: float = 20.0,
    late: int | None = None,
    late_us: float = 20.0,
    spread_us: float = 15.0,
    jitter_us: float = 1.5,
    numbered: bool = True,
    run_id: str = "run",
    first_source: int = 0,
) -> Job:
    """Ranks that compute for 2 ms, each a bit differently, and then all-reduce for 80 µs, again and again.

    drift_ppm: the most by which a clock is too fast or slow. late: a rank that takes late_us longer.
    spread_us: standard deviation of the time to compute. jitter_us: of the ends, which are nearly the same.
    """
    draw = random.Random(seed)
    made = Job()
    for rank in range(ranks):
        source = first_source + rank
        rate = 1 + draw.uniform(-drift_ppm, drift_ppm) * 1e-6
        made.clocks[source] = rate, round(draw.uniform(-0.5, 0.5) * SECOND)
        made.ranks[source] = Rank(f"rank-{rank}.json", rank, None)
    end = [0] * ranks
    for number in range(collectives):
        takes = [2 * MS + draw.gauss(0, spread_us) * US for _ in range(ranks)]
        if late is not None:
            takes[late] += late_us * US
        begin = [round(end[rank] + takes[rank]) for rank in range(ranks)]
        done = max(begin) + 80 * US
        end = [round(done + abs(draw.gauss(0, jitter_us)) * US) for _ in range(ranks)]
        for rank in range(ranks):
            source = first_source + rank
            slice_id = source * 1_000_000 + number
            made.begins[slice_id] = begin[rank]
            told = CollectiveFacts(
                "all_reduce", "0 [0, 1]", ranks, number if numbered else None, "Float", 1000, 1000
            )
            made.parts.append(
                CollectivePart(
                    run_id,
                    f"rank-{rank}",
                    source,
                    slice_id,
                    source,
                    "GPU 0",
                    f"rank-{rank}",
                    rank,
                    number // 4,
                    True,
                    told,
                    made.local(source, begin[rank]),
                    made.local(source, end[rank]),
                )
            )
    made.parts.sort(key=lambda part: (part.source_id, part.begin_ps))
    return made
