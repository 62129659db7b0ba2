"""A stream runs its kernels one after the other."""

from stepscope import units
from stepscope.instruments.laws.violation import Violation, Violations, Weakens
from stepscope.library.statements import Query, statement

HOLDS = "A kernel is over before the next one of its stream is, unless both belong to one graph of kernels."
TOLERANCE = (
    "A tenth of the kernels: where more of them overlap, the row shows several streams, and the law says "
    "nothing."
)
WEAKENS: tuple[Weakens, ...] = ("busy", "mean")
OF_DEVICES = True
BOUND = "at most"

MOST = 0.1
"""Where more of the kernels of a source overlap, its rows are no streams."""
_LONGEST = 40


def broken(query: Query) -> Violations:
    """Sources with kernels that run into those behind them."""
    for source_id, run_id, host_id, kernels, long, name, dur_ps in query(
        statement("law_one_after_another")
    ).rows():
        if long > max(1, MOST * kernels):
            continue
        called = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
        sentence = (
            f"{long:,} of {units.count(kernels, 'kernel')} {units.agree(long, 'lasts', 'last')} until "
            f"the next of the same stream is over ({called}, {units.show(dur_ps, 'ps')}), which cannot be: "
            f"{units.agree(long, 'its duration is', 'their durations are')} too long, and so are sums "
            "and means of that kind"
        )
        yield Violation(source_id, run_id, host_id, long, kernels, sentence)
