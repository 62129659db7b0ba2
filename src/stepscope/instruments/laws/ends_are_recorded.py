"""Slices lie where something was done: they end because it was over, not because the file was closed."""

from stepscope import units
from stepscope.instruments.laws.violation import Violation, Violations, Weakens
from stepscope.instruments.recorded_stretch import HOUR_PS
from stepscope.library.statements import Query, statement

HOLDS = (
    "A slice ends when what it stands for is over. Slices that end hours after anything began were open when "
    "the file was closed, or their durations were counted wrongly. Few that lie hours before or behind all "
    "others have a time that was never set, or of another clock."
)
TOLERANCE = "An hour, and nine tenths of the recording."
WEAKENS: tuple[Weakens, ...] = ("left", "mean")


def broken(query: Query) -> Violations:
    """Sources with slices that end long after the time that is judged."""
    rows = query(statement("law_ends_are_recorded", hour_ps=HOUR_PS)).rows()
    for source_id, run_id, host_id, strays, away_ps, open_slices, later_ps, slices in rows:
        if open_slices:
            number, later = units.count(open_slices, "slice"), units.show(later_ps, "ps")
            verb = "ends" if open_slices == 1 else "end"
            sentence = (
                f"{number} {verb} up to {later} after anything began: open when the file was closed, "
                "or of wrong durations; only the time before is judged"
            )
            yield Violation(source_id, run_id, host_id, open_slices, slices, sentence)
        if strays:
            number, away = units.count(strays, "slice"), units.show(away_ps, "ps")
            verb = "lies" if strays == 1 else "lie"
            sentence = (
                f"{number} {verb} up to {away} away from all others: a time never set, or of another "
                "clock; only the time of the others is judged"
            )
            yield Violation(source_id, run_id, host_id, strays, slices, sentence)
