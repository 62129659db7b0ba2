"""The price of lost time: the part of the time that was proved to be lost, of a day."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from stepscope.report.parts import Column, Report, Section, Table

HOURS = 24
_PRICE = re.compile(r"([^\d\s.+-]?)\s?(\d{1,9}(?:\.\d{1,9})?)/h(?:\s?[x*\u00d7]\s?(\d{1,6}))?")
_COLUMNS = (
    Column("what", "text", "What is lost", "and was proved"),
    Column("share", "ratio", "Share", "of the time of the steps"),
    Column("per_day", "float", "A day", "in the price's currency, for steps that run all day"),
)


class Price(NamedTuple):
    """Money for an hour of one machine, and how many there are. sign: of the currency, or empty."""

    sign: str
    per_hour: float
    machines: int

    def daily(self, share: float) -> float:
        """What a part of a day costs."""
        return share * HOURS * self.per_hour * self.machines


def price(text: str) -> Price:
    """What --price takes: 2.10/h or 2.10/hx8; x may be a sign of multiplication. ValueError for others."""
    found = _PRICE.fullmatch(text.strip())
    if found is None or not float(found[2]) or found[3] == "0":
        raise ValueError(f"{text!r} is no price such as 2.10/hx8: money for an hour, times machines")
    return Price(found[1], float(found[2]), int(found[3] or 1))


def section(lost: Sequence[tuple[str, float]], at: Price) -> Section:
    """What is lost, as part of the time, in money."""
    rows = tuple((what, share, at.daily(share)) for what, share in lost)
    machines = f" on {at.machines:,} machines" if at.machines > 1 else ""
    sentence = f"At {at.sign}{at.per_hour:.2f} an hour{machines}, a day costs {at.sign}{at.daily(1.0):,.2f}."
    if not rows:
        sentence += " Nothing was proved to be lost."
    return Section(
        "price",
        "Price",
        "What does lost time cost?",
        (sentence,),
        table=Table.whole(_COLUMNS, rows) if rows else None,
    )


def priced(report: Report, at: Price) -> Report:
    """The report with the price of what limits the steps, where it says how long one takes without that, at
    most where no number is known. Computing is what steps are for: nothing of it is lost."""
    answers = report.document.get("answers", ())
    found = [
        (_what(answer, len(answers) > 1), 1 - left_ps / answer["step_ps"])
        for answer in answers
        if (left_ps := _left_ps(answer)) is not None and answer["step_ps"] and answer["cause"] != "compute"
    ]
    made = section(found, at)
    document = {
        **report.document,
        "price": {
            "per_hour": at.per_hour,
            "machines": at.machines,
            "lost": [{"what": what, "share": share, "per_day": at.daily(share)} for what, share in found],
        },
    }
    sentences = tuple(f"{what} costs {at.sign}{at.daily(share):,.2f} a day." for what, share in found[:1])
    return replace(
        report, headline=(*report.headline, *sentences), sections=(made, *report.sections), document=document
    )


def _left_ps(answer: dict[str, Any]) -> int | None:
    """What remains of a step for certain without its cause, or at most."""
    left_ps: int | None = answer["step_if_removed_ps"]
    return answer["high"] if left_ps is None else left_ps


def _what(host: dict[str, Any], several: bool) -> str:
    where = f" on {host['host']}" if several else ""
    return f"What limits the steps{where} ({host['cause']})"
