"""What sentences about several causes say of one: its line, its ops, its calls, and what other threads do."""

from stepscope import units
from stepscope.instruments.causes.judgement import Judgement
from stepscope.report.names import place_of, shortened, unit_of


def recordings(judgement: Judgement) -> int:
    """How many recordings without steps a figure is of, each as if it were a step: theirs is their sum."""
    return judgement.steps if judgement.whole_capture else 1


def line_clause(judgement: Judgement) -> str:
    """The line that a cause lies in."""
    return f", in {place_of(judgement.place)}" if judgement.place else ""


def code_line(judgement: Judgement) -> str:
    """The line that a cause lies in, or what the program calls that part of its steps."""
    if judgement.place is None:
        return "" if judgement.mark is None else f", within `{shortened(judgement.mark)}`"
    if judgement.spent_in is not None:
        # The line to look at comes first, and then the one of the loop that calls it.
        return f", in {place_of(judgement.spent_in)}, called in {place_of(judgement.place)}"
    return line_clause(judgement)


def made_in(judgement: Judgement) -> str:
    """The line that made the op that takes most, with the part of it that it made."""
    if judgement.place is None:
        return ""
    part = "" if judgement.made_share is None else f"{units.show(judgement.made_share, 'ratio')} of that "
    return f", {part}made in {place_of(judgement.place)}"


def calls(judgement: Judgement, of_others: str = "") -> str:
    """The calls that launch, in all or in a step. of_others: whose they are where they run no session."""
    whose = " of Session.run" if judgement.of_session else of_others
    each = "in all" if judgement.whole_capture else f"a {unit_of(judgement)}"
    return f"{units.count(recordings(judgement) * (judgement.calls or 0), 'call')}{whose} {each}"


def small_ops(judgement: Judgement, number: int, each_ps: int) -> str:
    """How many ops a step has, and how long each takes."""
    what = units.count(recordings(judgement) * number, "op" if judgement.of_ops else "slice")
    in_all = "" if judgement.whole_capture else f" a {unit_of(judgement)}"
    return f"{what}{in_all} of {units.show(each_ps, 'ps')} each"


def others_meanwhile(judgement: Judgement) -> str:
    """What another thread runs then: Python beside Python waits for the interpreter's lock."""
    if judgement.meanwhile is None:
        return ""
    if judgement.meanwhile_waits:
        return f"; another thread waits in {place_of(judgement.meanwhile)} then, and may hold the lock"
    runs = f"; another thread runs {place_of(judgement.meanwhile)} then"
    return runs if judgement.cause == "wait" else f"{runs}, and only one can run Python at a time"
